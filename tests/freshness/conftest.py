"""Logs with known times on the tests' broker, and passes over them."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import TimedLogs
from support.manual_clock import ManualClock
from warren_local.server import free_port


@pytest.fixture
def logs(broker: Any, unique: str) -> TimedLogs:
    return TimedLogs(broker.bootstrap, unique)


@pytest.fixture
def clock() -> ManualClock:
    """Stands still, near the broker's time: retention must not take the tests' records."""
    return ManualClock(time.time_ns() // 1_000_000)


@pytest.fixture
def no_redis() -> str:
    return f"redis://127.0.0.1:{free_port()}/0"


@pytest.fixture
def cluster(logs: TimedLogs, clock: ManualClock, no_redis: str) -> Iterator[MeasuredCluster]:
    measured = MeasuredCluster(logs, clock, no_redis)
    yield measured
    measured.close()
