"""From times to figures: pure functions, Unix milliseconds in, milliseconds out."""

from typing import NamedTuple

# Nothing was appended to a Kafka log before there was Kafka: 2000-01-01 is generous. What is
# older is a forgotten unit (seconds), an unset field or an event's own time, not an append time.
EARLIEST_APPEND = 946_684_800_000
# Clocks that are synchronised differ by less. How old a record from further ahead is, nobody knows.
LARGEST_SKEW = 60_000


class Age(NamedTuple):
    """How old a record is, and how far that may be off."""

    freshness_ms: int
    off_by: int


def is_append_time(timestamp: int, now: int) -> bool:
    """Whether a record's timestamp can be when it was appended."""
    return EARLIEST_APPEND <= timestamp <= now + LARGEST_SKEW


def usable(timestamp: int | None, now: int) -> int | None:
    """The timestamp if it can be an append time, else None."""
    return timestamp if timestamp is not None and is_append_time(timestamp, now) else None


def age_of(append_time: int, now: int) -> Age:
    """Freshness of a group whose oldest unconsumed record was appended then.

    A record from the future (clocks differ) is as fresh as can be, off by the difference.
    """
    age = now - append_time
    return Age(age, 0) if age >= 0 else Age(0, -age)


def at_least(known_since: int | None, now: int) -> int | None:
    """Lower bound of a freshness: the record was there at `known_since` already."""
    return None if known_since is None else max(now - known_since, 0)


def commit_lag(committed_at: int, last_committed: int | None) -> int | None:
    """Commit time - append time of the last committed record; None when one is unknown."""
    if committed_at < 0 or last_committed is None:
        return None
    return max(committed_at - last_committed, 0)


def append_lag(newest: int | None, last_committed: int | None) -> int | None:
    """Append time of the log's newest record - that of the last committed one."""
    return None if newest is None or last_committed is None else max(newest - last_committed, 0)


def time_to_loss(append_time: int, retention_ms: int | None, now: int) -> int | None:
    """Until `retention_ms` may delete a record, at least; None when it is kept or unknown.

    A lower bound: Kafka deletes whole segments, and only when their newest record is old enough.
    """
    return None if retention_ms is None else max(append_time + retention_ms - now, 0)
