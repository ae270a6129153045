from __future__ import annotations

from freshness.events import CLUSTER, NOW
from warren_freshness.log_position import LogPosition
from warren_freshness.passes.waiting import Reader, Waiting
from warren_freshness.positions.partition_state import PartitionState


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
