"""Groups at open transactions: late for who reads uncommitted records, held up for all others."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from warren.contracts import OpenTransaction

from warren_freshness.figures import arithmetic
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.topics.open_transactions import TransactionOwner

# By default brokers let no transaction be open for longer (transaction.max.timeout.ms): nobody ends
# one that is.
HANGING_MS = 900_000
# Nobody asks who owns a transaction that is as short as most are.
ASK_AFTER_MS = 10_000
MOST_TOLD = 20


def begins_to_ask(readings: Mapping[LogPosition, Reading], now: int) -> list[LogPosition]:
    """Where transactions begin that have been open for a while."""
    return [
        place._replace(offset=reading.stable_end)
        for place, reading in readings.items()
        if reading.undecided_at is not None and now - reading.undecided_at >= ASK_AFTER_MS
    ]


def held_up(readings: Mapping[LogPosition, Reading]) -> dict[LogPosition, Reading]:
    """Those at open transactions."""
    return {place: reading for place, reading in readings.items() if reading.stable_end != UNKNOWN}


def open_transactions(
    states: Iterable[PartitionState],
    readings: Mapping[LogPosition, Reading],
    owners: Mapping[LogPosition, TransactionOwner],
    now: int,
) -> list[OpenTransaction]:
    """Those that a group has come to, oldest first. `readings` of other positions may be absent."""
    found: list[OpenTransaction] = []
    if not readings:  # as nearly always, and there are many states
        return found
    for state in states:
        place = state.to_read
        reading = None if place is None else readings.get(place)
        if place is None or reading is None or reading.stable_end == UNKNOWN:
            continue
        since = arithmetic.usable(reading.undecided_at, now)
        owner = owners.get(place._replace(offset=reading.stable_end))
        found.append(
            OpenTransaction(
                topic=place.topic,
                partition=place.partition,
                first_offset=reading.stable_end,
                since=since,
                producer_id=owner.producer_id if owner else None,
                producer_epoch=owner.producer_epoch if owner else None,
                transactional_id=owner.transactional_id if owner else None,
                hanging=since is not None and now - since > HANGING_MS,
            )
        )
    found.sort(key=lambda one: now if one.since is None else one.since)
    return found[:MOST_TOLD]


class LateSince(NamedTuple):
    """Of one partition at one committed offset."""

    committed: int
    since: int | None
    """Unix ms; None when nothing says that there is a record to consume."""
    searched_to: int = UNKNOWN
    """Before this offset nothing is left but control records and aborted ones."""
    has_wrong_time: bool = False
    """The record at the committed offset was seen before its timestamp: that is never its age."""

    def earliest(self, state: PartitionState, *more: int | None) -> int | None:
        """With what the events say of the partition now, and `more` times when it was late."""
        known = (self.since, self._known_since(state), *more)
        return min((at for at in known if at is not None), default=None)

    def _known_since(self, state: PartitionState) -> int | None:
        if self.searched_to == UNKNOWN:
            return state.known_since
        return state.log_observed_at if state.log_end > self.searched_to else None


def remembered_at(state: PartitionState, known: LateSince | None) -> LateSince:
    """What is known still: nothing of before, once the group has committed another offset."""
    committed = state.committed.offset
    return known if known and known.committed == committed else LateSince(committed, None)


def has_wrong_time(state: PartitionState, known: LateSince | None) -> bool:
    """Whether the record at the committed offset was seen before its timestamp."""
    if known is None or not known.has_wrong_time:
        return False
    return known.committed == state.committed.offset
