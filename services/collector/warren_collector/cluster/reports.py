"""Says on `warren.clusters` how it stands with each cluster, also while one cannot be reached."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence

import structlog
from warren.clock import Clock
from warren.contracts import ClusterEvent, group_key
from warren.contracts.cluster_event import EVERY_MS
from warren.contracts.topics import CLUSTERS
from warren.errors import PublishFailed
from warren.kafka.producer import Bus
from warren.kafka.topics import HOME
from warren.kafka.trouble import Trouble

log = structlog.get_logger(__name__)

LOOK_EVERY = 0.5  # seconds; also how late a change is published


def collector_name() -> str:
    """Of this process."""
    return f"{socket.gethostname()}-{os.getpid()}"


Report = Callable[[], ClusterEvent]


class ClusterReports:
    """Publishes what is new, and all of it every 10 s."""

    def __init__(self, reports: Sequence[Report], topic_prefix: str, clock: Clock) -> None:
        """`reports` give an event of one cluster each, as it stands at that moment."""
        self.trouble = Trouble(HOME, clock, over="states of clusters are published again")
        self._reports = reports
        self._topic = CLUSTERS.full_name(topic_prefix)
        self._published: dict[bytes, ClusterEvent] = {}

    def publish(self, bus: Bus) -> None:
        """What is due. What could not be published is due again; its trouble is told elsewhere."""
        due = {
            group_key(event.cluster, event.collector): event
            for event in (report() for report in self._reports)
        }
        due = {key: event for key, event in due.items() if self._is_due(key, event)}
        if self._send(bus, {key: event.to_bytes() for key, event in due.items()}):
            self._published |= due

    def withdraw(self, bus: Bus) -> None:
        """This collector says nothing about the clusters any more."""
        self._send(bus, dict.fromkeys(self._published))

    def run(
        self, connect: Callable[[], Bus], has_home: Callable[[], bool], stop: threading.Event
    ) -> None:
        """Until `stop`; begins once `has_home` says that Warren's topics are there."""
        while not has_home():
            if stop.wait(LOOK_EVERY):
                return
        bus = connect()
        while not stop.wait(LOOK_EVERY):
            self.publish(bus)
        self.withdraw(bus)

    def _is_due(self, key: bytes, event: ClusterEvent) -> bool:
        last = self._published.get(key)
        if last is None or (last.state, last.problem) != (event.state, event.problem):
            return True
        return event.observed_at - last.observed_at >= EVERY_MS

    def _send(self, bus: Bus, records: Mapping[bytes, bytes | None]) -> bool:
        if not records:
            return True
        try:
            for key, value in records.items():
                bus.send(self._topic, key, value)
            bus.flush()
        except PublishFailed as error:
            if self.trouble.problem is None:
                log.warning("states of clusters are not published", problem=error.problem)
            self.trouble.note(error)
            return False
        self.trouble.over()
        return True
