"""Keeps the read model up to date: a thread that reads the topics it is made of, and another one
for the past of a day: nobody has to wait for the past to be told of the present.

Catching up, only the newest record per key is parsed, and of status changes and attempts to tell of
them as many as the history keeps. When the home cluster goes away the model stays as it is and
`state` says what is wrong; reading goes on by itself when it is back.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from heapq import heappush, heappushpop
from typing import Protocol

import structlog
from confluent_kafka import Message
from warren.clock import Clock
from warren.contracts.group_key import split_group_key
from warren.contracts.status_change import EVENT_TYPES
from warren.contracts.topics import (
    ACKNOWLEDGEMENTS,
    CLUSTERS,
    DAY_MS,
    FRESHNESS,
    GROUPS,
    INCIDENTS,
    LAG,
    LAG_STATUS,
    NOTIFICATIONS,
    NOTIFIER_STATE,
    SILENCES,
    TOPICS,
    TRENDS,
)
from warren.errors import ContractViolation, KafkaError, SettingsError
from warren.kafka.connection import log_retry
from warren.kafka.topic_reader import TopicReader
from warren.metrics import api as metrics
from warren.settings import HomeSettings
from warren.standstill import Turns

from warren_api.home.cluster import HomeCluster, HomeThread
from warren_api.model.cluster import FeedState
from warren_api.model.group_views import GroupName
from warren_api.model.past import Past
from warren_api.model.read_model import ReadModel

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.25  # also how late an event may be shown
QUIET_SECONDS = 5.0  # without a record for so long, ask the home cluster whether it is there
RETRY_SECONDS = 2.0

_Subject = tuple[str, bytes, str]  # topic, key, type of a status change


class Reader(Protocol):
    """What the feed needs of a TopicReader."""

    @property
    def caught_up(self) -> bool: ...
    def poll(self, timeout: float) -> list[Message]: ...
    def close(self) -> None: ...


class Feed(HomeThread):
    """The thread and its state. `on_fatal` is called with what reading cannot go on after."""

    def __init__(
        self,
        home: HomeSettings,
        model: ReadModel,
        clock: Clock,
        on_fatal: Callable[[Exception], None],
    ) -> None:
        super().__init__("feed")
        self._home = home
        self._model = model
        prefix = home.topic_prefix
        self._lag, self._changed = LAG.full_name(prefix), LAG_STATUS.full_name(prefix)
        self._freshness, self._members = FRESHNESS.full_name(prefix), GROUPS.full_name(prefix)
        self._told = NOTIFICATIONS.full_name(prefix)
        self._incidents = INCIDENTS.full_name(prefix)
        self._appliers = {
            topic.full_name(prefix): apply
            for topic, apply in (
                (LAG, model.apply),
                (LAG_STATUS, model.apply_status_change),
                (INCIDENTS, model.apply_incident),
                (FRESHNESS, model.apply_freshness),
                (CLUSTERS, model.apply_cluster),
                (GROUPS, model.apply_members),
                (TOPICS, model.apply_topics),
                (SILENCES, model.silences.apply),
                (ACKNOWLEDGEMENTS, model.silences.apply_acknowledgement),
                (NOTIFIER_STATE, model.notifications.apply_state),
            )
        }
        for topic in self._appliers:  # from 0 on: alerts see the first one
            metrics.API_EVENTS_REFUSED.labels(topic)
        self._clock = clock
        self._on_fatal = on_fatal
        self.state = FeedState(ready=False, problem=None)
        self.turns = Turns()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self.turns.begin()
                    self._connect_and_follow()
                except KafkaError as error:
                    log_retry(error)
                    self._note(error)
                    self.turns.end()
                    self._stop.wait(RETRY_SECONDS)
        except Exception as error:  # noqa: BLE001  # whatever it is, the process ends with it
            self._on_fatal(error)

    def _connect_and_follow(self) -> None:
        cluster = HomeCluster.connected(self._home)
        cluster.create_topics()
        with closing(TopicReader(self._home, [*self._appliers, self._told])) as reader:
            self.catch_up(reader)
            self.follow(reader, cluster)

    def catch_up(self, reader: Reader) -> None:
        """Reads to the end and makes the model what the topics say, no more and no less."""
        newest: dict[_Subject, Message] = {}
        changes = NewestChanges(self._model.history.limit)
        incidents = NewestChanges(self._model.history.limit)
        attempts = NewestChanges(self._model.notifications.limit)
        while not reader.caught_up and not self._stop.is_set():
            self.turns.begin()
            records = reader.poll(POLL_SECONDS)
            newest |= self._newest_per_key(records, self._told)
            changes.add(_of(self._changed, records))
            incidents.add(_of(self._incidents, records))
            attempts.add(_of(self._told, records))
        if self._stop.is_set():
            return
        self._model.notifications.begin_again()
        self._apply(incidents.in_order())
        self._apply(newest.values())
        self._model.keep_only(
            judged=self._live(self._lag, newest.values()),
            measured=self._live(self._freshness, newest.values()),
            described=self._live(self._members, newest.values()),
            in_trouble=self._live(self._incidents, newest.values()),
        )
        prefix = self._home.topic_prefix
        self._model.silences.keep_only(
            *(
                {key.decode(errors="replace") for key in _kept(name, newest.values())}
                for name in (SILENCES.full_name(prefix), ACKNOWLEDGEMENTS.full_name(prefix))
            )
        )
        self._model.history.begin_again(changes.newest_offsets)
        self._remember(changes.in_order())
        self._take(attempts.in_order())
        self.state = replace(self.state, ready=True, problem=None)
        size = self._model.size()
        log.info("read model complete", groups=size.groups, partitions=size.partitions)

    def follow(self, reader: Reader, cluster: HomeCluster) -> None:
        """Applies what comes, until told to stop."""
        heard_at = self._clock.monotonic()
        while not self._stop.is_set():
            self.turns.begin()
            records = reader.poll(POLL_SECONDS)
            self._apply(_of(self._incidents, records))
            left_out = (self._told, self._incidents)
            self._apply(self._newest_per_key(records, *left_out).values())
            self._remember(_of(self._changed, records))
            self._take(_of(self._told, records))
            now = self._clock.monotonic()
            if records:
                heard_at = now
                self._report(None)
            elif now - heard_at >= QUIET_SECONDS:
                heard_at = now
                self._report(cluster.problem())

    def _newest_per_key(
        self, records: Iterable[Message], *left_out: str
    ) -> dict[_Subject, Message]:
        return {
            (record.topic() or "", record.key() or b"", self._kind(record)): record
            for record in records
            if record.topic() not in left_out
        }

    def _kind(self, record: Message) -> str:
        """Of a status change: one of another kind does not hide the newest of this one."""
        if record.topic() != self._changed:
            return ""
        value = record.value() or b""
        return next((kind for kind in EVENT_TYPES if kind.encode() in value), "")

    def _take(self, attempts: Iterable[Message]) -> None:
        """Adds attempts; what is none is counted and left out."""
        for record in attempts:
            at = record.partition() or 0, record.offset() or 0, record.value(), record.key()
            self._apply_one(record, partial(self._model.notifications.take, *at))

    def _remember(self, changes: Iterable[Message]) -> None:
        """Adds status changes to the history; what is no such event is left out."""
        for record in changes:
            value, partition, offset = record.value(), record.partition(), record.offset()
            if value is None or partition is None or offset is None:
                continue
            with suppress(ContractViolation):  # counted and logged when it was applied
                self._model.history.take(partition, offset, value, record.key())

    def _apply(self, records: Iterable[Message]) -> None:
        for record in records:
            apply = self._appliers[record.topic() or ""]
            self._apply_one(record, partial(apply, record.key(), record.value()))

    def _apply_one(self, record: Message, apply: Callable[[], None]) -> None:
        self.turns.begin()  # at the start there may be a great many
        try:
            apply()
            metrics.API_EVENTS_APPLIED.labels(record.topic() or "").inc()
        except ContractViolation as violation:
            refuse(record, violation)

    def _live(self, topic: str, records: Iterable[Message]) -> set[GroupName]:
        """Groups whose newest record on the topic is no tombstone."""
        live: set[GroupName] = set()
        for key in _kept(topic, records):
            with suppress(ContractViolation):  # counted and logged when it was applied
                live.add(split_group_key(key))
        return live

    def _note(self, error: Exception | None) -> bool:
        """Makes a problem, or its end, visible to readers; says whether that is news."""
        problem = None if error is None else str(error)
        news = problem != self.state.problem
        self.state = replace(self.state, problem=problem)
        return news

    def _report(self, error: Exception | None) -> None:
        if self._note(error):
            if error is None:
                log.info("home cluster is back")
            else:
                log.warning("home cluster lost, serving what is known", problem=str(error))


def refuse(record: Message, violation: ContractViolation) -> None:
    """Counts and logs a record that is none of its topic's events."""
    topic = record.topic() or ""
    metrics.API_EVENTS_REFUSED.labels(topic).inc()
    log.warning(
        "event refused",
        topic=topic,
        partition=record.partition(),
        offset=record.offset(),
        reason=violation.reason,
    )


def _kept(topic: str, records: Iterable[Message]) -> Iterator[bytes]:
    """Keys whose newest record on the topic is no tombstone."""
    return (record.key() or b"" for record in _of(topic, records) if record.value() is not None)


def _of(topic: str, records: Iterable[Message]) -> list[Message]:
    return [record for record in records if record.topic() == topic]


class NewestChanges:
    """The newest records of a topic that is read from its beginning, partition after partition; at
    most `limit`. Partitions come in any order.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[tuple[int, int, int, Message]] = []
        self._latest: dict[int, int] = {}
        self.newest_offsets: dict[int, int] = {}

    def add(self, records: Iterable[Message]) -> None:
        """Records of one partition come in their order: where a clock goes back they stay in it."""
        for record in records:
            partition, offset = record.partition() or 0, record.offset() or 0
            at = max(record.timestamp()[1], self._latest.get(partition, 0))
            self._latest[partition], self.newest_offsets[partition] = at, offset
            push = heappush if len(self._kept) < self._limit else heappushpop
            push(self._kept, (at, partition, offset, record))

    def in_order(self) -> Sequence[Message]:
        """The newest, oldest first; those of a partition in its order."""
        return [record for *_, record in sorted(self._kept, key=lambda kept: kept[:3])]


PAST_POLL_SECONDS = 0.5
PAST_RETRY_SECONDS = 5.0
TIDY_SECONDS = 3600.0


class PastFeed(HomeThread):
    """The thread."""

    def __init__(self, home: HomeSettings, past: Past, clock: Clock) -> None:
        super().__init__("past")
        self._home = home
        self._past = past
        self._clock = clock
        self._topic = TRENDS.full_name(home.topic_prefix)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except SettingsError:
                return  # the feed of the present says it, and ends the service
            except KafkaError as error:
                log_retry(error)
                self._stop.wait(PAST_RETRY_SECONDS)
            except Exception:  # the past never ends what tells of the present
                log.exception("the past cannot be read, beginning again")
                self._stop.wait(PAST_RETRY_SECONDS)

    def _follow(self) -> None:
        since = self._clock.now_ms() - DAY_MS
        with closing(TopicReader(self._home, [self._topic], since=since)) as reader:
            self._past.begin_again()
            tidied_at = self._clock.monotonic()
            while not self._stop.is_set():
                for record in reader.poll(PAST_POLL_SECONDS):
                    try:
                        self._past.apply(record.key(), record.value())
                        metrics.API_EVENTS_APPLIED.labels(self._topic).inc()
                    except ContractViolation as violation:
                        refuse(record, violation)
                if self._clock.monotonic() - tidied_at >= TIDY_SECONDS:
                    tidied_at = self._clock.monotonic()
                    self._past.forget_before(self._clock.now_ms() - DAY_MS)
