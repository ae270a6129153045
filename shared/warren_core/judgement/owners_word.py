"""The owner's word: what `[[evaluation.overrides]]` says of a job's runs, of lateness on purpose,
and of what nobody need look at. It stands above the rules, whatever policy said them.
"""

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from warren.contracts.status import Status
from warren.words import duration, records

from warren_core.evaluation import (
    OF_A_LAG,
    UNKNOWN,
    Bools,
    Column,
    Explanation,
    Int64,
    Mark,
    PartitionRules,
    PartitionVerdicts,
    Statuses,
    late_ms,
)
from warren_core.judgement.columns import MISSING, Latest
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.state import GroupState

IGNORED = Explanation("ignored", "not judged: an override of [evaluation] says ignore")
LATE_SHARE = 0.05
"""A run may begin later than it is expected by this part of its period, as schedulers and clusters
that start machines need.
"""


def told_as_the_owner_expects(
    verdicts: PartitionVerdicts,
    rules: PartitionRules,
    state: GroupState,
    lag: Int64,
    late: Lateness | None,
) -> PartitionVerdicts:
    """`lag`: what partitions are judged by; `late`: what was measured lately."""
    status = verdicts.status
    if np.any(np.asarray(rules.expected_delay_ms) > 0):
        usual = np.isin(status, OF_A_LAG) & (_lateness(state, lag, late) <= rules.expected_delay_ms)
        status = np.where(usual, np.uint8(Status.OK), status)
    if np.any(np.asarray(rules.expected_every_ms) > 0):
        runs = _Runs.of(rules, state, lag)
        usual = (status == Status.WARN) | (np.isin(status, OF_A_LAG) & ~runs.hangs)
        between = runs.expected & ~runs.missed & usual
        status = np.where(between, np.uint8(Status.OK), status)
        missed = runs.missed & (status < Status.STOP)
        status = np.where(missed, np.uint8(Status.STOP), status)
    status = np.where(rules.ignore, np.uint8(Status.OK), status)
    return replace(verdicts, status=status.astype(np.uint8, copy=False))


def run_missed(
    rules: PartitionRules, state: GroupState, status: Statuses, lag: Int64
) -> dict[int, Explanation]:
    """By row, of those whose run has not come."""
    if not np.any(np.asarray(rules.expected_every_ms) > 0):
        return {}
    runs = _Runs.of(rules, state, lag)
    every = np.broadcast_to(rules.expected_every_ms, status.shape)
    ago = duration(state.applied.observed_at - runs.began)
    return {
        row: Explanation(
            "run_missed",
            (f"not read by the run that began {ago} ago" if runs.left[row] else f"no run for {ago}")
            + f", expected every {duration(int(every[row]))}; {records(int(lag[row]))} unread",
        )
        for row in np.flatnonzero(runs.missed & (status == Status.STOP)).tolist()
    }


class _Runs(NamedTuple):
    """What is known of a group's runs; [partition] but for `began`."""

    expected: Bools
    began: int  # the last run, of any partition; Unix milliseconds
    missed: Bools  # the next one has not come, or has left this partition out
    left: Bools  # that one has read others
    hangs: Bools  # a run has not read all; where it does not go on the policy says so

    @classmethod
    def of(cls, rules: PartitionRules, state: GroupState, lag: Int64) -> Self:
        """A run reads what there was when it began. In a partition without records there is none to
        be missed.
        """
        every = np.broadcast_to(rules.expected_every_ms, lag.shape)
        now, expected = state.applied.observed_at, every > 0
        began, advanced, read_all, unread = _of_partitions(state, every)
        last = int(began[expected].max(initial=UNKNOWN))
        late = every * LATE_SHARE
        due = expected & (lag > rules.allowed_lag)
        overdue = due & (now - last > every + late)
        # The next run does not make good what one has left out.
        waits = ((unread < last) & (now - last > late)) | (now - unread > every + late)
        left = due & (advanced < last) & waits
        return cls(expected, last, overdue | left, left & ~overdue, due & ~read_all)


def _of_partitions(state: GroupState, every: Int64) -> tuple[Int64, Int64, Bools, Int64]:
    """[partition] when its last run began, when it advanced last, whether it had read all then, and
    since when something is unread; Unix milliseconds. Without a track the windows tell what they
    know.
    """
    windows, now = state.windows, state.applied.observed_at
    if state.track is None:
        offsets = windows.column(Column.OFFSET)
        same = windows.occupied & (offsets == windows.newest(Column.OFFSET)[:, None])
        times = np.where(same, windows.column(Column.COMMITTED_AT), now)
        first: Int64 = np.where(windows.filled > 0, times.min(axis=1), UNKNOWN)
        return first, first, np.ones(len(first), np.bool_), np.full(len(first), now)
    marks = state.track.marks
    advanced, rest_at, read_all_at, since = marks[
        [Mark.ADVANCED_AT, Mark.REST_AT, Mark.READ_ALL_AT, Mark.WAITING_SINCE]
    ]
    is_run = (rest_at <= advanced) & (advanced - rest_at < every // 2)
    began = np.where(is_run, rest_at, advanced)
    return began, advanced, read_all_at >= advanced, np.where(since >= 0, since, now)


def _lateness(state: GroupState, lag: Int64, late: Lateness | None) -> Int64:
    """[partition] as freshness measured it, and since; else by how fast is written."""
    unknown = np.full(len(lag), np.iinfo(np.int64).max, np.int64)
    now, track = state.applied.observed_at, state.track
    if track is not None:
        estimated = late_ms(track.marks, track.figures, lag, now)
        unknown = np.where(lag >= 0, estimated, unknown).astype(np.int64)
    for found in () if late is None else late.worst_first:
        (row,) = state.layout.rows(found.topic, [found.partition])
        if late is not None and row != MISSING and found.freshness_ms is not None:
            same = found.committed == state.latest[Latest.COMMITTED, row]
            unknown[row] = found.freshness_ms + (max(now - late.measured_at, 0) if same else 0)
    return unknown
