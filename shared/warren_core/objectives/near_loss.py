"""When a group will lose data: one definition for pages, API, terminal, metrics and mails.

It will where the oldest record that it has not read is deleted within the hour: who is called then
has an hour to act. Two partitions are in no danger for all that. One is read to its end before. The
other is of a topic whose records are kept for a short time, so that whatever waits is near its end:
while it is read on, with more than half of the retention left, each record is read long before.
"""

SOON_MS = 3_600_000
HALF = 0.5


def runs_out(
    left_ms: int | None, share: float | None, late_ms: int | None, *, stands_still: bool
) -> bool:
    """Whether a partition's time until loss runs down, however long it is.

    `share`: of the retention that is left; where that is not known, `late_ms`, the age of the
    oldest record that was not read, says what is used up of it. `stands_still`: nothing is read.
    """
    if left_ms is None:
        return False
    if stands_still:
        return True
    if share is not None:
        return share <= HALF
    return late_ms is not None and left_ms <= late_ms


def is_soon(left_ms: int, catch_up_ms: int | None) -> bool:
    """Whether that comes within the hour, and before the partition is read to its end."""
    return left_ms < SOON_MS and not (catch_up_ms is not None and catch_up_ms < left_ms)
