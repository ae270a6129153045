"""A group that stays where it is while retention takes one segment of its log after the other."""

from __future__ import annotations

from collections.abc import Iterator

from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import MINUTE, TimedLogs
from warren.clock import ManualClock
from warren.contracts import FreshnessEvent

COMMITTED = 3


class Figures:
    """What was said of the group, one look after the other."""

    def __init__(self) -> None:
        self.late: list[int] = []
        self.lost: list[int] = []
        self.since: list[int] = []
        self.reasons: list[str] = []

    def take(self, event: FreshnessEvent) -> None:
        found = columns(event)
        late = event.freshness_ms if event.at_least_ms is None else event.at_least_ms
        assert late is not None, found
        assert found.late_since[0] is not None
        self.late.append(late)
        self.lost.append(event.lost_records)
        self.since.append(found.late_since[0])
        self.reasons += found.reason


def segments(logs: TimedLogs, topic: str, now: int) -> Iterator[int]:
    """Writes them; yields the offset at which each ends."""
    logs.produce(topic, [now - n * MINUTE for n in range(60, 50, -1)])
    yield logs.range(topic)[1]
    logs.transaction(topic, [now - 45 * MINUTE] * 3, commit=False)
    yield logs.range(topic)[1]
    logs.produce(topic, [now + 60 * MINUTE, now - 40 * MINUTE])
    yield logs.range(topic)[1]
    logs.produce(topic, [1, now - 30 * MINUTE])
    yield logs.range(topic)[1]
    logs.produce(topic, [now - 20 * MINUTE, now - 25 * MINUTE], codec="gzip")
    yield logs.range(topic)[1]
    logs.transaction(topic, [now - 5 * MINUTE] * 2, commit=True)
    yield logs.range(topic)[1]
    logs.produce(topic, [now] * 3)
    yield logs.range(topic)[1]


def test_no_figure_shrinks_until_the_group_commits(
    logs: TimedLogs, clock: ManualClock, no_redis: str
) -> None:
    """By a service that starts again after each look."""
    topic = logs.topic(retention_bytes="100000000", retention_ms=str(60 * MINUTE))
    ends = list(segments(logs, topic, clock.now_ms()))
    figures = Figures()
    cluster = MeasuredCluster(logs, clock, no_redis)
    for end in ends:
        # What is left begins in the middle of a segment, too: records may be deleted by hand.
        for before in (None, end - 1, end):
            if before is not None and before > COMMITTED:
                logs.delete_records(topic, before)
            clock.advance(7)
            cluster.commit(topic, [COMMITTED])
            event = cluster.measure()[GROUP]
            figures.take(event)
            cluster.close()
            cluster = MeasuredCluster(logs, clock, no_redis)
            cluster.measurer.recall(0, [event])
    assert figures.reasons[0] == "exact"
    assert set(figures.reasons[1:]) <= {"exact", "expired", "bad_timestamp"}
    assert figures.reasons[-1] == "expired"
    assert figures.late == sorted(figures.late)
    assert figures.lost == sorted(figures.lost)
    assert figures.lost[-1] == ends[-1] - COMMITTED
    assert set(figures.since) == {figures.since[0]}, "since the record that it was at"
    logs.produce(topic, [clock.now_ms() - MINUTE])
    event = cluster.measure_one(topic, [ends[-1]])
    assert (event.freshness_ms, event.at_least_ms, event.lost_records) == (MINUTE, None, 0)
    cluster.close()
