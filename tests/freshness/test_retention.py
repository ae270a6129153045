"""."""

import asyncio
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import TimedLogs, minutely
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren_freshness.topics.retention import (
    CHUNK,
    MOST_POINTS,
    LogGrowth,
    Retention,
    SizeLimit,
    retention_ms,
    size_limit,
)
from warren_wire.brokers import Brokers

WEEK = 604_800_000
REFUSED = 29


@pytest.mark.parametrize(
    ("cleanup", "retention", "expected"),
    [
        ("delete", "604800000", WEEK),
        ("compact,delete", "604800000", WEEK),
        ("delete, compact", "604800000", WEEK),
        ("compact", "604800000", None),
        ("", "604800000", None),  # nothing is cleaned up
        ("delete", "-1", None),
        ("delete", "0", 0),
    ],
)
def test_how_long_a_topic_keeps_records(cleanup: str, retention: str, expected: int | None) -> None:
    assert retention_ms({"cleanup.policy": cleanup, "retention.ms": retention}) == expected


@pytest.mark.parametrize(
    ("cleanup", "size", "expected"),
    [
        ("delete", "-1", None),
        ("delete", "1048576", 1048576),
        ("compact,delete", "0", 0),
        ("compact", "1048576", None),
    ],
)
def test_whether_size_deletes_records(cleanup: str, size: str, expected: int | None) -> None:
    limit = size_limit({"cleanup.policy": cleanup, "retention.bytes": size})
    assert (limit.size if limit else None) == expected


class FakeCluster:
    """Answers DescribeConfigs; topics in `refused` may not be described."""

    def __init__(self) -> None:
        self.retention = str(WEEK)
        self.size = "-1"
        self.refused: set[str] = set()
        self.down = False
        self.requested: list[list[str]] = []

    async def send_to_any(self, request: Any) -> Any:
        if self.down:
            raise ConnectionRefusedError
        resources = request.prepare({32: (1, 2)}).resources
        self.requested.append([topic for _, topic, _ in resources])
        return SimpleNamespace(resources=[self._describe(*resource) for resource in resources])

    def _describe(self, kind: int, topic: str, names: list[str]) -> tuple[Any, ...]:
        if topic in self.refused:
            return REFUSED, "no", kind, topic, []
        values = {
            "retention.ms": self.retention,
            "retention.bytes": self.size,
            "cleanup.policy": "delete",
            "max.message.bytes": "1000",
        }
        known = [name for name in names if name in values]  # old brokers do not know all
        return 0, "", kind, topic, [(name, values[name], False, 1, False, []) for name in known]


class Bench:
    def __init__(self) -> None:
        self.cluster = FakeCluster()
        self.clock = ManualClock()
        self.retention = Retention("prod", cast("Brokers", self.cluster), 300, self.clock)

    def refresh(self, *topics: str) -> None:
        asyncio.run(self.retention.refresh(topics, timeout=5))


def test_only_new_topics_are_asked_for_until_it_is_time() -> None:
    bench = Bench()
    bench.refresh("a", "b")
    bench.refresh("a", "b", "c")
    bench.refresh("b")
    assert bench.cluster.requested == [["a", "b"], ["c"]]
    assert [bench.retention.of(topic) for topic in "abc"] == [WEEK] * 3
    bench.cluster.retention = "60000"
    bench.clock.advance(300)
    bench.refresh("b", "c")
    assert bench.cluster.requested[2:] == [["b", "c"]]
    assert [bench.retention.of(topic) for topic in "abc"] == [None, 60_000, 60_000]


def test_a_topic_that_may_not_be_described_is_asked_for_rarely() -> None:
    bench = Bench()
    bench.cluster.refused = {"a"}
    bench.refresh("a", "b")
    bench.refresh("a", "b")
    assert bench.cluster.requested == [["a", "b"]]
    assert (bench.retention.of("a"), bench.retention.of("b")) == (None, WEEK)


def test_a_cluster_that_is_down_changes_nothing() -> None:
    bench = Bench()
    bench.refresh("a")
    bench.cluster.down = True
    bench.refresh("a", "b")
    bench.clock.advance(300)
    bench.refresh("a")
    assert bench.retention.of("a") == WEEK
    bench.cluster.down = False
    bench.refresh("a", "b")
    assert bench.retention.of("b") == WEEK


def test_a_limit_of_size_is_learnt_with_the_rest() -> None:
    bench = Bench()
    assert bench.retention.limit("a") is None
    bench.cluster.size = "1048576"
    bench.refresh("a")
    assert bench.retention.limit("a") == SizeLimit(1048576, 1012)
    assert bench.retention.of("a") == WEEK


def test_many_topics_are_asked_for_in_parts() -> None:
    bench = Bench()
    bench.refresh(*(f"topic-{number}" for number in range(CHUNK + 1)))
    assert [len(topics) for topics in bench.cluster.requested] == [CHUNK, 1]


BATCH = 1_000_000


def grown(*points: tuple[int, int, int, int]) -> LogGrowth:
    """(second, size, start, end)."""
    growth = LogGrowth()
    for second, size, start, end in points:
        growth.observe(second * 1000, size, start, end)
    return growth


def test_the_first_look_says_nothing_of_growth() -> None:
    growth = grown((10, 5000, 0, 50))
    assert growth.bytes_per_second is None
    assert growth.time_to_loss(0, 9000, BATCH, 10_000) is None


def test_a_log_that_does_not_grow_loses_nothing() -> None:
    assert grown((10, 5000, 0, 50), (20, 5000, 0, 50)).time_to_loss(0, 1, BATCH, 0) == inf


def test_the_fastest_of_lately_counts() -> None:
    steady = grown(*((second, 100 * second, 0, second) for second in range(0, 200, 10)))
    assert steady.bytes_per_second == 100
    slower = grown((0, 0, 0, 0), (10, 10_000, 0, 9), (100, 10_900, 0, 10), (110, 11_000, 0, 11))
    assert slower.bytes_per_second == 100
    assert grown((0, 0, 0, 0), (100, 1000, 0, 1), (110, 3000, 0, 9)).bytes_per_second == 200


def test_what_is_after_an_offset_at_most() -> None:
    growth = grown((0, 5000, 0, 50), (10, 6000, 0, 60), (20, 8000, 0, 65))
    assert growth.bytes_after(0, BATCH) == 8000
    assert growth.bytes_after(49, BATCH) == 8000, "nobody saw how large the records are"
    assert growth.bytes_after(50, BATCH) == 3000
    assert growth.bytes_after(62, BATCH) == 2000
    assert growth.bytes_after(65, BATCH) == 0
    assert growth.bytes_after(64, 300) == 300, "one record"


def test_segments_that_were_deleted_meanwhile_had_bytes_too() -> None:
    growth = grown((0, 5000, 0, 50), (10, 4000, 20, 60))
    assert growth.bytes_after(50, BATCH) == 1000
    assert growth.bytes_per_second == 100


def test_until_what_comes_after_fills_the_limit() -> None:
    growth = grown((0, 5000, 0, 50), (10, 6000, 0, 60))
    assert growth.time_to_loss(50, 3000, BATCH, 10_000) == 20_000
    assert growth.time_to_loss(50, 3000, BATCH, 15_000) == 15_000
    assert growth.time_to_loss(0, 3000, BATCH, 10_000) == 0


def test_a_topic_that_was_made_anew_begins_anew() -> None:
    growth = grown((0, 5000, 0, 50), (10, 6000, 0, 60), (20, 100, 0, 1))
    assert growth.bytes_per_second is None
    assert growth.bytes_after(0, BATCH) == 100


def test_what_is_long_ago_is_remembered_roughly() -> None:
    growth = grown(*((second, 100 * second, 0, second) for second in range(0, 100_000, 10)))
    assert len(growth._points) == MOST_POINTS
    assert growth._points[0].at == 0
    assert growth.bytes_per_second == 100
    for offset in range(0, 100_000, 1000):
        left = 99_990 - offset
        assert 100 * left <= growth.bytes_after(offset, BATCH) <= 100 * left * 1.5 + 10_000


KEPT = {"retention_bytes": "2000000", "retention_ms": str(WEEK)}


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
    assert max(said) <= clock.now_ms()
    assert len(said) > 10
    assert max(said[:10]) - min(said[:10]) < 1000, "always the same moment"
    # What is left is the group's next loss.
    found = columns(cluster.measure()[GROUP])
    assert (found.reason, found.time_to_loss_reason) == (["expired"], ["retention_bytes"])
