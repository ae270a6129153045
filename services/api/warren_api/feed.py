"""Keeps the read model up to date: one thread that reads the topics it is made of.

Catching up, only the newest record per key is parsed. When the home cluster goes away the model
stays as it is and `state` says what is wrong; reading goes on by itself when it is back.
`warren.freshness` and `warren.clusters` may be missing: an older installation does without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import structlog
from confluent_kafka import Message
from warren.clock import Clock
from warren.contracts.group_key import split_group_key
from warren.contracts.topics import CLUSTERS, FRESHNESS, LAG, LAG_STATUS, TOPICS
from warren.errors import ContractViolation, KafkaError
from warren.kafka.connection import log_retry
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.metrics import api as metrics
from warren.settings import HomeSettings

from warren_api.home_cluster import HomeCluster
from warren_api.read_model import GroupName, ReadModel

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.25  # also how late an event may be shown
QUIET_SECONDS = 5.0  # without a record for so long, ask the home cluster whether it is there
RETRY_SECONDS = 2.0
LOOK_AGAIN_SECONDS = 30.0  # for a topic of freshness that could not be read


class Reader(Protocol):
    """What the feed needs of a TopicReader."""

    @property
    def caught_up(self) -> bool: ...
    def poll(self, timeout: float) -> list[Message]: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class FeedState:
    """`ready`: the ends seen at start were passed once. `problem`: None while the feed works.
    `freshness`: whether there is a topic of freshness that may be read.
    """

    ready: bool
    problem: str | None
    freshness: bool = True


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
        self._freshness_topic = FRESHNESS.full_name(home.topic_prefix)
        self._topics_topic = TOPICS.full_name(home.topic_prefix)
        self._clusters_topic = CLUSTERS.full_name(home.topic_prefix)
        self._appliers = {
            self._lag_topic: model.apply,
            LAG_STATUS.full_name(home.topic_prefix): model.apply_status_change,
            self._freshness_topic: model.apply_freshness,
            self._topics_topic: model.apply_topics,
            self._clusters_topic: model.apply_cluster,
        }
        self._clock = clock
        self._on_fatal = on_fatal
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._state = FeedState(ready=False, problem=None)

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
                    self._connect_and_follow()
                except KafkaError as error:
                    log_retry(error)
                    self._note(error)
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
        """What there is to read; notes whether there is freshness.

        Raises the classified error when the home cluster does not answer.
        """
        freshness = cluster.can_read(self._freshness_topic)
        if not freshness:
            log.warning("no freshness: topic missing or not readable", topic=self._freshness_topic)
        self._state = replace(self._state, freshness=freshness)
        left_out = set() if freshness else {self._freshness_topic}
        for topic in (self._clusters_topic, self._topics_topic):  # missing: an older installation
            if not cluster.can_read(topic):
                left_out.add(topic)
        return [name for name in self._appliers if name not in left_out]

    def catch_up(self, reader: Reader) -> None:
        """Reads to the end and makes the model what the topics say, no more and no less."""
        newest: dict[tuple[str, bytes], Message] = {}
        while not reader.caught_up and not self._stop.is_set():
            newest |= _newest_per_key(reader.poll(POLL_SECONDS))
        if self._stop.is_set():
            return
        self._apply(newest.values())
        self._model.keep_only(
            judged=self._live(self._lag_topic, newest.values()),
            measured=self._live(self._freshness_topic, newest.values()),
        )
        self._state = replace(self._state, ready=True, problem=None)
        size = self._model.size()
        log.info("read model complete", groups=size.groups, partitions=size.partitions)

    def follow(self, reader: Reader, cluster: HomeCluster) -> None:
        """Applies what comes, until told to stop or there is more to read."""
        heard_at = looked_at = self._clock.monotonic()
        while not self._stop.is_set():
            records = reader.poll(POLL_SECONDS)
            self._apply(_newest_per_key(records).values())
            now = self._clock.monotonic()
            if records:
                heard_at = now
                self._report(None)
            elif now - heard_at >= QUIET_SECONDS:
                heard_at = now
                self._report(cluster.problem())
            if not self._state.freshness and now - looked_at >= LOOK_AGAIN_SECONDS:
                looked_at = now
                if self._state.problem is None and cluster.can_read(self._freshness_topic):
                    log.info("there is freshness now", topic=self._freshness_topic)
                    return

    def _apply(self, records: Iterable[Message]) -> None:
        for record in records:
            topic = record.topic() or ""
            try:
                self._appliers[topic](record.key(), record.value())
                metrics.API_EVENTS_APPLIED.labels(topic).inc()
            except ContractViolation as violation:
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


def _newest_per_key(records: Iterable[Message]) -> dict[tuple[str, bytes], Message]:
    return {(record.topic() or "", record.key() or b""): record for record in records}
