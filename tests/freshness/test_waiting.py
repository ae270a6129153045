"""."""

import time
from collections.abc import Iterator

import pytest
from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from freshness.service_lab import ServiceLab
from freshness.timed_logs import MINUTE, TimedLogs
from support.manual_clock import ManualClock
from support.record_batches import batch
from support.waiting import eventually
from warren.contracts import FreshnessEvent, OffsetEvent
from warren_freshness.log_position import LogPosition
from warren_freshness.passes.cluster_measurer import Countdown
from warren_freshness.passes.position_readings import Reader, Waiting
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.reading.batch_sizes import (
    LOOK_BACK,
    BatchSizes,
    first_batch_size,
    look_back,
)
from warren_freshness.service import FreshnessService


def reader(group: str, offset: int, *, late_for: int = 1, partition: int = 0) -> Reader:
    place = LogPosition("orders", partition, offset)
    state = PartitionState(place, NOW, NOW - late_for, 0, 1000, NOW)
    return Reader((CLUSTER, group), place, state)


def test_the_latest_come_first() -> None:
    readers = [reader("a", 1, late_for=5), reader("b", 2, late_for=9), reader("c", 3, late_for=7)]
    order = Waiting().in_order(readers, [each.position for each in readers])
    assert [place.offset for place in order] == [2, 3, 1]


def test_a_position_is_as_urgent_as_the_latest_group_there() -> None:
    readers = [reader("a", 1, late_for=5), reader("b", 2, late_for=7), reader("c", 1, late_for=9)]
    order = Waiting().in_order(readers, {each.position for each in readers})
    assert [place.offset for place in order] == [1, 2]


def test_who_waits_comes_before_the_latest_also_once_it_has_moved() -> None:
    waiting = Waiting()
    waiting.take([reader("a", 1), reader("b", 2)], 2, {LogPosition("orders", 0, 1)})
    assert (waiting.longest, waiting.bound) == (1, 2)
    readers = [reader("b", 4, late_for=99), reader("a", 3)]
    order = waiting.in_order(readers, [each.position for each in readers])
    assert [place.offset for place in order] == [3, 4]
    waiting.take(readers, 2, set())
    assert (waiting.longest, waiting.bound) == (0, 1)


def test_nobody_waits_longer_than_the_bound() -> None:
    """Forty groups, all of which move; a pass reads nine of them."""
    waiting = Waiting()
    longest = 0
    for number in range(50):
        readers = [reader(f"g{n}", number, partition=n, late_for=n + 1) for n in range(40)]
        order = waiting.in_order(readers, [each.position for each in readers])
        waiting.take(readers, 40, set(order[9:]))
        longest = max(longest, waiting.longest)
    assert waiting.bound == 5
    assert longest == 4  # unread in so many passes, and read in the fifth


def test_seconds_pass() -> None:
    clock = ManualClock()
    countdown = Countdown(clock, 5)
    assert countdown.left() == 5
    clock.advance(2)
    assert countdown.left() == 3
    clock.advance(4)
    assert countdown.left() == 0


def test_what_happens_in_a_pause_does_not_count() -> None:
    clock = ManualClock()
    countdown = Countdown(clock, 5)
    assert countdown.left() == 5
    clock.advance(2)
    countdown.pause()
    clock.advance(100)
    assert countdown.left() == 3
    clock.advance(1)
    assert countdown.left() == 2


KB = 1024


@pytest.mark.parametrize(
    ("seen", "worthwhile"),
    [
        ([], None),
        ([500], 500),
        ([500] * 9, 500),
        ([16 * KB] * 9, 16 * KB),
        ([64 * KB] * 9, None),
        ([500] * 8 + [64 * KB], 500),  # who is larger is asked for alone
        ([64 * KB] * 15 + [500], None),  # as too few are so small
        ([16 * KB, 16 * KB, 16 * KB, 5 * KB] * 4, 16 * KB),
        ([16 * KB] * 2 + [500] * 14, 500),
    ],
)
def test_what_is_worth_being_asked_for_with_others(seen: list[int], worthwhile: int | None) -> None:
    sizes = BatchSizes()
    for size in seen:
        sizes.learn("orders", size)
    assert sizes.worthwhile("orders") == worthwhile
    assert sizes.worthwhile("others") is None


def test_only_the_last_batches_count() -> None:
    sizes = BatchSizes()
    assert sizes.mean("orders") is None
    for size in [64 * KB] * 9 + [500] * 16:
        sizes.learn("orders", size)
    assert (sizes.worthwhile("orders"), sizes.mean("orders")) == (500, 500)


@pytest.mark.parametrize(
    ("expected", "back"), [(None, 0), (100, LOOK_BACK), (1000, 6), (3000, 1), (4000, 0)]
)
def test_a_look_back_costs_little(expected: int | None, back: int) -> None:
    assert look_back(expected) == back


def test_the_size_of_the_first_batch() -> None:
    first = batch({5: 1005})
    assert first_batch_size(first + batch({6: 1006, 7: 1007})) == len(first)
    assert first_batch_size(first[:30]) == len(first)
    assert first_batch_size(b"") == 0


AGES = range(60, 0, -1)  # minutes of the records, oldest first


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Stuck:
    """What is published of a group at one offset, and since when it says that the group is late."""

    def __init__(self, lab: ServiceLab, logs: TimedLogs) -> None:
        self.lab = lab
        self.logs = logs
        self.topic = logs.topic()
        logs.produce(self.topic, [now_ms() - n * MINUTE for n in AGES])
        self.since: list[int] = []
        self._positions: Iterator[int] = iter(range(1, 1000))

    def look(self, committed: int = 2) -> OffsetEvent:
        """The group as a collector sees it now: also where the log begins."""
        start, end = self.logs.range(self.topic)
        at = At(committed, end, start, committed_at=now_ms() - 60 * MINUTE)
        event = offset_event(
            {self.topic: [at]}, position=next(self._positions), observed_at=now_ms()
        )
        self.lab.publish(event)
        return event

    def measured_after(self, event: OffsetEvent) -> FreshnessEvent:
        found = self.lab.await_figures(lambda e: e.observed_at >= event.observed_at)
        figure = found.freshness_ms if found.at_least_ms is None else found.at_least_ms
        assert figure is not None
        self.since.append(found.measured_at - figure)
        return found

    def expire(self, before: int) -> FreshnessEvent:
        """Retention takes what is before that offset; the service sees it."""
        self.logs.delete_records(self.topic, before)
        found = self.measured_after(self.look())
        assert found.topics[self.topic].reason == ["expired"]
        assert found.freshness_ms is None, "never shown as exact"
        assert found.worst is not None
        assert found.worst.at_least
        return found


@pytest.fixture
def stuck(logs: TimedLogs, no_redis: str) -> Stuck:
    return Stuck(ServiceLab(logs, no_redis), logs)


def ready(service: FreshnessService) -> None:
    eventually(lambda: service.is_ready, message="the service is ready")


def test_no_figure_shrinks_before_the_group_commits(stuck: Stuck) -> None:
    with stuck.lab.running() as service:
        exact = stuck.measured_after(stuck.look())
        assert exact.topics[stuck.topic].reason == ["exact"]
        for before in (10, 20):
            stuck.expire(before)
        ready(service)
    stuck.logs.delete_records(stuck.topic, 40)  # while nobody looks
    for before in (45, 55):
        with stuck.lab.running() as service:
            ready(service)
            assert stuck.expire(before).lost_records == before - 2
    with stuck.lab.running():
        assert stuck.expire(60).topics[stuck.topic].oldest_at == [None]  # nothing is left
        assert max(stuck.since) - min(stuck.since) < 10, "as late as the record that it was at"
        assert now_ms() - stuck.since[0] >= 58 * MINUTE

        stuck.logs.produce(stuck.topic, [now_ms() - MINUTE])
        committed = stuck.measured_after(stuck.look(committed=60))
        assert committed.topics[stuck.topic].reason == ["exact"]
        assert committed.at_least_ms is None
        assert MINUTE <= (committed.freshness_ms or 0) < 10 * MINUTE
    assert stuck.lab.newest()[GROUP].event is not None


def test_a_deleted_group_is_not_late_since_then_when_it_comes_back(stuck: Stuck) -> None:
    with stuck.lab.running():
        stuck.measured_after(stuck.look())
        stuck.lab.publish(offset_event({}, deleted=True, observed_at=now_ms(), position=500))
        stuck.lab.await_tombstone()
        stuck._positions = iter(range(501, 1000))
        assert 2 * MINUTE <= (stuck.expire(58).at_least_ms or 0) < 10 * MINUTE
