"""Offsets that the cluster has let expire, told from those that somebody has deleted."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import support.coordinator_records as encode
from confluent_kafka import KafkaError, KafkaException
from support.coordinator_batches import batch
from support.manual_clock import ManualClock
from support.recorded_positions import recorded_positions
from warren.contracts import OffsetEvent
from warren_collector.groups.offsets_retention import (
    ASK_AGAIN_AFTER,
    DEFAULT_MS,
    NAME,
    OffsetsRetention,
)
from warren_collector.logs.ends import LogEnds
from warren_collector.positions.events import Origin, group_events
from warren_collector.positions.recorded import RecordedPositions

NOW = 1_795_244_400_123
HOUR = 3_600_000
ORIGIN = Origin("prod", "offsets_topic", 5000)


def committed(*hours_ago: int) -> RecordedPositions:
    """Partition n of orders was committed so long ago."""
    positions = recorded_positions()
    commits = [
        (encode.offset_key("g", "orders", n), encode.offset_value(5, NOW - hours * HOUR))
        for n, hours in enumerate(hours_ago)
    ]
    positions.fold(batch(commits))
    return positions


def gone(positions: RecordedPositions, *partitions: int, at: int = NOW) -> None:
    tombstones = batch([(encode.offset_key("g", "orders", n), None) for n in partitions])
    positions.fold(replace(tombstones, time=lambda _index: at))


def told(positions: RecordedPositions, retention_hours: int) -> OffsetEvent:
    (group,) = positions.groups
    retention, ends = retention_hours * HOUR, LogEnds()
    found = group_events(
        group, positions.columns, ends, ORIGIN, 7, NOW, offsets_retention_ms=retention
    )
    (event,) = found.events
    return event


@pytest.mark.parametrize(
    ("hours_ago", "expired"), [((30, 25), True), ((30, 24), True), ((30, 23), False)]
)
def test_what_is_as_old_as_the_cluster_keeps_offsets(
    hours_ago: tuple[int, ...], expired: bool
) -> None:
    positions = committed(*hours_ago)
    gone(positions, 0, 1)
    event = told(positions, 24)
    assert event.deleted
    assert event.expired_after_ms == (24 * HOUR if expired else None)
    assert ("expired_after_ms" in event.to_bytes().decode()) is expired


def test_what_the_settings_leave_out_was_not_deleted() -> None:
    denied: set[str] = set()
    positions = recorded_positions(lambda group: group not in denied)
    positions.fold(batch([(encode.offset_key("g", "orders", 0), encode.offset_value(5, NOW))]))
    denied.add("g")
    positions.drop_denied()
    (group,) = positions.groups

    def event(*, watched: bool) -> OffsetEvent:
        built = group_events(
            group,
            positions.columns,
            LogEnds(),
            ORIGIN,
            7,
            NOW,
            is_watched=lambda _group, _topic: watched,
        )
        return built.events[0]

    assert (event(watched=False).deleted, event(watched=False).unwatched) == (True, True)
    assert not event(watched=True).unwatched
    assert "unwatched" not in event(watched=True).to_bytes().decode()


def test_only_what_has_gone_counts() -> None:
    positions = committed(30, 1)
    gone(positions, 0)
    event = told(positions, 24)
    assert (event.removed, event.deleted) == ({"orders": [0]}, False)
    assert event.expired_after_ms == 24 * HOUR


def test_next_deletion_is_judged_by_itself() -> None:
    positions = committed(30, 1)
    (group,) = positions.groups
    gone(positions, 0)
    positions.published([group], [], 0.0)
    gone(positions, 1)
    assert told(positions, 24).expired_after_ms is None


def test_record_without_a_time_says_nothing() -> None:
    positions = committed(30)
    gone(positions, 0, at=-1)
    assert told(positions, 24).expired_after_ms is None


class Cluster:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.described: list[Future[Any]] = []
        self.requested: list[int] = []
        self.config: Future[Mapping[str, Any]] = Future()
        self.retention = OffsetsRetention(self._describe, self._configure, self.clock)

    def _describe(self) -> Future[Any]:
        self.described.append(Future())
        return self.described[-1]

    def _configure(self, broker: int) -> Future[Mapping[str, Any]]:
        self.requested.append(broker)
        return self.config

    def answer(self) -> None:
        self.described[-1].set_result(SimpleNamespace(nodes=[SimpleNamespace(id=3)]))
        self.retention.refresh()


def test_retention_is_what_a_broker_says() -> None:
    cluster = Cluster()
    cluster.retention.refresh()
    cluster.retention.refresh()
    assert len(cluster.described) == 1
    assert cluster.retention.milliseconds == DEFAULT_MS
    cluster.answer()
    assert cluster.requested == [3]
    cluster.config.set_result({NAME: SimpleNamespace(value="90")})
    cluster.retention.refresh()
    assert cluster.retention.milliseconds == 90 * 60_000


def test_without_the_right_it_is_kafkas_default() -> None:
    cluster = Cluster()
    cluster.retention.refresh()
    cluster.answer()
    refused = KafkaException(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED))
    cluster.config.set_exception(refused)
    cluster.retention.refresh()
    assert cluster.retention.milliseconds == DEFAULT_MS


def test_answer_that_never_comes_is_asked_for_again() -> None:
    cluster = Cluster()
    cluster.retention.refresh()
    cluster.clock.advance(ASK_AGAIN_AFTER)
    cluster.retention.refresh()
    assert len(cluster.described) == 2
