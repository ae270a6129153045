"""The owner's word: what `[[evaluation.overrides]]` says of a job's runs, of lateness on purpose,
and of what nobody need look at. It stands above the rules, whatever policy said them.
"""

from dataclasses import replace

import numpy as np
from warren.contracts.status import Status
from warren.words import duration, records

from warren_core.evaluation import (
    UNKNOWN,
    Bools,
    Column,
    Explanation,
    Int64,
    PartitionRules,
    PartitionVerdicts,
    late_ms,
)
from warren_core.evaluation.policies import Statuses
from warren_core.evaluation.track import Mark
from warren_core.evaluation.verdicts import OF_A_LAG
from warren_core.judgement.columns import Latest
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.state import GroupState

IGNORED = Explanation("ignored", "not judged: an override of [evaluation] says ignore")
A_FIFTH = 1.2
"""A run may come later than it is expected by so much."""


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
        expected, missed, _ = _runs(rules, state, lag)
        between = expected & ~missed & np.isin(status, OF_A_LAG)
        status = np.where(between, np.uint8(Status.OK), status)
        status = np.where(missed & (status < Status.STOP), np.uint8(Status.STOP), status)
    status = np.where(rules.ignore, np.uint8(Status.OK), status)
    return replace(verdicts, status=status.astype(np.uint8, copy=False))


def run_missed(
    rules: PartitionRules, state: GroupState, status: Statuses, lag: Int64
) -> dict[int, Explanation]:
    """By row, of those whose run has not come."""
    if not np.any(np.asarray(rules.expected_every_ms) > 0):
        return {}
    _, missed, last = _runs(rules, state, lag)
    every = np.broadcast_to(rules.expected_every_ms, status.shape)
    now = state.applied.observed_at
    return {
        row: Explanation(
            "run_missed",
            f"no run for {duration(now - last)}, expected every {duration(int(every[row]))}; "
            f"{records(int(lag[row]))} unread",
        )
        for row in np.flatnonzero(missed & (status == Status.STOP)).tolist()
    }


def _runs(rules: PartitionRules, state: GroupState, lag: Int64) -> tuple[Bools, Bools, int]:
    """[partition] a run is expected; it has not come, though there is something to read; and when
    the last one was. One run reads what there is in any partition; what one leaves waits for the
    next.
    """
    every = np.broadcast_to(rules.expected_every_ms, lag.shape)
    expected: Bools = every > 0
    last = _last_run(rules, state)
    overdue = state.applied.observed_at - last > every * A_FIFTH
    missed: Bools = expected & overdue & (lag > rules.allowed_lag)
    return expected, missed, last


def _last_run(rules: PartitionRules, state: GroupState) -> int:
    """Unix milliseconds: when an offset advanced the last time, in partitions of which runs are
    expected.
    """
    windows = state.windows
    offsets = windows.column(Column.OFFSET)
    same = windows.occupied & (offsets == windows.newest(Column.OFFSET)[:, None])
    times = np.where(same, windows.column(Column.COMMITTED_AT), state.applied.observed_at)
    first: Int64 = np.where(windows.filled > 0, times.min(axis=1), UNKNOWN)
    if state.track is not None:
        advanced = state.track.marks[Mark.ADVANCED_AT]
        first = np.where(advanced >= 0, advanced, first)
    expected = np.broadcast_to(rules.expected_every_ms, first.shape) > 0
    return int(first[expected].max(initial=UNKNOWN))


def _lateness(state: GroupState, lag: Int64, late: Lateness | None) -> Int64:
    """[partition] as freshness measured it, and since; else by how fast is written."""
    unknown = np.full(len(lag), np.iinfo(np.int64).max, np.int64)
    now, track = state.applied.observed_at, state.track
    if track is not None:
        estimated = late_ms(track.marks, track.figures, lag, now)
        unknown = np.where(lag >= 0, estimated, unknown).astype(np.int64)
    measured = {} if late is None else late.by_partition
    for row, name in enumerate(state.layout.names()):
        found = measured.get(name)
        if late is None or found is None or found.freshness_ms is None:
            continue
        same = found.committed == state.latest[Latest.COMMITTED, row]
        unknown[row] = found.freshness_ms + (max(now - late.measured_at, 0) if same else 0)
    return unknown
