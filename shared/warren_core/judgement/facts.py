"""Facts: what the cause of a verdict is looked for in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from warren.contracts.status import Status

from warren_core.evaluation import UNKNOWN, Began, Column, Int64, Onset, Track, Windows
from warren_core.evaluation.policies import Statuses
from warren_core.evaluation.predicates import LEAST_MS, Floats, produced_per_s
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.track import Mark
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.layout import Layout
from warren_core.judgement.log_columns import LogColumn
from warren_core.judgement.membership import Membership
from warren_core.judgement.state import Latest

# Freshness measures every 10 s, or as often as its passes end.
MEASURED_LATELY_MS = 2 * 60_000
STANDING = (Status.STOP, Status.STALL)
"""Statuses in which nothing moves."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of a group beside its offsets; asked only where the group is not OK."""

    membership: Callable[[], Membership | None] = lambda: None
    lateness: Callable[[], Lateness | None] = lambda: None

    def lateness_at(self, now_ms: int) -> Lateness | None:
        """None where it was not measured lately."""
        late = self.lateness()
        if late is None or abs(now_ms - late.measured_at) > MEASURED_LATELY_MS:
            return None
        return late


@dataclass(frozen=True, slots=True)
class Facts:
    """Of a group that is not OK. Arrays are of all its partitions."""

    group: str
    now_ms: int
    layout: Layout
    status: Statuses
    counts: Mapping[Status, int]  # of partitions, by status
    lag: Int64  # what it is judged by, UNKNOWN where it is
    latest: Int64  # [Latest, partition]
    windows: Windows
    track: Track | None  # only where policy `progress` judges
    onset: Onset
    bad: list[int]  # rows, worst first
    presence: Presence  # of members, as the event has it: it may be newer than `membership`
    membership: Membership | None  # None: nothing is known of it
    lateness: Lateness | None  # likewise; only what was measured lately
    logs: Int64  # [LogColumn, partition]
    log_ends_apart_ms: int
    openings: tuple[int, ...]  # of incidents lately, the one that is open too

    @property
    def late_ms(self) -> int | None:
        """How late the group is, at least; None where that was not measured lately."""
        return None if self.lateness is None else self.lateness.late_ms

    @property
    def worst(self) -> Status:
        return Status(int(self.status[self.bad[0]]))

    def with_status(self, *wanted: Status) -> list[int]:
        """Rows, worst first."""
        if not any(status in self.counts for status in wanted):
            return []
        if len(self.bad) == sum(self.counts.get(status, 0) for status in wanted):
            return self.bad
        status = self.status[self.bad].tolist()
        return [row for row, code in zip(self.bad, status, strict=True) if code in wanted]

    def standing(self) -> list[int]:
        """Rows in which nothing moves."""
        return self.with_status(*STANDING)

    def name(self, row: int) -> str:
        topic, partition = self.layout.name(row)
        return f"{topic}/{partition}"

    def names(self, rows: list[int]) -> list[tuple[str, int]]:
        """Topic and partition of each."""
        all_names = self.layout.names()
        return [all_names[row] for row in rows]

    @property
    def leader(self) -> Int64:
        """[partition] brokers; UNKNOWN where nobody told, or there is none."""
        leader: Int64 = self.logs[LogColumn.LEADER]
        return leader

    def committed(self, row: int) -> int:
        return int(self.latest[Latest.COMMITTED, row])

    def stands_since(self, rows: list[int]) -> int:
        """Unix milliseconds: since when one of them has."""
        since = int(self.onset.marks[Began.STANDS_SINCE, rows].min())
        if self.track is None:
            return since
        # What was told late began before the window.
        waiting = self.track.marks[Mark.WAITING_SINCE, rows]
        return min(since, int(waiting[waiting >= 0].min(initial=since)))

    def newest_commit_seen_at(self) -> int:
        """Of all partitions; UNKNOWN without commits."""
        seen = self.windows.newest(Column.OBSERVED_AT)[self.windows.filled > 0]
        return int(seen.max(initial=UNKNOWN))

    def lost(self) -> Int64:
        """[partition] records that were deleted before they were consumed; 0 in those that are OK,
        and in those whose offset is beyond the end.
        """
        committed, log_start = self.latest[Latest.COMMITTED], self.latest[Latest.LOG_START]
        measured = self.lateness is not None and self.lateness.lost_records > 0
        if not measured and not (log_start > committed).any():
            return np.zeros(len(committed), np.int64)
        lost = np.where(committed >= 0, log_start - committed, 0)
        if self.lateness is not None and measured:
            for late in self.lateness.worst_first:
                row = int(self.layout.rows(late.topic, (late.partition,))[0])
                if row >= 0 and late.committed == committed[row]:
                    lost[row] = max(int(lost[row]), late.lost_records)
        is_behind = (self.status > Status.OK) & (self.status != Status.BEYOND_END)
        return np.where(is_behind, np.maximum(lost, 0), 0)

    def consumed_per_s(self, windows: Windows) -> Floats:
        """[partition of the windows], negative where nobody knows: too few commits, or it stood
        still for half of their time.
        """
        newest, oldest = windows.newest(), windows.oldest()
        elapsed = newest[Column.OBSERVED_AT] - oldest[Column.OBSERVED_AT]
        known = (windows.filled > 2) & (elapsed >= LEAST_MS)
        known &= 2 * _longest_stand_ms(windows) <= elapsed
        moved = np.maximum(newest[Column.OFFSET] - oldest[Column.OFFSET], 0)
        return np.where(known, moved * 1000.0 / np.maximum(elapsed, 1), -1.0)

    def produced_per_s(self, windows: Windows, rows: list[int]) -> Floats:
        """[row] over the windows and since, negative where nobody knows."""
        moving = np.zeros(len(rows), np.bool_)
        return produced_per_s(windows, self.lag[rows], self.now_ms, moving)


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
