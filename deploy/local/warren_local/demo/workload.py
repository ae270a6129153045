"""Runs the demo: one thread per consumer group, and the producer."""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from itertools import count

import httpx
import structlog
from confluent_kafka import Consumer, KafkaException
from warren.clock import Clock, SystemClock
from warren.kafka.connection import await_connection, classify, client_options
from warren.settings import ClusterSettings, KafkaConnection, Settings, named_servers

from warren_local.demo.groups import GROUPS, DemoGroup
from warren_local.demo.topics import TOPICS, Feed, prepare_topics
from warren_local.plan import DEMO_CLUSTER

log = structlog.get_logger(__name__)


CYCLE = 1.2  # seconds between two commits of a group
SLICE = 0.2  # seconds after which a waiting member looks whether it shall stop
TURN = 0.1  # seconds between two turns of the producer
PATIENCE = 30.0  # seconds for which a gate may stay shut; after that the demo starts anyway
LOOK_EVERY = 0.2
RETRY_AFTER = 1.0  # seconds after which a consumer or producer that failed starts again


class Gate:
    """Opens when a URL answers 200: the demo's groups commit only once somebody watches.

    A collector that starts on a cluster takes what was committed before as state, not as commits:
    a group that stopped early would never get a window.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def wait(self, stop: threading.Event, patience: float = PATIENCE) -> bool:
        """True when it opened; False after `patience` seconds, or when `stop` was set."""
        for _ in range(round(patience / LOOK_EVERY)):
            if self._is_open():
                return True
            if stop.wait(LOOK_EVERY):
                return False
        return False

    def _is_open(self) -> bool:
        try:
            return httpx.get(self._url, timeout=LOOK_EVERY * 5).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


class Workload:
    """The demo on one cluster; `setting` is the cluster's table in warren.toml, for errors."""

    def __init__(
        self,
        cluster: str,
        setting: str,
        connection: KafkaConnection,
        clock: Clock,
        stop: threading.Event,
    ) -> None:
        self._cluster = cluster
        self._setting = setting
        self._connection = connection
        self._clock = clock
        self._stop = stop

    def run(self, gate: Gate | None) -> None:
        """Run until told to stop. Waits for the cluster and, before it consumes, for the gate."""
        self._until_stopped("topics", self._prepare)
        if self._stop.is_set():
            return
        if gate is not None and not gate.wait(self._stop) and not self._stop.is_set():
            log.warning("demo starts unwatched")
        log.info("demo started", groups=len(GROUPS))
        with ThreadPoolExecutor(len(GROUPS) + 1, thread_name_prefix="demo") as threads:
            parts = [threads.submit(self._live, group) for group in GROUPS]
            parts.append(threads.submit(self._until_stopped, "producer", self._produce))
            wait(parts, return_when=FIRST_EXCEPTION)
            failed = [part for part in parts if part.done() and part.exception()]
            if failed:
                self._stop.set()  # a fault of the demo itself: end, and say it
        for part in failed:
            part.result()

    def _prepare(self) -> None:
        admin = await_connection(self._cluster, self._setting, self._connection, self._stop)
        if admin is not None:
            prepare_topics(admin, self._feed())

    def _produce(self) -> None:
        """A turn that was missed is not made up for."""
        feed = self._feed()
        for turn in count(1):
            if self._stop.wait(TURN):
                feed.flush()
                return
            for topic in TOPICS:
                if turn % round(topic.every / TURN) == 0:
                    for partition in range(topic.partitions):
                        feed.send(topic.name, partition, topic.count)

    def _live(self, group: DemoGroup) -> None:
        """The group's member: again and again when the table says so."""
        self._until_stopped(group.name, partial(self._consume, group))
        while group.again_after is not None and not self._stop.wait(group.again_after):
            self._until_stopped(group.name, partial(self._consume, group))

    def _consume(self, group: DemoGroup) -> None:
        """Be the group's only member until it leaves, or the demo stops."""
        options = client_options(
            self._cluster,
            self._setting,
            self._connection,
            client_id=f"{group.name}-1",
            group_id=group.name,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            queued_min_messages=200,
            # The shortest that brokers allow by default: a killed demo's members are gone quickly.
            session_timeout_ms=6000,
            heartbeat_interval_ms=2000,
        )
        consumer = Consumer(options)
        try:
            consumer.subscribe([group.topic.name])
            number = 0
            while number != group.leaves_after:
                deadline = self._clock.monotonic() + CYCLE
                while (left := deadline - self._clock.monotonic()) > 0:
                    if self._stop.is_set():
                        return
                    for message in consumer.consume(500, min(left, SLICE)):
                        if (error := message.error()) is not None:
                            raise KafkaException(error)
                at = [each for each in consumer.position(consumer.assignment()) if each.offset >= 0]
                for each in at:
                    each.offset = group.commits(each.offset, number)
                if at:
                    for done in consumer.commit(offsets=at, asynchronous=False) or ():
                        if done.error is not None:
                            raise KafkaException(done.error)
                    number += 1
        finally:
            consumer.close()

    def _until_stopped(self, name: str, work: Callable[[], None]) -> None:
        """Do it; again when Kafka fails, as an application's own restart would."""
        while not self._stop.is_set():
            try:
                work()
            except KafkaException as problem:
                error = classify(self._cluster, self._setting, problem.args[0])
                log.warning("trying again", part=name, problem=str(error))
                self._stop.wait(RETRY_AFTER)
            else:
                return

    def _feed(self) -> Feed:
        return Feed(self._cluster, self._setting, self._connection)


def run_demo(
    settings: Settings,
    *,
    cluster: str | None,
    bootstrap: str | None,
    stop: threading.Event,
    gate: Gate | None = None,
) -> None:
    """Run the demo on the cluster of that name, or at that address, until told to stop."""
    name = cluster or DEMO_CLUSTER
    Workload(
        name,
        f"clusters.{name}",
        demo_connection(settings, name, bootstrap),
        SystemClock(),
        stop,
    ).run(gate)


def demo_connection(settings: Settings, name: str, bootstrap: str | None) -> KafkaConnection:
    """`bootstrap`, with the security settings of the cluster of that name if there is one; else
    that cluster; else home. Raises SettingsError.
    """
    known = settings.clusters.get(name)
    if bootstrap is not None:
        servers = named_servers("--bootstrap", bootstrap)
        return ClusterSettings(bootstrap=servers, kafka=known.kafka if known else {})
    return known or settings.home
