"""A place in a log, and what was found there."""

from typing import Literal, NamedTuple

UNKNOWN = -1

ReadOutcome = Literal[
    "record", "none", "beyond_end", "corrupt", "not_authorised", "unread", "estimated"
]


class LogPosition(NamedTuple):
    """An offset in a partition of a monitored cluster."""

    topic: str
    partition: int
    offset: int


class RecordTimes(NamedTuple):
    """Append times around a position as the log has them, Unix ms; unusable ones included."""

    first: int
    """Of the first record at or after the position."""
    before: int | None
    """Of the last record before it, as far as it was seen."""


class Reading(NamedTuple):
    """What reading at a position gave.

    none: no record at or after it, only control records and aborted ones, if anything.
    beyond_end: the log ends before it: truncated, or a new topic of the same name.
    corrupt: there are bytes, but no records can be made of them.
    unread: no time or bytes left in this pass, or no leader answered.
    estimated: not read; the append time is between `first` and `latest`.
    """

    outcome: ReadOutcome
    first: int | None = None
    before: int | None = None
    log_start: int = UNKNOWN
    """Where the log begins, when the position was found to be deleted."""
    end: int = UNKNOWN
    """High watermark, for none: what is before it was searched."""
    undecided_at: int | None = None
    """For none: append time of the first record of an open transaction."""
    stable_end: int = UNKNOWN
    """For none, the last stable offset: where the first open transaction begins that the position
    waits for. For a record after it: it belongs to a transaction, and may yet be aborted."""
    resume_at: int = UNKNOWN
    """For unread: what is before this offset holds no record for the position."""
    latest: int | None = None
    """For estimated: no later than this."""
