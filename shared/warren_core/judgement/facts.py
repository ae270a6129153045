"""Facts: what the cause of a verdict is looked for in."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from warren.contracts.status import Status

from warren_core.evaluation import (
    UNKNOWN,
    Alarm,
    Began,
    Column,
    Figure,
    Int64,
    Mark,
    Onset,
    Presence,
    Statuses,
    Track,
    Windows,
    trend,
)
from warren_core.evaluation.predicates import LEAST_MS, produced_per_s
from warren_core.judgement.columns import Latest
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.membership import Membership
from warren_core.judgement.state import GroupState
from warren_core.ownership import NOBODY_S, Ownership

# Freshness measures every 10 s, or as often as its passes end.
MEASURED_LATELY_MS = 2 * 60_000
STANDING = (Status.STOP, Status.STALL)
"""Statuses in which nothing moves."""
BEFORE = 2  # stretches between log ends that tell what was usual
MOST_ENDS = 3 * BEFORE  # as many must be remembered: else the oldest are not of before
LATE_S = 30  # of production: with less behind, it is no trouble of pace


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of a group beside its offsets; the first two are asked for only where it is not
    OK.
    """

    membership: Callable[[], Membership | None] = lambda: None
    lateness: Callable[[], Lateness | None] = lambda: None
    ownership: Ownership = NOBODY_S

    def lateness_at(self, now_ms: int) -> Lateness | None:
        """None where it was not measured lately."""
        late = self.lateness()
        is_old = late is not None and abs(now_ms - late.measured_at) > MEASURED_LATELY_MS
        return None if is_old else late


Trend = Literal["falls behind", "stays", "nears"]


SAME = 1.1
"""Rates that differ by less are the same, as far as a window can tell."""
RATES_OVER_MS = 60_000  # what is consumed is averaged over so much
CLEARLY = 1.5
"""So many times as much is no chance, whatever a trend that has only begun says."""


class Pace(NamedTuple):
    """Records per second, of the partitions that fall behind. `before`: what was produced as far
    ago as is remembered; negative where nobody knows.
    """

    consumed: float
    produced: float
    before: float
    lag: int
    partitions: int
    learnt: Trend | None = None
    """What policy `progress` says of it; it does not change its mind with each look."""

    @property
    def trend(self) -> Trend:
        """As it was learnt; else as the rates are."""
        by_rates: Trend = "nears" if self.consumed > self.produced * SAME else "stays"
        if self.produced > self.consumed * SAME:
            by_rates = "falls behind"
        return self.learnt or by_rates

    @property
    def stays_behind(self) -> bool:
        """Whether a backlog is left, of what is over or of another root."""
        known = self.learnt is not None or self.lag > LATE_S * self.produced
        return known and self.trend != "falls behind"


@dataclass(frozen=True)
class Facts:
    """Of a group that is not OK. Arrays are of all its partitions."""

    cluster: str
    group: str
    state: GroupState
    reported: Int64  # [Reported, partition] by the observation
    status: Statuses
    lag: Int64  # what it is judged by, UNKNOWN where it is
    bad: list[int]  # rows, worst first, but for those that nobody is to read
    unsubscribed: list[int]  # rows of topics that no member subscribes to any more
    presence: Presence  # of members, as the event has it: it may be newer than `membership`
    membership: Membership | None  # None: nothing is known of it
    lateness: Lateness | None  # likewise; only what was measured lately
    log_ends_apart_ms: int

    @property
    def now_ms(self) -> int:
        return self.state.applied.observed_at

    @property
    def onset(self) -> Onset:
        assert self.state.onset is not None  # some partition is not OK
        return self.state.onset

    @property
    def late_ms(self) -> int | None:
        """How late the group is, at least; None where that was not measured lately."""
        return None if self.lateness is None else self.lateness.late_ms

    @property
    def worst(self) -> Status:
        return Status(int(self.status[self.bad[0]])) if self.bad else Status.OK

    def with_status(self, *wanted: Status) -> list[int]:
        """Rows, worst first."""
        return [row for row, code in zip(self.bad, self._codes, strict=True) if code in wanted]

    @cached_property
    def _codes(self) -> list[int]:
        """Statuses of the bad rows."""
        codes: list[int] = self.status[self.bad].tolist()
        return codes

    def standing(self) -> list[int]:
        """Rows in which nothing moves."""
        return self.with_status(*STANDING)

    def names(self, rows: list[int]) -> list[tuple[str, int]]:
        """Topic and partition of each."""
        all_names = self.state.layout.names()
        return [all_names[row] for row in rows]

    def stands_since(self, rows: list[int]) -> int:
        """Unix milliseconds: since when one of them has."""
        since = int(self.onset.marks[Began.STANDS_SINCE, rows].min())
        if self.state.track is None:
            return since
        # What was told late began before the window.
        waiting = self.state.track.marks[Mark.WAITING_SINCE, rows]
        return min(since, int(waiting[waiting >= 0].min(initial=since)))

    @cached_property
    def lost(self) -> Int64:
        """[partition] records that were deleted before they were consumed; 0 in those that are OK,
        and in those whose offset is beyond the end.
        """
        committed, log_start = self.state.latest[[Latest.COMMITTED, Latest.LOG_START]]
        lost = np.where(committed >= 0, log_start - committed, 0)
        for late in () if self.lateness is None else self.lateness.worst_first:
            row = int(self.state.layout.rows(late.topic, (late.partition,))[0])
            if row >= 0 and late.committed == committed[row]:
                lost[row] = max(int(lost[row]), late.lost_records)
        is_behind = (self.status > Status.OK) & (self.status != Status.BEYOND_END)
        return np.where(is_behind, np.maximum(lost, 0), 0)

    @cached_property
    def pace(self) -> Pace | None:
        """Only where all that is bad is behind while it moves."""
        if self.worst is not Status.WARN:
            return None
        bad = np.array(self.bad, np.int64)
        windows, behind = self.state.windows.take(bad), np.maximum(self.lag[bad], 0)
        has_begun = False  # to read again, a short while ago: it may come nearer
        if self.state.track is not None:
            track = self.state.track.take(bad)
            alarm, since = track.marks[[Mark.ALARM, Mark.LEVEL_AT]]
            begins = (alarm == Alarm.CATCHES_UP) & (self.now_ms - since <= 2 * RATES_OVER_MS)
            consumed, produced = track.figures[[Figure.CONSUMED, Figure.PRODUCED]]
            # All is seen to grow or stay late. Of who has only begun to read again the newest
            # commits tell more.
            if ((alarm > Alarm.NOTHING) & (consumed > 0) & (produced >= 0) & ~begins).all():
                return self._learnt_pace(track, windows, behind)
            has_begun = bool(begins.any())
        # [partition of the windows], negative where nobody knows: too few commits, or it stood
        # still for half of their time.
        newest, oldest = windows.newest(), windows.oldest()
        elapsed = newest[Column.OBSERVED_AT] - oldest[Column.OBSERVED_AT]
        known = (windows.filled > 2) & (elapsed >= LEAST_MS)
        known &= 2 * _longest_stand_ms(windows) <= elapsed
        moved = np.maximum(newest[Column.OFFSET] - oldest[Column.OFFSET], 0)
        read = np.where(known, moved * 1000.0 / np.maximum(elapsed, 1), -1.0)
        written = produced_per_s(windows, self.lag[bad], self.now_ms, np.zeros(len(bad), np.bool_))
        lag = int(behind.sum())
        if not ((read >= 0) & (written >= 0)).all():
            # Of the last minute, by freshness: where all that the group has falls behind.
            late = self.lateness
            if late is None or len(bad) < len(self.state.layout):
                return None
            if not late.consume_rate or late.consume_rate < 0 or late.produce_rate is None:
                return None
            return Pace(late.consume_rate, late.produce_rate, -1.0, lag, len(bad))
        if not read.sum():
            return None
        before = self._produced_before(windows.log_ends)
        pace = Pace(float(read.sum()), float(written.sum()), before, lag, len(bad))
        return pace if pace.trend == "nears" or not has_begun else None

    def _learnt_pace(self, track: Track, windows: Windows, behind: Int64) -> Pace | None:
        """By policy `progress`, which averages over a minute or two; all of what is bad. A window
        of ten commits may be ten seconds. Who reads its partitions in turn reads nothing of those
        that rest meanwhile. None where none is read, or was lately, for so long that the averages
        tell neither of before nor of now.
        """
        stands = self.now_ms - track.marks[Mark.ADVANCED_AT]
        pause = np.maximum(track.figures[Figure.COMMIT_PAUSE], 0)
        rests = np.maximum(stands, _longest_stand_ms(windows)) > RATES_OVER_MS + 2 * pause
        if rests.all():
            return None
        consumed, produced = track.figures[[Figure.CONSUMED, Figure.PRODUCED]]
        read, written = float(consumed[~rests].sum()), float(produced.sum())
        goes = np.where(rests & (produced > 0), 1, trend(track, behind, self.now_ms))
        lag = int(behind.sum())
        learnt: Trend = "stays"
        if 2 * behind[goes > 0].sum() > lag or written > CLEARLY * read:
            learnt = "falls behind"
        elif 2 * behind[goes < 0].sum() > lag:
            learnt = "nears"
        before = self._produced_before(windows.log_ends)
        return Pace(read, written, before, lag, len(behind), learnt)

    def _produced_before(self, log_ends: Int64) -> float:
        """From the oldest log ends that are remembered: what was usual until a minute and a half
        ago, by default. Where that was a pause, what is usual over half an hour, where it is known.
        """
        if log_ends.shape[1] < MOST_ENDS or (log_ends[:, 0] == UNKNOWN).any():
            return -1.0
        moved = log_ends[:, BEFORE] - log_ends[:, 0]
        lately = float((moved * 1000.0 / (BEFORE * self.log_ends_apart_ms)).sum())
        if self.state.track is None:
            return lately
        usual = np.maximum(self.state.track.figures[Figure.USUALLY_PRODUCED, self.bad], 0)
        return max(lately, float(usual.sum()))


def _longest_stand_ms(windows: Windows) -> Int64:
    """[partition] from an advance to the next one, whatever was committed in between."""
    seen, offset = windows.column(Column.OBSERVED_AT), windows.column(Column.OFFSET)
    since = seen[:, 0]
    longest = np.zeros_like(since)
    for slot in range(1, windows.intervals):
        follows = windows.occupied[:, slot - 1]
        longest = np.where(follows, np.maximum(longest, seen[:, slot] - since), longest)
        stands = follows & (offset[:, slot] == offset[:, slot - 1])
        since = np.where(stands, since, seen[:, slot])
    return longest
