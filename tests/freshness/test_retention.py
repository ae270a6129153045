from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from warren.clock import ManualClock
from warren_freshness.topics.retention import CHUNK, Retention, SizeLimit, retention_ms, size_limit
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
        self.asked: list[list[str]] = []

    async def send_to_any(self, request: Any) -> Any:
        if self.down:
            raise ConnectionRefusedError
        resources = request.prepare({32: (1, 2)}).resources
        self.asked.append([topic for _, topic, _ in resources])
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
    assert bench.cluster.asked == [["a", "b"], ["c"]]
    assert [bench.retention.of(topic) for topic in "abc"] == [WEEK] * 3
    bench.cluster.retention = "60000"
    bench.clock.advance(300)
    bench.refresh("b", "c")
    assert bench.cluster.asked[2:] == [["b", "c"]]
    assert [bench.retention.of(topic) for topic in "abc"] == [None, 60_000, 60_000]


def test_a_topic_that_may_not_be_described_is_asked_for_rarely() -> None:
    bench = Bench()
    bench.cluster.refused = {"a"}
    bench.refresh("a", "b")
    bench.refresh("a", "b")
    assert bench.cluster.asked == [["a", "b"]]
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
    assert [len(topics) for topics in bench.cluster.asked] == [CHUNK, 1]
