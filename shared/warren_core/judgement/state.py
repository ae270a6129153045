"""State: what the evaluator remembers of a group between two events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from warren.contracts import OffsetEvent, SourceName, Status

from warren_core.clocks import is_ahead
from warren_core.evaluation import (
    UNKNOWN,
    Began,
    Bools,
    Column,
    Commits,
    GroupRules,
    Int64,
    Onset,
    PartitionRules,
    Track,
    Windows,
    last_processed,
)
from warren_core.judgement.columns import (
    Latest,
    Layout,
    Reported,
    lag_of,
    least_lag_of,
    settled,
    unknown,
    unknown_of,
)

Forgotten = Mapping[str, frozenset[int]]
"""Partitions, by topic, that are not known until they commit again: somebody asked for that."""

MADE_ANEW_AFTER_MS = 10 * 60_000
MOST_OPENINGS = 6
ENOUGH_COMMITS = 4
"""Of a partition of which nothing was known: by then it goes on."""
_NO_POSITION = -1  # of a group that several sources know, too


@dataclass(frozen=True, slots=True)
class Applied:
    """The last event that was applied: tells replayed events from new ones.

    `source_offset` is its offset in `warren.offsets`, of a group that is gone; else UNKNOWN.
    """

    source: SourceName
    position: int
    observed_at: int
    source_offset: int = field(default=UNKNOWN, compare=False)

    @classmethod
    def by(cls, event: OffsetEvent, source_offset: int = UNKNOWN) -> Applied:
        return cls(event.source, event.position, event.observed_at, source_offset)

    def is_before(self, event: OffsetEvent) -> bool:
        """Whether the event is newer. One that is dated long before is not: a clock is wrong.

        One at an earlier position is not, whatever its time: a collector that lost its partitions
        may say it. Only when that has gone on for long was `__consumer_offsets` made anew.
        """
        if self.source != event.source or _NO_POSITION in (self.position, event.position):
            return self.observed_at < event.observed_at
        if event.position < self.position:
            return event.observed_at - self.observed_at > MADE_ANEW_AFTER_MS
        is_newer = (self.position, self.observed_at) < (event.position, event.observed_at)
        return is_newer and not is_ahead(self.observed_at, event.observed_at)

    def shares_order_with(self, event: OffsetEvent) -> bool:
        """Whether positions of the (newer) event can be compared with those before."""
        if self.source != event.source:
            return False
        if _NO_POSITION in (self.position, event.position):
            return self.position == event.position
        return self.position <= event.position


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group that is being judged. Arrays are never changed in place once they are in a state."""

    applied: Applied
    status: Status
    opened_at: int | None  # of the incident; None while OK
    layout: Layout
    latest: Int64  # [Latest, partition]
    windows: Windows
    forgotten: Forgotten = field(default_factory=dict)
    track: Track | None = None  # only where policy `progress` judges
    commits: Commits = field(default_factory=dict)  # by topic
    onset: Onset | None = None  # only while some partition is not OK
    openings: tuple[int, ...] = ()  # of the last incidents, Unix milliseconds
    reported: Int64 | None = None  # [Reported, partition]; None where none is kept

    @classmethod
    def new(
        cls, applied: Applied, status: Status = Status.OK, opened_at: int | None = None
    ) -> GroupState:
        """Nothing is known but that: an open incident goes on, or will be closed under its id."""
        windows = Windows.empty(0, 1)  # they grow with the first event
        return cls(applied, status, opened_at, Layout({}), unknown(Latest, 0), windows)

    @property
    def last_processed(self) -> list[str]:
        """Topics in which the group commits the last offset that it has processed."""
        return last_processed(self.commits)

    @property
    def steps(self) -> Int64:
        """[partition] from the committed offsets to those that are read next."""
        return self.layout.marked(self.last_processed)

    @property
    def lag(self) -> Int64:
        """[partition] at least, where nobody has committed."""
        return lag_of(settled(self.latest, self.windows), self.steps)

    @property
    def least_lag(self) -> Int64:
        """[partition] what partitions are judged by."""
        return least_lag_of(self.latest, self.windows, self.lag, self.steps)

    @property
    def goes_on(self) -> bool:
        """Whether all partitions have nothing left, or have gone on since anything is known."""
        windows = self.windows
        left = self.lag != 0  # unknown is not nothing
        advanced = windows.newest(Column.OFFSET) > windows.oldest(Column.OFFSET)
        goes_on = (windows.filled >= ENOUGH_COMMITS) & advanced
        return bool(np.all(goes_on | ~left | (self.latest[Latest.COMMITTED] < 0)))

    def followed_by(self, event: OffsetEvent) -> GroupState:
        """What counts of it once this newer event is there: not orders that cannot be compared with
        its own.
        """
        if self.applied.shares_order_with(event):
            return self
        windows = self.windows.copied()
        # Any commit is newer than those that are here: what orders them is about to change.
        windows.columns[Column.ORDER] = np.arange(-windows.intervals, 0)
        return replace(self, windows=windows)

    def as_of(self, now: int) -> GroupState:
        """What counts of it at that time, Unix milliseconds: of a state that is dated ahead of it
        the incident. Any event is newer.
        """
        if not is_ahead(self.applied.observed_at, now):
            return self
        opened_at = None if self.opened_at is None else min(self.opened_at, now)
        anew = GroupState.new(Applied(self.applied.source, _NO_POSITION, 0), self.status, opened_at)
        return replace(anew, forgotten=self.forgotten)

    def grown(self, event: OffsetEvent, rules: GroupRules) -> tuple[GroupState, PartitionRules]:
        """A copy with the event's partitions, which an update may change in place, and the rules by
        its rows. Nothing is known of partitions that are new.
        """
        named = {topic: positions.partition for topic, positions in event.topics.items()}
        layout = self.layout.after(event.removed, named)
        counts = [(topic, len(partitions)) for topic, partitions in layout.topics.items()]
        of_rows = PartitionRules.of(rules, counts)
        rows = Rows.of(self).take(self.layout.rows_of(layout), of_rows.slots)
        if not event.part:
            rows = rows._replace(reported=None)
        if "progress" not in of_rows.policies:
            rows = rows._replace(track=None)
        elif rows.track is None:
            rows = rows._replace(track=Track.empty(len(layout)))
        commits = {topic: seen for topic, seen in self.commits.items() if topic in layout.topics}
        return replace(self, layout=layout, commits=commits, **rows._asdict()), of_rows

    def unknown(self, pace_ms: int) -> Bools:
        """[partition] nobody has said for long where its log ends."""
        stands = settled(self.latest, self.windows)
        return unknown_of(stands, self.windows, self.applied.observed_at, pace_ms)

    def judged(self, status: Status, onset: Onset | None) -> GroupState:
        """What is remembered once the group was judged, at the time of the event."""
        opened_at, openings = self.incidents_after(status, self.applied.observed_at)
        return replace(self, status=status, opened_at=opened_at, onset=onset, openings=openings)

    def incidents_after(self, status: Status, now_ms: int) -> tuple[int | None, tuple[int, ...]]:
        """When the incident that is open then began, None when the group is OK; and when the last
        ones did.
        """
        if status is Status.OK:
            return None, self.openings
        opened_at = now_ms if self.opened_at is None else self.opened_at
        is_told = self.openings[-1:] == (opened_at,)
        return opened_at, self.openings if is_told else (*self.openings, opened_at)[-MOST_OPENINGS:]


class Rows(NamedTuple):
    """All that a state has of partitions, under the same names. A column that is added here is
    grown, joined and cut with the others.
    """

    latest: Int64
    windows: Windows
    track: Track | None
    onset: Onset | None
    reported: Int64 | None

    @classmethod
    def of(cls, state: GroupState) -> Rows:
        return cls(*(getattr(state, name) for name in cls._fields))

    @classmethod
    def joined(cls, states: Sequence[GroupState]) -> Rows:
        """Those of many groups, one after the other, to be changed in place."""
        sizes = [len(state.layout) for state in states]
        onsets = [None if state.onset is None else state.onset.marks for state in states]
        onset = _joined(onsets, len(Began), sizes)
        tracks = [state.track for state in states if state.track is not None]
        track = None
        if len(tracks) == len(states):  # where a group has none, none is of use
            marks = np.concatenate([each.marks for each in tracks], axis=1)
            track = Track(marks, np.concatenate([each.figures for each in tracks], axis=1))
        return cls(
            latest=np.concatenate([state.latest for state in states], axis=1),
            windows=Windows.joined([state.windows for state in states]),
            track=track,
            onset=None if onset is None else Onset(onset),
            reported=_joined([state.reported for state in states], len(Reported), sizes),
        )

    def take(self, rows: Int64, intervals: int) -> Rows:
        """A copy with these rows; a negative one is a partition of which nothing is known."""
        return Rows(
            latest=_taken(self.latest, rows),
            windows=self.windows.resized(intervals).take(rows),
            track=None if self.track is None else self.track.take(rows),
            onset=None if self.onset is None else self.onset.take(rows),
            reported=None if self.reported is None else _taken(self.reported, rows),
        )

    def part(self, rows: slice) -> Rows:
        """These rows; not a copy."""
        track, onset = self.track, self.onset
        return Rows(
            latest=self.latest[:, rows],
            windows=self.windows.part(rows),
            track=None if track is None else Track(track.marks[:, rows], track.figures[:, rows]),
            onset=None if onset is None else Onset(onset.marks[:, rows]),
            reported=None if self.reported is None else self.reported[:, rows],
        )


@dataclass(frozen=True, slots=True)
class GroupGone:
    """A group that was deleted or has expired: kept until no event before that can be replayed."""

    applied: Applied  # the event that ended it

    def as_of(self, now: int) -> GroupGone | None:
        """What counts of it at that time, Unix milliseconds: nothing where it is dated ahead."""
        return None if is_ahead(self.applied.observed_at, now) else self


def _joined(parts: Sequence[Int64 | None], columns: int, sizes: Sequence[int]) -> Int64 | None:
    """[column, partition], UNKNOWN for groups that have none; None where none has."""
    if all(part is None for part in parts):
        return None
    all_parts = [
        np.full((columns, size), UNKNOWN, np.int64) if part is None else part
        for part, size in zip(parts, sizes, strict=True)
    ]
    return np.concatenate(all_parts, axis=1)


def _taken(values: Int64, rows: Int64) -> Int64:
    """A copy of [column, partition] with these rows; a negative one is a partition that is new."""
    if not values.shape[1]:
        return np.full((len(values), len(rows)), UNKNOWN, np.int64)
    return np.where(rows >= 0, values[:, rows], UNKNOWN)
