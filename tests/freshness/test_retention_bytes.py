"""Topics whose logs are kept below a size, by their own configuration."""

from __future__ import annotations

import pytest
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import TimedLogs, minutely
from warren.clock import ManualClock

pytestmark = pytest.mark.integration


def test_nobody_knows_when_size_deletes_records(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """A busy producer may be ten seconds away from it, whatever retention.ms says."""
    limited = logs.topic("limited", retention_bytes="1048576", retention_ms="604800000")
    logs.produce(limited, minutely(clock, 10))
    cluster.commit(limited, [3])
    event = cluster.measure()[GROUP]
    found = columns(event)
    assert found.reason == ["exact"]
    assert (found.time_to_loss_ms, found.time_to_loss_reason) == ([None], ["retention_bytes"])
    assert (event.time_to_loss_ms, event.time_to_loss_reason) == (None, "retention_bytes")


def test_what_time_deletes_is_known_beside_it(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    limited = logs.topic("limited", retention_bytes="1048576")
    timed = logs.topic("timed", retention_ms="604800000")
    for topic in (limited, timed):
        logs.produce(topic, minutely(clock, 10))
        cluster.commit(topic, [3])
    event = cluster.measure()[GROUP]
    assert event.topics[timed].time_to_loss_reason == [None]
    assert event.topics[timed].time_to_loss_ms == [604_800_000 - 7 * 60_000]
    assert event.topics[limited].time_to_loss_ms == [None]
    assert event.time_to_loss_reason == "retention_bytes"
