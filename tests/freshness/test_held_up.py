from __future__ import annotations

from freshness.events import NOW
from warren_freshness.figures.held_up import (
    ASK_AFTER_MS,
    HANGING_MS,
    MOST_TOLD,
    begins_to_ask,
    held_up,
    open_transactions,
)
from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.positions.partition_state import PartitionState
from warren_freshness.topics.open_transactions import TransactionOwner

OWNER = TransactionOwner(7, 2, "payments-1")


def at(partition: int, committed: int = 5) -> LogPosition:
    return LogPosition("orders", partition, committed)


def state(partition: int) -> PartitionState:
    return PartitionState(at(partition), NOW - 1000, NOW - 700, 0, 9, NOW - 300)


def undecided(age: int) -> Reading:
    return Reading("none", end=9, undecided_at=NOW - age, stable_end=6)


def test_who_owns_one_is_asked_where_it_lasts() -> None:
    readings = {
        at(0): undecided(ASK_AFTER_MS),
        at(1): undecided(ASK_AFTER_MS - 1),
        at(2): Reading("none", end=9),
        at(3): Reading("record", first=NOW - ASK_AFTER_MS),
    }
    assert begins_to_ask(held_up(readings), NOW) == [at(0, 6)]


def test_what_holds_a_group_up() -> None:
    readings = {at(0): undecided(50), at(1): undecided(HANGING_MS + 1), at(2): Reading("unread")}
    owners = {at(1, 6): OWNER}
    old, young = open_transactions(map(state, range(4)), readings, owners, NOW)
    assert (old.partition, old.first_offset, old.since) == (1, 6, NOW - HANGING_MS - 1)
    assert (old.producer_id, old.producer_epoch, old.transactional_id) == OWNER
    assert old.hanging
    assert (young.partition, young.producer_id, young.hanging) == (0, None, False)


def test_the_oldest_are_told() -> None:
    readings = {at(n): undecided(n) for n in range(MOST_TOLD + 5)}
    told = open_transactions(map(state, range(MOST_TOLD + 5)), readings, {}, NOW)
    assert [one.partition for one in told] == list(range(MOST_TOLD + 4, 4, -1))
