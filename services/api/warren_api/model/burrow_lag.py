"""Lag as Burrow has it: from the committed offset to the log end, whatever was deleted between, and
0 where it is unknown.
"""

from __future__ import annotations

from warren.contracts import TopicLag

from warren_api.model.partitions import PartitionRow, lost


def burrow_lag(row: PartitionRow) -> int:
    return _with_deleted(row.lag, row.committed, row.log_start)


def burrow_lags(columns: TopicLag) -> list[int]:
    """One entry per partition."""
    rows = zip(columns.lag, columns.committed, columns.log_start, strict=True)
    return [_with_deleted(*row) for row in rows]


def _with_deleted(lag: int | None, committed: int, log_start: int) -> int:
    return 0 if lag is None else lag + lost(committed, log_start)
