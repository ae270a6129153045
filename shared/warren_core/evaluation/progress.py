"""Policy `progress`: judged by time and by what moves, with what is usual for each partition.

A window is taken as observations for those who have nothing else (`warren evaluate`).

Policies: a policy is a function from evidence and rules to one status per partition; it is
registered under the name that the setting `evaluation.policy` knows. It need not care for
partitions without commits or with too short a window: `judge_partitions` does.

Learning: what one observation adds to what the policy knows of a partition.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status
from warren.settings import PolicyName

from warren_core.evaluation import predicates
from warren_core.evaluation.commit_sizes import BY_COUNT
from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.lateness import BEHIND, learn_lateness
from warren_core.evaluation.predicates import log_end_reached
from warren_core.evaluation.presence import learn_presence
from warren_core.evaluation.rewinds import (
    REWIND,
    goes_to_and_fro,
    is_replaying,
    is_rewound,
    learn_rewind,
)
from warren_core.evaluation.rule import BY, MIN, Rule
from warren_core.evaluation.track import (
    FRESH,
    RETURNS,
    Figure,
    Figures,
    Mark,
    Sighting,
    Track,
    smooth,
    span_ms,
)
from warren_core.evaluation.waits import (
    AWAY,
    BEFORE_MS,
    FIRST,
    HABIT,
    HELD,
    REPEATED,
    RESTS,
    learn_wait,
    patience_ms,
)
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64

BLIND_MS = 5 * MIN  # what took longer from one look to the next, nobody saw
_OVER_MS = 30 * MIN  # what is usually produced
_READ_OVER_MS = MIN  # how fast it reads


def see(track: Track, rows: Int64, sighting: Sighting, blind_ms: int = BLIND_MS) -> None:
    """Takes in one observation of each of these (distinct) partitions."""
    if np.array_equal(rows, np.arange(track.marks.shape[1])):
        _learn(track.marks, track.figures, sighting, blind_ms)
        return
    marks, figures = track.marks[:, rows], track.figures[:, rows]
    _learn(marks, figures, sighting, blind_ms)
    track.marks[:, rows], track.figures[:, rows] = marks, figures


def _learn(marks: Int64, figures: Figures, sighting: Sighting, blind_ms: int) -> None:
    """`marks` and `figures` are those of the partitions that were seen; changed in place."""
    committed, now = sighting.committed, sighting.at
    log_end = np.where(sighting.log_end >= 0, sighting.log_end, marks[Mark.LOG_END])
    fell = log_end < marks[Mark.LOG_END]
    # Nothing to start from: never seen, not committed (any more), or a log that was made anew. One
    # whose end only seems to have gone back is still read where it was.
    lost = (marks[Mark.COMMITTED] < 0) | (committed < 0)
    beyond = marks[Mark.COMMITTED] > marks[Mark.LOG_END]
    lost |= (committed < marks[Mark.COMMITTED]) & (fell | (beyond & (marks[Mark.LOG_END] >= 0)))
    if lost.any():
        marks[:, lost] = FRESH[:, None]
        figures[:, lost] = UNKNOWN
    elapsed = np.where(lost, 0, span_ms(now, marks[Mark.SEEN_AT]))
    sure = ~lost & (elapsed <= blind_ms)
    advanced = ~lost & (committed > marks[Mark.COMMITTED])
    known = (committed >= 0) & (log_end >= 0)
    first = np.maximum(committed, sighting.log_start)  # what was deleted cannot be read
    lag = np.where(known, np.maximum(log_end - first, 0), UNKNOWN)

    learn_presence(marks, sighting)
    stood_still = learn_wait(marks, figures, sighting, lag, elapsed, advanced, sure)
    _learn_commits(marks, figures, sighting, advanced, sure)
    learn_rewind(marks, figures, sighting, ~lost)
    _learn_rates(marks, figures, sighting, advanced, sure & ~fell, lost)
    known_lag = np.where(sighting.log_end >= 0, lag, UNKNOWN)  # an old end makes a lag look smaller
    learn_lateness(marks, figures, sighting, known_lag, elapsed, advanced & sure, lost, stood_still)
    marks[Mark.SEEN_AT] = now
    marks[Mark.ADVANCED_AT] = np.where(advanced | lost, now, marks[Mark.ADVANCED_AT])
    if lost.any():
        rest_at = np.clip(sighting.committed_at, now - BEFORE_MS, now)
        marks[Mark.REST_AT] = np.where(lost, rest_at, marks[Mark.REST_AT])
    marks[Mark.COMMITTED] = committed
    marks[Mark.LOG_END] = log_end


def _learn_commits(
    marks: Int64, figures: Figures, sighting: Sighting, advanced: Bools, sure: Bools
) -> None:
    came = (sighting.commits > 0) & (sighting.committed >= 0)
    repeats = marks[Mark.REPEATS] + np.where(came, np.minimum(sighting.commits, 1_000), 0)
    # What it committed while there was nothing to read tells nothing of a wait.
    waits = (marks[Mark.WAITING_SINCE] >= 0) & (marks[Mark.WAITING_SINCE] < sighting.at)
    marks[Mark.REPEATS] = np.where(advanced | ~waits, 0, np.minimum(repeats, 1_000_000))
    known = came & sure & (marks[Mark.COMMITTED_AT] != UNKNOWN)
    gap = span_ms(sighting.committed_at, marks[Mark.COMMITTED_AT])
    # A client's clock may be set; nobody has seen a longer pause than since the commit before.
    gap = np.minimum(gap, span_ms(sighting.at, marks[Mark.COMMIT_SEEN_AT]) + BLIND_MS)
    marks[Mark.COMMIT_SEEN_AT] = np.where(came, sighting.at, marks[Mark.COMMIT_SEEN_AT])
    pause = gap / np.maximum(sighting.commits, 1)
    average = figures[Figure.COMMIT_PAUSE]
    smoothed = np.where(average < 0, pause, average + (pause - average) / 8)
    figures[Figure.COMMIT_PAUSE] = np.where(known & (gap > 0), smoothed, average)
    newer = came | (marks[Mark.COMMITTED_AT] == UNKNOWN)
    marks[Mark.COMMITTED_AT] = np.where(newer, sighting.committed_at, marks[Mark.COMMITTED_AT])


def _learn_rates(
    marks: Int64, figures: Figures, sighting: Sighting, advanced: Bools, sure: Bools, lost: Bools
) -> None:
    """How fast the log grows, over minutes and half an hour, and how fast it is read."""
    now, log_end = sighting.at, sighting.log_end
    known_lag = log_end >= 0
    elapsed = span_ms(now, marks[Mark.LOG_END_AT])
    known = known_lag & sure & (marks[Mark.LOG_END] >= 0) & (elapsed > 0)
    rate = (log_end - marks[Mark.LOG_END]) * 1000.0 / np.maximum(elapsed, 1)
    marks[Mark.KNOWN_SINCE] = np.where(lost, now, marks[Mark.KNOWN_SINCE])
    since = span_ms(now, marks[Mark.KNOWN_SINCE])
    for figure, over in ((Figure.PRODUCED, BY.rate), (Figure.USUALLY_PRODUCED, _OVER_MS)):
        smooth(figures, figure, rate, known, elapsed, np.minimum(since, over))
    marks[Mark.LOG_END_AT] = np.where(known_lag, now, marks[Mark.LOG_END_AT])
    elapsed = span_ms(now, marks[Mark.ADVANCED_AT])
    read = (sighting.committed - marks[Mark.COMMITTED]) * 1000.0 / np.maximum(elapsed, 1)
    read_known = advanced & sure & (elapsed > 0)
    smooth(figures, Figure.CONSUMED, read, read_known, elapsed, _READ_OVER_MS)


_NEVER_BLIND = 2**62
_LARGEST = 2**63 - 1

SILENCE = Rule(
    "silence",
    learns="since when there is something to read that is not read",
    speaks="STOP after 45 s, or as long as a rule below allows; STALL where commits of that offset "
    "go on",
    sentence="Who does not read what is there for 45 s has stopped.",
    parameters=("least_wait",),
)
RULES = (
    *(SILENCE, REWIND, BEHIND),
    *(HABIT, FIRST, AWAY, RESTS, HELD, RETURNS, BY_COUNT),
)
"""Those that speak, those that give time, and that by which something does not count."""


def waited_ms(track: Track, now_ms: int | Int64) -> Int64:
    """[partition] how long it has stood still; 0 while nothing is to be read."""
    since = track.marks[Mark.WAITING_SINCE]
    return np.where(since >= 0, np.maximum(now_ms - since, 0), 0)


def judge(track: Track, now_ms: int | Int64) -> NDArray[np.uint8]:
    """[partition] statuses."""
    marks = track.marks
    patience = patience_ms(marks, track.figures)
    too_long = (waited_ms(track, now_ms) > patience) & SILENCE.on
    is_stuck = too_long & _keeps_committing(track, now_ms, patience)
    is_unread = marks[Mark.WAITING_SINCE] >= 0
    rewound = is_rewound(track, now_ms, patience) & is_unread
    replays = is_replaying(track, now_ms)
    return np.select(
        [
            goes_to_and_fro(marks) | (rewound & ~replays),
            is_stuck,
            too_long,
            rewound | ((marks[Mark.LOG_END] > marks[Mark.COMMITTED]) & (marks[Mark.ALARM] > 0)),
        ],
        [
            np.uint8(Status.REWIND),
            np.uint8(Status.STALL),
            np.uint8(Status.STOP),
            np.uint8(Status.WARN),
        ],
        default=np.uint8(Status.OK),
    )


def _keeps_committing(track: Track, now_ms: int | Int64, patience: Int64) -> Bools:
    marks = track.marks
    recent = now_ms - marks[Mark.COMMIT_SEEN_AT] <= patience
    keeps: Bools = (marks[Mark.REPEATS] >= REPEATED) & recent
    return keeps


def tracked(evidence: Evidence, allowed_lag: int | Int64) -> Track:
    """The track of the evidence, or what its windows tell: each commit as one observation.

    When the log grew between the newest commit and now is not known: since that commit, unless a
    remembered log end says that the group was caught up later.
    """
    if evidence.track is not None:
        return evidence.track
    windows = evidence.windows
    track = Track.empty(len(windows.filled))
    allowed = np.broadcast_to(allowed_lag, windows.filled.shape)
    for slot in range(windows.intervals):
        rows = np.flatnonzero(windows.occupied[:, slot])
        commit = windows.columns[:, rows, slot]
        sighting = Sighting(
            at=commit[Column.COMMITTED_AT],
            committed=commit[Column.OFFSET],
            committed_at=commit[Column.COMMITTED_AT],
            commits=np.ones(len(rows), np.int64),
            log_end=_log_end(commit[Column.OFFSET], commit[Column.LAG]),
            allowed_lag=allowed[rows],
        )
        see(track, rows, sighting, _NEVER_BLIND)
    _observe_now(track, evidence, allowed)
    return track


def _observe_now(track: Track, evidence: Evidence, allowed: Int64) -> None:
    windows = evidence.windows
    rows = np.flatnonzero(windows.filled > 0)
    newest = windows.newest()[:, rows]
    was_waiting = track.marks[Mark.WAITING_SINCE, rows] >= 0
    sighting = Sighting(
        at=np.broadcast_to(evidence.now_ms, windows.filled.shape)[rows],
        committed=newest[Column.OFFSET],
        committed_at=newest[Column.COMMITTED_AT],
        commits=np.zeros(len(rows), np.int64),
        log_end=_log_end(newest[Column.OFFSET], evidence.current_lag[rows]),
        allowed_lag=allowed[rows],
    )
    see(track, rows, sighting, _NEVER_BLIND)
    since_commit = ~was_waiting & ~log_end_reached(windows)[rows]
    waiting = track.marks[Mark.WAITING_SINCE, rows]
    track.marks[Mark.WAITING_SINCE, rows] = np.where(
        since_commit & (waiting >= 0), newest[Column.COMMITTED_AT], waiting
    )


def _log_end(offset: Int64, lag: Int64) -> Int64:
    known = np.where(lag > _LARGEST - offset, _LARGEST, offset + lag)
    return np.where(lag == UNKNOWN, UNKNOWN, known)


Statuses: TypeAlias = NDArray[np.uint8]
Policy: TypeAlias = Callable[[Evidence, "int | Int64"], Statuses]


def burrow(evidence: Evidence, allowed_lag: int | Int64) -> Statuses:
    """The rules as Burrow applies them (linkedin/Burrow 1.9.5, core/internal/evaluator).

    A partition whose current lag is unknown is OK: nothing says that it is behind.
    """
    windows = evidence.windows
    in_trouble = predicates.lag_always_above(windows, allowed_lag)
    return _first_that_holds(
        (evidence.current_lag <= allowed_lag, Status.OK),
        (
            predicates.stopped(windows, evidence.now_ms) & ~predicates.log_end_reached(windows),
            Status.STOP,
        ),
        (predicates.rewound(windows), Status.REWIND),
        (~in_trouble, Status.OK),
        (predicates.stalled(windows) & in_trouble, Status.STALL),
        (predicates.lag_never_decreasing(windows) & in_trouble, Status.WARN),
    )


def progress(evidence: Evidence, allowed_lag: int | Int64) -> Statuses:
    """Ours: by time, with what is usual for each partition (`warren_core.evaluation.progress`)."""
    status = judge(tracked(evidence, allowed_lag), evidence.now_ms)
    return np.where(evidence.current_lag <= allowed_lag, np.uint8(Status.OK), status)


POLICIES: Mapping[PolicyName, Policy] = {"burrow": burrow, "progress": progress}


def by_partition(masks: Mapping[PolicyName, Bools]) -> Policy:
    """A policy that asks another one for some partitions; each is in one of the masks."""
    if len(masks) == 1:
        return POLICIES[next(iter(masks))]

    def mixed(evidence: Evidence, allowed_lag: int | Int64) -> Statuses:
        statuses = [POLICIES[name](evidence, allowed_lag) for name in masks]
        return np.select(list(masks.values()), statuses, default=np.uint8(Status.OK))

    return mixed


def _first_that_holds(*rules: tuple[Bools, Status]) -> Statuses:
    """Per partition the status of the first rule that holds; OK when none does."""
    statuses = [np.uint8(status) for _, status in rules]
    return np.select([holds for holds, _ in rules], statuses, default=np.uint8(Status.OK))
