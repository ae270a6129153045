"""Runs the demo: one thread per consumer group, and the producer."""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

import httpx
import structlog
from confluent_kafka import KafkaException
from warren.clock import Clock, SystemClock
from warren.kafka.connection import await_connection, classify
from warren.settings import ClusterSettings, KafkaConnection, Settings, named_servers

from warren_local.demo.groups import GROUPS, DemoGroup
from warren_local.demo.member import Leave, Member
from warren_local.demo.topics import (
    CLICKS,
    INVOICES,
    ORDERS,
    PAYMENTS,
    SENSORS,
    SHIPMENTS,
    DemoTopic,
    Feed,
    prepare_topics,
)
from warren_local.plan import DEMO_CLUSTER

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Flow:
    """`count` records to each partition, every `every` seconds, the first after `first`."""

    topic: DemoTopic
    every: float
    first: float
    count: int


FLOWS = (
    # Bursts with pauses: who keeps up is at lag zero most of the time. Longer than two commits
    # (1.2 s each), so that at most every other commit sees a fresh burst.
    Flow(ORDERS, every=3.0, first=1.0, count=20),
    Flow(SHIPMENTS, every=3.0, first=2.5, count=5),
    # An even trickle, faster than its consumer: see `slow` in groups.py.
    Flow(PAYMENTS, every=0.1, first=0.1, count=1),
    Flow(INVOICES, every=1.0, first=0.5, count=1),
    Flow(CLICKS, every=1.0, first=0.7, count=1),
    Flow(SENSORS, every=1.0, first=0.3, count=2),
)


class Schedule:
    """Which flows are due; a missed turn is not made up for."""

    def __init__(self, flows: tuple[Flow, ...], now: float) -> None:
        self._flows = flows
        self._due_at = [now + flow.first for flow in flows]

    def take_due(self, now: float) -> list[Flow]:
        """The flows whose turn it is at `now` (monotonic seconds)."""
        due = [number for number, at in enumerate(self._due_at) if at <= now]
        for number in due:
            self._due_at[number] = max(self._due_at[number] + self._flows[number].every, now)
        return [self._flows[number] for number in due]

    def seconds_to_next(self, now: float) -> float:
        return max(min(self._due_at) - now, 0.0)


def produce(feed: Feed, clock: Clock, stop: threading.Event) -> None:
    """Produce until told to stop; raises KafkaException when the cluster does not take it."""
    schedule = Schedule(FLOWS, clock.monotonic())
    while not stop.wait(schedule.seconds_to_next(clock.monotonic())):
        for flow in schedule.take_due(clock.monotonic()):
            for partition in range(flow.topic.partitions):
                feed.send(flow.topic.name, partition, flow.count)
    feed.flush()


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
            parts.append(threads.submit(self._produce))
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
        self._until_stopped("producer", lambda: produce(self._feed(), self._clock, self._stop))

    def _live(self, group: DemoGroup) -> None:
        """The group's consumer: again and again when the table says so."""
        self._until_stopped(group.name, lambda: self._one_life(group))
        while group.again_after is not None and not self._stop.wait(group.again_after):
            self._until_stopped(group.name, lambda: self._one_life(group))

    def _one_life(self, group: DemoGroup) -> None:
        with Member(
            self._cluster,
            self._setting,
            self._connection,
            group=group.name,
            topic=group.topic.name,
            kip848=group.kip848,
            clock=self._clock,
            stop=self._stop,
        ) as member:
            member.join()
            group.behaviour(member)

    def _until_stopped(self, name: str, work: Callable[[], None]) -> None:
        """Do it; again when Kafka fails, as an application's own restart would."""
        while not self._stop.is_set():
            try:
                work()
            except Leave:
                return
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
    connection = demo_connection(settings, name, bootstrap)
    Workload(name, f"clusters.{name}", connection, SystemClock(), stop).run(gate)


def demo_connection(settings: Settings, name: str, bootstrap: str | None) -> KafkaConnection:
    """`bootstrap`, with the security settings of the cluster of that name if there is one; else
    that cluster; else home. Raises SettingsError.
    """
    known = settings.clusters.get(name)
    if bootstrap is not None:
        servers = named_servers("--bootstrap", bootstrap)
        return ClusterSettings(bootstrap=servers, kafka=known.kafka if known else {})
    return known or settings.home
