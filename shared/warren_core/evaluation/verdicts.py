"""Verdicts: of partitions, by what their policy says, never committed and beyond the log end, and
of their groups.

Where a group has never committed, nobody knows how far behind it is: a policy judges by what was
written since it was first seen so. What stands still there is STALL where a member owns the
partition, who has got nowhere yet, and else STOP, for whom nobody reads. A group that commits
nothing anywhere may do so on purpose, as caches and console consumers do: WARN.

What no policy asks, since the lag then looks like none, is whether an offset is beyond the log end.
The log end is read after the commits, so it is below one of them only where records are gone that
the group had read (truncated, or the topic was made anew) or where the offset was never the log's.
A leader that has just moved may say too little once, so two looks are needed. Where nobody could
read a log end since, the group may have read what came meanwhile.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status

from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.progress import Policy, Statuses
from warren_core.evaluation.windows import MAX_TIME, Bools, Column, Int64, Windows

Floats = NDArray[np.float64]
_LARGEST = 2**63 - 1
_STATUSES = list(Status)
LOOKS = 2
OF_A_LAG = (Status.WARN, Status.STOP, Status.STALL)
"""What is said of who is behind."""
FIRST_COMMIT_MS = 340_000
"""So long, a first commit may take: clients look for new partitions every 5 min by default
(metadata.max.age.ms), and then share them out and read.
"""


@dataclass(frozen=True, slots=True)
class PartitionVerdicts:
    """[partition] each."""

    status: Statuses
    complete: Floats  # filled share of the window, 0 to 1


def judge_partitions(
    evidence: Evidence,
    policy: Policy,
    *,
    intervals: int | Int64,
    allowed_lag: int | Int64,
    minimum_complete: float | Floats,
) -> PartitionVerdicts:
    """A partition without commits, or with a window not complete enough to judge, is OK."""
    filled = evidence.windows.filled
    complete: Floats = filled / intervals
    # In single precision, as Burrow compares: 1/3 is enough for a minimum of 0.33333334.
    enough = complete.astype(np.float32) >= np.float32(minimum_complete)
    if evidence.uncommitted is not None:  # no window fills there
        enough = enough | evidence.uncommitted.rows
        complete = np.where(evidence.uncommitted.rows, 0.0, complete)
    judged = (filled > 0) & enough
    status = np.where(judged, policy(evidence, allowed_lag), np.uint8(Status.OK))
    return PartitionVerdicts(status.astype(np.uint8, copy=False), complete)


def told_never_committed(verdicts: PartitionVerdicts, evidence: Evidence) -> PartitionVerdicts:
    """The verdicts with what holds where nobody has ever committed, whatever the policy."""
    never = evidence.uncommitted
    if never is None:  # as mostly
        return verdicts
    waited = evidence.now_ms - evidence.windows.newest(Column.COMMITTED_AT)
    stands = (verdicts.status == Status.STOP) & (waited > FIRST_COMMIT_MS)
    status = np.where(never.owned, np.uint8(Status.STALL), np.uint8(Status.STOP))
    status = np.where(never.commits, status, np.uint8(Status.WARN))
    status = np.where(stands, status, np.uint8(Status.OK))
    return replace(verdicts, status=np.where(never.rows, status, verdicts.status))


def told_beyond_end(verdicts: PartitionVerdicts, evidence: Evidence) -> PartitionVerdicts:
    """The verdicts with BEYOND_END where it holds, whatever policy said the others."""
    windows = evidence.windows
    newest = windows.newest(Column.OFFSET)
    if not (newest > windows.log_ends[:, -1]).any():  # as nearly always
        return verdicts
    status = np.where(beyond_end(evidence), np.uint8(Status.BEYOND_END), verdicts.status)
    return replace(verdicts, status=status)


def beyond_end(evidence: Evidence) -> Bools:
    """[partition] the last two remembered log ends are below the newest commit, which was there
    at an earlier look; or the one before it was, and they are below both (a client that goes on
    committing such an offset).
    """
    windows = evidence.windows
    looks = windows.log_ends[:, -LOOKS:]
    known = (looks >= 0).all(axis=1)
    offset = windows.column(Column.OFFSET)[:, -2:]
    is_beyond = windows.occupied[:, -2:] & (offset > looks.max(axis=1)[:, None])
    seen_at = windows.column(Column.OBSERVED_AT)[:, -2:]
    seen_before = is_beyond & (seen_at < np.reshape(evidence.now_ms, (-1, 1)))
    seen_before &= seen_at <= windows.log_ends_at[:, None]
    found: Bools = known & is_beyond[:, -1] & seen_before.any(axis=1)
    return found


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """What a group is as a whole."""

    status: Status  # NOTFOUND never; OK, WARN or ERR
    complete: float  # share of partitions with a full window; 0 without partitions
    total_lag: int  # of known lags, and of what is known of the others
    unknown: int  # partitions of which nobody has said for long where their logs end

    @property
    def is_known(self) -> bool:
        """Whether the status is: what is known to be bad is, whatever else is not."""
        return not self.unknown or self.status is not Status.OK


@dataclass(frozen=True, slots=True)
class GroupVerdict(GroupSummary):
    """And how that came about."""

    max_lag_row: int | None  # the partition with the largest known lag
    counts: dict[Status, int]  # partitions by status


def judge_group(verdicts: PartitionVerdicts, lag: Int64, unknown: int = 0) -> GroupVerdict:
    """The worst partition decides; STOP, STALL, REWIND and BEYOND_END make a group ERR.

    `lag` is [partition], UNKNOWN where nothing is known of it. `unknown`: how many partitions are.
    """
    partitions = len(lag)
    counts = np.bincount(verdicts.status, minlength=len(Status))
    worst = Status(int(verdicts.status.max(initial=Status.OK)))
    furthest = int(lag.argmax()) if partitions else -1
    return GroupVerdict(
        status=worst.for_group(),
        complete=float(np.mean(verdicts.complete == 1.0)) if partitions else 0.0,
        total_lag=_total(lag[lag > 0]),
        unknown=unknown,
        max_lag_row=furthest if partitions and lag[furthest] >= 0 else None,
        counts={status: int(counts[status]) for status in Status if counts[status]},
    )


def _total(lag: Int64) -> int:
    """In Python's integers, so that lags near 2^63 do not wrap around; 2^63 - 1 at most, as all who
    read it have 64 bits.
    """
    total: int = sum(lag.tolist())
    return min(total, _LARGEST)


@dataclass(frozen=True, slots=True)
class GroupVerdicts:
    """What several groups are: lists, an entry for each."""

    status: list[Status]
    complete: list[float]
    total_lag: list[int]
    unknown: list[int]
    bad_partitions: list[int]

    def of(self, number: int) -> GroupSummary:
        return GroupSummary(
            self.status[number],
            self.complete[number],
            self.total_lag[number],
            self.unknown[number],
        )


def judge_groups(
    verdicts: PartitionVerdicts, lag: Int64, unknown: Bools, starts: Int64
) -> GroupVerdicts:
    """As `judge_group`, of groups with at least a partition each; `starts` are their first rows,
    `unknown` is [partition].
    """
    worst = np.maximum.reduceat(verdicts.status, starts)
    sizes = np.diff(starts, append=len(lag))
    known = np.maximum(lag, 0)
    if int(known.max()) < _LARGEST // len(lag):
        total_lag = np.add.reduceat(known, starts).tolist()
    else:
        total_lag = [_total(part) for part in np.split(known, starts[1:])]
    return GroupVerdicts(
        status=[_STATUSES[status].for_group() for status in worst.tolist()],
        complete=(np.add.reduceat((verdicts.complete == 1.0) * 1, starts) / sizes).tolist(),
        total_lag=total_lag,
        unknown=np.add.reduceat(unknown * 1, starts).tolist(),
        bad_partitions=np.add.reduceat((verdicts.status > Status.OK) * 1, starts).tolist(),
    )


def are_expired(windows: Windows, starts: Int64, now_ms: Int64, expire_group_ms: int) -> list[bool]:
    """As `is_expired`, of groups with at least a partition each; `now_ms` is [group]."""
    committed_at = windows.newest(Column.COMMITTED_AT)
    newest = np.maximum.reduceat(np.where(windows.filled > 0, committed_at, -MAX_TIME), starts)
    some = np.add.reduceat(windows.filled, starts) > 0
    expired: list[bool] = (some & (now_ms - newest > expire_group_ms)).tolist()
    return expired


def is_expired(windows: Windows, now_ms: int, expire_group_ms: int) -> bool:
    """Whether the group's newest commit is too long ago. Without any commit it is not."""
    committed_at = windows.newest(Column.COMMITTED_AT)[windows.filled > 0]
    return bool(committed_at.size) and now_ms - int(committed_at.max()) > expire_group_ms
