"""Judging of a group from its partitions' verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warren.contracts.status import Status
from warren.evaluation.partitions import PartitionVerdicts
from warren.evaluation.windows import Column, Int64, Windows


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """What a group is as a whole."""

    status: Status  # NOTFOUND never; OK, WARN or ERR
    complete: float  # share of partitions with a full window; 0 without partitions
    total_lag: int  # of known lags
    max_lag_row: int | None  # the partition with the largest known lag
    counts: dict[Status, int]  # partitions by status


def judge_group(verdicts: PartitionVerdicts, lag: Int64) -> GroupVerdict:
    """The worst partition decides; STOP, STALL, REWIND and BEYOND_END make a group ERR.

    `lag` is [partition], UNKNOWN where it is.
    """
    partitions = len(lag)
    counts = np.bincount(verdicts.status, minlength=len(Status))
    worst = Status(int(verdicts.status.max(initial=Status.OK)))
    furthest = int(lag.argmax()) if partitions else -1
    return GroupVerdict(
        status=worst.for_group(),
        complete=float(np.mean(verdicts.complete == 1.0)) if partitions else 0.0,
        # Python's integers: a sum of lags near 2^63 must not wrap around.
        total_lag=sum(lag[lag > 0].tolist()),
        max_lag_row=furthest if partitions and lag[furthest] >= 0 else None,
        counts={status: int(counts[status]) for status in Status if counts[status]},
    )


def is_expired(windows: Windows, now_ms: int, expire_group_ms: int) -> bool:
    """Whether the group's newest commit is too long ago. Without any commit it is not."""
    committed_at = windows.newest(Column.COMMITTED_AT)[windows.filled > 0]
    return bool(committed_at.size) and now_ms - int(committed_at.max()) > expire_group_ms
