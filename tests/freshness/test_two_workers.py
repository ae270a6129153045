"""Two workers of which one is killed, and what they share is killed, hangs or is full: no row that
is published is ever wrong, and all values come back."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from freshness.events import CLUSTER
from freshness.service_lab import ServiceLab
from freshness.test_process import answer, committed, config, running
from freshness.timed_logs import MINUTE, TimedLogs
from redis import Redis
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import FreshnessEvent
from warren.contracts.topics import FRESHNESS
from warren_local.ports import free_port
from warren_local.valkey import EmbeddedValkey

pytestmark = pytest.mark.heavy

GROUPS = [f"group-{number}" for number in range(8)]
RECORDS = 10  # as many as events of `committed` say


class Groups:
    """All at one offset, which moves on."""

    def __init__(self, lab: ServiceLab, logs: TimedLogs) -> None:
        self.lab = lab
        self.topic = logs.topic()
        now = SystemClock().now_ms()
        logs.produce(self.topic, [now - (RECORDS - n) * MINUTE for n in range(RECORDS)])
        self._times = logs.times(self.topic)
        self._offset = 0

    def move(self) -> None:
        self._offset += 1
        self.lab.publish(*(committed(self.topic, self._offset, self._offset, g) for g in GROUPS))

    def await_measured(self) -> None:
        """Where they are by now."""
        for group in GROUPS:
            self.lab.await_figures(self._is_measured, group, f"{group} at {self._offset}")

    def check_all(self) -> int:
        """Each row that was ever published; how many those were."""
        events = [
            FreshnessEvent.from_bytes(message.value()) for message in self.lab._read(FRESHNESS)
        ]
        for event in events:
            columns = event.topics[self.topic]
            (reason,), (at,) = columns.reason, columns.committed
            assert reason in ("exact", "timeout"), event
            if reason == "exact":
                assert columns.oldest_at == [self._times[at]]
                assert columns.freshness_ms == [event.measured_at - self._times[at]]
        return len(events)

    def _is_measured(self, event: FreshnessEvent) -> bool:
        columns = event.topics[self.topic]
        return columns.committed == [self._offset] and columns.reason == ["exact"]


def found_in_redis(port: int) -> bool:
    """Whether a worker has used what was read by the other one."""
    _, metrics = answer(port, "/metrics") or (0, "")
    name = f'warren_freshness_lookups_total{{cluster="{CLUSTER}",found="redis"}}'
    return any(line.startswith(name) and not line.endswith(" 0.0") for line in metrics.splitlines())


def test_values_come_back(logs: TimedLogs, valkey: EmbeddedValkey, tmp_path: Path) -> None:
    lab = ServiceLab(logs, valkey.url)
    groups = Groups(lab, logs)
    ports = [free_port(), free_port()]
    files = [config(lab, tmp_path / f"{port}.toml", port) for port in ports]
    with ExitStack() as workers:
        first, _ = (workers.enter_context(running(file)) for file in files)
        for port in ports:
            eventually(lambda p=port: answer(p, "/ready"), message="both are ready")
        groups.move()
        groups.await_measured()

        first.kill()
        groups.move()
        groups.await_measured()
        workers.enter_context(running(files[0]))
        eventually(lambda: found_in_redis(ports[0]), message="the first goes on from the second's")

        with valkey.suspended():
            groups.move()
            groups.await_measured()
        valkey.kill()
        groups.move()
        groups.await_measured()
        valkey.start()
        with Redis.from_url(valkey.url) as redis:
            redis.config_set("maxmemory-policy", "noeviction")
            redis.config_set("maxmemory", "1")
        groups.move()
        groups.await_measured()
        for port in ports:
            status, _ = eventually(lambda p=port: answer(p, "/ready"), message="both are ready")
            assert status == 200
    assert groups.check_all() >= 5 * len(GROUPS)
