"""Keeps the read model up to date: one thread that reads the topics it is made of.

Catching up, only the newest record per key is parsed, and of status changes and attempts to tell of
them as many as the history keeps. When the home cluster goes away the model
stays as it is and `state` says what is wrong; reading goes on by itself when it is back.
`warren.freshness`, `warren.groups`, `warren.topics`, `warren.clusters`, `warren.silences`,
`warren.acknowledgements`, `warren.notifications` and `warren.notifier-state` may be missing: an
older installation does without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

import structlog
from confluent_kafka import Message
from warren.clock import Clock
from warren.contracts.group_key import split_group_key
from warren.contracts.status_change import EVENT_TYPES
from warren.contracts.topics import (
    ACKNOWLEDGEMENTS,
    CLUSTERS,
    FRESHNESS,
    GROUPS,
    LAG,
    LAG_STATUS,
    NOTIFICATIONS,
    NOTIFIER_STATE,
    SILENCES,
    TOPICS,
)
from warren.errors import ContractViolation, KafkaError
from warren.kafka.connection import log_retry
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.metrics import api as metrics
from warren.settings import HomeSettings
from warren.standstill import Turns

from warren_api.home.cluster import HomeCluster
from warren_api.home.newest_changes import NewestChanges
from warren_api.model.cluster import FeedState
from warren_api.model.group_views import GroupName
from warren_api.model.read_model import ReadModel

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.25  # also how late an event may be shown
QUIET_SECONDS = 5.0  # without a record for so long, ask the home cluster whether it is there
RETRY_SECONDS = 2.0
LOOK_AGAIN_SECONDS = 30.0  # for topics that could not be read

_Subject = tuple[str, bytes, str]  # topic, key, type of a status change


class Reader(Protocol):
    """What the feed needs of a TopicReader."""

    @property
    def caught_up(self) -> bool: ...
    def poll(self, timeout: float) -> list[Message]: ...
    def close(self) -> None: ...


class Feed:
    """The thread and its state. `on_fatal` is called with what reading cannot go on after."""

    def __init__(
        self,
        home: HomeSettings,
        model: ReadModel,
        clock: Clock,
        on_fatal: Callable[[Exception], None],
    ) -> None:
        self._home = home
        self._model = model
        self._lag_topic = LAG.full_name(home.topic_prefix)
        self._status_topic = LAG_STATUS.full_name(home.topic_prefix)
        self._freshness_topic = FRESHNESS.full_name(home.topic_prefix)
        self._clusters_topic = CLUSTERS.full_name(home.topic_prefix)
        self._members_topic = GROUPS.full_name(home.topic_prefix)
        self._topics_topic = TOPICS.full_name(home.topic_prefix)
        self._silences_topic = SILENCES.full_name(home.topic_prefix)
        self._acknowledgements_topic = ACKNOWLEDGEMENTS.full_name(home.topic_prefix)
        self._notifications_topic = NOTIFICATIONS.full_name(home.topic_prefix)
        self._states_topic = NOTIFIER_STATE.full_name(home.topic_prefix)
        self._appliers = {
            self._lag_topic: model.apply,
            self._status_topic: model.apply_status_change,
            self._freshness_topic: model.apply_freshness,
            self._clusters_topic: model.apply_cluster,
            self._members_topic: model.apply_members,
            self._topics_topic: model.apply_topics,
            self._silences_topic: model.silences.apply,
            self._acknowledgements_topic: model.silences.apply_acknowledgement,
            self._states_topic: model.notifications.apply_state,
        }
        for topic in self._appliers:  # from 0 on: alerts see the first one
            metrics.API_EVENTS_REFUSED.labels(topic)
        self._clock = clock
        self._on_fatal = on_fatal
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._state = FeedState(ready=False, problem=None)
        self.turns = Turns()

    @property
    def state(self) -> FeedState:
        return self._state

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; waits for it."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

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
        reader = TopicReader(HOME, HOME, self._home, self.topics(cluster))
        try:
            self.catch_up(reader)
            self.follow(reader, cluster)
        finally:
            reader.close()

    def topics(self, cluster: HomeCluster) -> list[str]:
        """What there is to read; notes whether there are freshness and members.

        Raises the classified error when the home cluster does not answer.
        """
        freshness = cluster.can_read(self._freshness_topic)
        if not freshness:
            log.warning("no freshness: topic missing or not readable", topic=self._freshness_topic)
        members = cluster.can_read(self._members_topic)
        if not members:
            log.warning("no members: topic missing or not readable", topic=self._members_topic)
        self._state = replace(self._state, freshness=freshness, members=members)
        readable = {
            self._freshness_topic: freshness,
            self._members_topic: members,
            # Without it only the topics that groups consume are known.
            self._topics_topic: cluster.can_read(self._topics_topic),
            self._clusters_topic: cluster.can_read(self._clusters_topic),
            self._silences_topic: cluster.can_read(self._silences_topic),
            self._acknowledgements_topic: cluster.can_read(self._acknowledgements_topic),
            self._states_topic: cluster.can_read(self._states_topic),
            self._notifications_topic: cluster.can_read(self._notifications_topic),
        }
        known = [*self._appliers, self._notifications_topic]
        return [name for name in known if readable.get(name, True)]

    def catch_up(self, reader: Reader) -> None:
        """Reads to the end and makes the model what the topics say, no more and no less."""
        newest: dict[_Subject, Message] = {}
        changes = NewestChanges(self._model.history.limit)
        told = NewestChanges(self._model.notifications.limit)
        while not reader.caught_up and not self._stop.is_set():
            self.turns.begin()
            records = reader.poll(POLL_SECONDS)
            newest |= self._newest_per_key(records)
            changes.add(self._changes(records))
            told.add(self._told(records))
        if self._stop.is_set():
            return
        self._model.notifications.begin_again()
        self._apply(newest.values())
        self._model.keep_only(
            judged=self._live(self._lag_topic, newest.values()),
            measured=self._live(self._freshness_topic, newest.values()),
            described=self._live(self._members_topic, newest.values()),
        )
        self._model.silences.keep_only(
            self._ids(self._silences_topic, newest.values()),
            self._ids(self._acknowledgements_topic, newest.values()),
        )
        self._model.history.begin_again(changes.newest_offsets)
        self._remember(changes.in_order())
        self._take(told.in_order())
        self._state = replace(self._state, ready=True, problem=None)
        size = self._model.size()
        log.info("read model complete", groups=size.groups, partitions=size.partitions)

    def follow(self, reader: Reader, cluster: HomeCluster) -> None:
        """Applies what comes, until told to stop or there is more to read."""
        heard_at = looked_at = self._clock.monotonic()
        while not self._stop.is_set():
            self.turns.begin()
            records = reader.poll(POLL_SECONDS)
            self._apply(self._newest_per_key(records).values())
            self._remember(self._changes(records))
            self._take(self._told(records))
            now = self._clock.monotonic()
            if records:
                heard_at = now
                self._report(None)
            elif now - heard_at >= QUIET_SECONDS:
                heard_at = now
                self._report(cluster.problem())
            if not self._state.is_whole and now - looked_at >= LOOK_AGAIN_SECONDS:
                looked_at = now
                if self._state.problem is None and self._is_more_readable(cluster):
                    return

    def _is_more_readable(self, cluster: HomeCluster) -> bool:
        """Whether a topic that could not be read can be now."""
        missing = {self._freshness_topic: not self._state.freshness}
        missing[self._members_topic] = not self._state.members
        for topic in (name for name, is_missing in missing.items() if is_missing):
            if cluster.can_read(topic):
                log.info("a missing topic is there now", topic=topic)
                return True
        return False

    def _newest_per_key(self, records: Iterable[Message]) -> dict[_Subject, Message]:
        return {
            (record.topic() or "", record.key() or b"", self._kind(record)): record
            for record in records
            if record.topic() != self._notifications_topic
        }

    def _kind(self, record: Message) -> str:
        """Of a status change: one of another kind does not hide the newest of this one."""
        if record.topic() != self._status_topic:
            return ""
        value = record.value() or b""
        return next((kind for kind in EVENT_TYPES if kind.encode() in value), "")

    def _changes(self, records: Iterable[Message]) -> list[Message]:
        """The status changes among the records."""
        return [record for record in records if record.topic() == self._status_topic]

    def _told(self, records: Iterable[Message]) -> list[Message]:
        """The attempts to tell somebody among the records."""
        return [record for record in records if record.topic() == self._notifications_topic]

    def _take(self, told: Iterable[Message]) -> None:
        """Adds attempts; what is none is counted and left out."""
        for record in told:
            self.turns.begin()
            try:
                at = record.partition() or 0, record.offset() or 0
                self._model.notifications.take(*at, record.value())
                metrics.API_EVENTS_APPLIED.labels(self._notifications_topic).inc()
            except ContractViolation as violation:
                self._refuse(record, violation)

    def _remember(self, changes: Iterable[Message]) -> None:
        """Adds status changes to the history; what is no such event is left out."""
        for record in changes:
            value, partition, offset = record.value(), record.partition(), record.offset()
            if value is None or partition is None or offset is None:
                continue
            with suppress(ContractViolation):  # counted and logged when it was applied
                self._model.history.take(partition, offset, value)

    def _apply(self, records: Iterable[Message]) -> None:
        for record in records:
            self.turns.begin()  # at the start there may be a great many
            topic = record.topic() or ""
            try:
                self._appliers[topic](record.key(), record.value())
                metrics.API_EVENTS_APPLIED.labels(topic).inc()
            except ContractViolation as violation:
                self._refuse(record, violation)

    def _refuse(self, record: Message, violation: ContractViolation) -> None:
        topic = record.topic() or ""
        metrics.API_EVENTS_REFUSED.labels(topic).inc()
        log.warning(
            "event refused",
            topic=topic,
            partition=record.partition(),
            offset=record.offset(),
            reason=violation.reason,
        )

    def _live(self, topic: str, records: Iterable[Message]) -> set[GroupName]:
        """Groups whose newest record on the topic is no tombstone."""
        live: set[GroupName] = set()
        for record in records:
            if record.topic() == topic and record.value() is not None:
                try:
                    live.add(split_group_key(record.key()))
                except ContractViolation:
                    continue  # counted and logged when it was applied
        return live

    def _ids(self, topic: str, records: Iterable[Message]) -> set[str]:
        """Keys whose newest record on the topic is no tombstone."""
        return {
            (record.key() or b"").decode(errors="replace")
            for record in records
            if record.topic() == topic and record.value() is not None
        }

    def _note(self, error: Exception | None) -> bool:
        """Makes a problem, or its end, visible to readers; says whether that is news."""
        problem = None if error is None else str(error)
        news = problem != self._state.problem
        self._state = replace(self._state, problem=problem)
        return news

    def _report(self, error: Exception | None) -> None:
        if not self._note(error):
            return
        if error is None:
            log.info("home cluster is back")
        else:
            log.warning("home cluster lost, serving what is known", problem=str(error))
