"""Topics whose logs are kept below a size, by their own configuration."""

from __future__ import annotations

from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import TimedLogs, minutely
from support.waiting import eventually
from warren.clock import ManualClock

WEEK = 604_800_000
KEPT = {"retention_bytes": "2000000", "retention_ms": str(WEEK)}


def test_how_long_until_size_deletes_records(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """A busy producer may be seconds away from it, whatever retention.ms says."""
    limited = logs.topic("limited", **KEPT)
    logs.produce(limited, minutely(clock, 100), size=10_000)
    cluster.commit(limited, [3])
    found = columns(cluster.measure()[GROUP])
    assert (found.time_to_loss_ms, found.time_to_loss_reason) == ([None], ["size_unknown"])
    clock.advance(10)
    logs.produce(limited, minutely(clock, 50), size=10_000)  # 50 kB a second
    cluster.commit(limited, [3])
    event = cluster.measure()[GROUP]
    found = columns(event)
    assert found.time_to_loss_reason == ["retention_bytes"]
    (left,) = found.time_to_loss_ms
    assert left is not None
    # 1.5 MB of 2 MB are there; before 0.5 MB more have come, nothing is deleted.
    assert 8_000 < left <= 10_000
    assert (event.time_to_loss_ms, event.time_to_loss_reason) == (left, "retention_bytes")
    # Of what comes after a position that was seen at the end, the bytes are known.
    cluster.commit(limited, [100])
    (later,) = columns(cluster.measure()[GROUP]).time_to_loss_ms
    assert later is not None
    assert 28_000 < later <= 30_000


def test_nothing_is_lost_before_it_was_said(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    """The broker's own retention, segment by segment; the log grows by 20 kB a second."""
    limited = logs.topic("limited", segment_bytes="1048576", **KEPT)
    said: list[int] = []

    def is_lost(*, more: bool = True) -> bool:
        if more:
            logs.produce(limited, minutely(clock, 10), size=10_000)
            clock.advance(5)
        cluster.commit(limited, [0])
        event = cluster.measure()[GROUP]
        if event.lost_records == 0 and event.time_to_loss_ms is not None:
            said.append(clock.now_ms() + event.time_to_loss_ms)
            assert event.time_to_loss_reason == "retention_bytes"
        return event.lost_records > 0

    for _ in range(35):
        if is_lost():
            break
    eventually(lambda: is_lost(more=False), message="the first segment is deleted")
    lost_at = clock.now_ms()
    assert max(said) <= lost_at
    assert len(said) > 10
    assert max(said[:10]) - min(said[:10]) < 1000, "always the same moment"
    # What is left is the group's next loss.
    found = columns(cluster.measure()[GROUP])
    assert (found.reason, found.time_to_loss_reason) == (["expired"], ["retention_bytes"])


def test_a_log_that_does_not_grow_is_kept_for_its_time(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    limited = logs.topic("limited", **KEPT)
    logs.produce(limited, minutely(clock, 10))
    cluster.commit(limited, [3])
    cluster.measure()
    clock.advance(10)
    cluster.commit(limited, [3])
    found = columns(cluster.measure()[GROUP])
    assert found.time_to_loss_reason == ["retention_ms"]
    assert found.time_to_loss_ms == [WEEK - 7 * 60_000 - 10_000]


def test_what_time_deletes_is_known_beside_it(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    limited = logs.topic("limited", retention_bytes="1048576")
    timed = logs.topic("timed", retention_ms=str(WEEK))
    for topic in (limited, timed):
        logs.produce(topic, minutely(clock, 10))
        cluster.commit(topic, [3])
    event = cluster.measure()[GROUP]
    assert event.topics[timed].time_to_loss_reason == ["retention_ms"]
    assert event.topics[timed].time_to_loss_ms == [WEEK - 7 * 60_000]
    assert event.topics[limited].time_to_loss_ms == [None]
    assert event.time_to_loss_reason == "size_unknown"
