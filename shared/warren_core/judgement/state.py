"""State: what the evaluator remembers of a group between two events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from warren.contracts.offset_event import OffsetEvent, SourceName
from warren.contracts.status import Status

from warren_core.evaluation import (
    UNKNOWN,
    Began,
    Bools,
    Column,
    GroupRules,
    Int64,
    Onset,
    PartitionRules,
    Track,
    Windows,
)
from warren_core.evaluation.commit_convention import Commits, last_processed
from warren_core.judgement import columns
from warren_core.judgement.columns import Latest, Layout, Told, unknown
from warren_core.judgement.lags import lag_of, least_lag_of, settled, unknown_of

Forgotten = Mapping[str, frozenset[int]]
"""Partitions, by topic, that are not known until they commit again: somebody asked for that."""

MADE_ANEW_AFTER_MS = 10 * 60_000
AHEAD_MS = 10 * 60_000
"""An event dated so long before one that is above it in the log shows that the other was ahead."""
MOST_OPENINGS = 6
ENOUGH_COMMITS = 4
"""Of a partition of which nothing was known: by then it goes on."""
_NO_POSITION = -1  # of a group that several sources know, too


@dataclass(frozen=True, slots=True)
class Applied:
    """The last event that was applied: tells replayed events from new ones.

    `source_offset` is its offset in `warren.offsets`; UNKNOWN where nobody remembers.
    """

    source: SourceName
    position: int
    observed_at: int
    source_offset: int = field(default=UNKNOWN, compare=False)

    @classmethod
    def by(cls, event: OffsetEvent, source_offset: int = UNKNOWN) -> Applied:
        return cls(event.source, event.position, event.observed_at, source_offset)

    def is_before(self, event: OffsetEvent, source_offset: int = UNKNOWN) -> bool:
        """Whether the event is newer.

        One at an earlier position is not, whatever its time: a collector that lost its partitions
        may say it. Only when that has gone on for long was `__consumer_offsets` made anew. Where
        the time decides, one that was dated far ahead does not: the log's order does then.
        """
        if self.source != event.source or _NO_POSITION in (self.position, event.position):
            is_newer = self.observed_at < event.observed_at
        elif event.position < self.position:
            return event.observed_at - self.observed_at > MADE_ANEW_AFTER_MS
        else:
            mine, other = (self.position, self.observed_at), (event.position, event.observed_at)
            is_newer = mine < other
        return is_newer or (self.was_ahead(event) and 0 <= self.source_offset < source_offset)

    def was_ahead(self, event: OffsetEvent) -> bool:
        """Whether, if the event is newer, this one had a time that was still to come."""
        return self.observed_at - event.observed_at > AHEAD_MS

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
    told: Int64 | None = None  # [Told, partition] as `columns` says; None where none is kept

    @classmethod
    def new(cls, applied: Applied, intervals: int) -> GroupState:
        return cls(
            applied=applied,
            status=Status.OK,
            opened_at=None,
            layout=Layout({}),
            latest=unknown(Latest, 0),
            windows=Windows.empty(0, intervals),
        )

    @property
    def last_processed(self) -> list[str]:
        """Topics in which the group commits the last offset that it has processed."""
        return last_processed(self.commits)

    @property
    def steps(self) -> Int64 | int:
        """From the committed offsets to those that are read next: [partition], or 0 for all."""
        return steps_of(self.layout, self.commits)

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

    @classmethod
    def of_incident(
        cls, applied: Applied, status: Status, opened_at: int | None, intervals: int
    ) -> GroupState:
        """Nothing is known but that: an open incident goes on, or will be closed under its id."""
        return replace(cls.new(applied, intervals), status=status, opened_at=opened_at)

    @property
    def is_incident_alone(self) -> bool:
        """Whether an incident is open of which nothing else is known."""
        return self.opened_at is not None and self.onset is None

    def followed_by(self, event: OffsetEvent) -> GroupState:
        """What counts of it once this newer event is there: not times and orders that cannot be
        compared with its own.
        """
        known = self._begun_anew() if self.applied.was_ahead(event) else self
        if known.applied.shares_order_with(event):
            return known
        windows = known.windows.copied()
        windows.forget_orders()
        return replace(known, windows=windows)

    def grown(self, event: OffsetEvent, rules: GroupRules) -> tuple[GroupState, PartitionRules]:
        """A copy with the event's partitions, which an update may change in place, and the rules by
        its rows. Nothing is known of partitions that are new.
        """
        named = {topic: positions.partition for topic, positions in event.topics.items()}
        layout = self.layout.after(event.removed, named)
        of_rows = PartitionRules.of(rules, layout.counts())
        rows = Rows.of(self).take(self.layout.rows_of(layout), of_rows.slots)
        if not event.part:
            rows = rows._replace(told=only_kept(rows.told))
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
        since = opened_at(self.opened_at, status, self.applied.observed_at)
        return replace(
            self,
            status=status,
            opened_at=since,
            onset=onset,
            openings=openings(self.openings, since),
        )

    def _begun_anew(self) -> GroupState:
        fresh = GroupState.of_incident(
            self.applied, self.status, self.opened_at, self.windows.intervals
        )
        return replace(fresh, forgotten=self.forgotten)


class Rows(NamedTuple):
    """All that a state has of partitions, under the same names. A column that is added here is
    grown, joined, cut and copied with the others.
    """

    latest: Int64
    windows: Windows
    track: Track | None
    onset: Onset | None
    told: Int64 | None

    @classmethod
    def of(cls, state: GroupState) -> Rows:
        return cls(*(getattr(state, name) for name in cls._fields))

    @classmethod
    def joined(cls, states: Sequence[GroupState]) -> Rows:
        """Those of many groups, one after the other, to be changed in place."""
        sizes = [len(state.layout) for state in states]
        onsets = [None if state.onset is None else state.onset.marks for state in states]
        onset = _joined(onsets, len(Began), sizes)
        return cls(
            latest=np.concatenate([state.latest for state in states], axis=1),
            windows=Windows.joined([state.windows for state in states]),
            track=_joined_tracks([state.track for state in states]),
            onset=None if onset is None else Onset(onset),
            told=_joined([state.told for state in states], len(Told), sizes),
        )

    def take(self, rows: Int64, intervals: int) -> Rows:
        """A copy with these rows; a negative one is a partition of which nothing is known."""
        return Rows(
            latest=_taken(self.latest, rows),
            windows=self.windows.resized(intervals).take(rows),
            track=None if self.track is None else self.track.take(rows),
            onset=None if self.onset is None else self.onset.take(rows),
            told=None if self.told is None else _taken(self.told, rows),
        )

    def copied(self) -> Rows:
        track, onset = self.track, self.onset
        return Rows(
            latest=self.latest.copy(),
            windows=self.windows.copied(),
            track=None if track is None else Track(track.marks.copy(), track.figures.copy()),
            onset=None if onset is None else Onset(onset.marks.copy()),
            told=None if self.told is None else self.told.copy(),
        )

    def part(self, rows: slice) -> Rows:
        """These rows; not a copy."""
        track, onset = self.track, self.onset
        return Rows(
            latest=self.latest[:, rows],
            windows=self.windows.part(rows),
            track=None if track is None else Track(track.marks[:, rows], track.figures[:, rows]),
            onset=None if onset is None else Onset(onset.marks[:, rows]),
            told=None if self.told is None else self.told[:, rows],
        )


@dataclass(frozen=True, slots=True)
class GroupGone:
    """A group that was deleted or has expired: kept until no event before that can be replayed.

    `source_offset` is the offset in `warren.offsets` of the event that ended it.
    """

    applied: Applied
    source_offset: int

    @classmethod
    def by(cls, event: OffsetEvent, source_offset: int) -> GroupGone:
        return cls(Applied.by(event, source_offset), source_offset)


def _joined(parts: Sequence[Int64 | None], columns: int, sizes: Sequence[int]) -> Int64 | None:
    """[column, partition], UNKNOWN for groups that have none; None where none has."""
    if all(part is None for part in parts):
        return None
    unknown_ = (np.full((columns, size), UNKNOWN, np.int64) for size in sizes)
    both = zip(parts, unknown_, strict=True)
    return np.concatenate([less if part is None else part for part, less in both], axis=1)


def _joined_tracks(tracks: Sequence[Track | None]) -> Track | None:
    """None where a group has none."""
    known = [track for track in tracks if track is not None]
    if len(known) < len(tracks):
        return None
    marks = np.concatenate([track.marks for track in known], axis=1)
    return Track(marks, np.concatenate([track.figures for track in known], axis=1))


def _taken(values: Int64, rows: Int64) -> Int64:
    """A copy of [column, partition] with these rows; a negative one is a partition that is new."""
    if not values.shape[1]:
        return np.full((len(values), len(rows)), UNKNOWN, np.int64)
    some = values[:, rows]
    if (missing := rows < 0).any():
        some[:, missing] = UNKNOWN
    return some


def only_kept(told: Int64 | None) -> Int64 | None:
    """Of [Told, partition] what is kept once an observation is whole; None where that is none."""
    if told is None or not columns.KEPT:
        return None
    return np.where(np.isin(np.arange(len(Told)), list(columns.KEPT))[:, None], told, UNKNOWN)


def steps_of(layout: Layout, commits: Commits) -> Int64 | int:
    """[partition], or 0 for all."""
    topics = last_processed(commits)
    return layout.marked(topics) if topics else 0


def unsure_of(layout: Layout, commits: Commits) -> Int64 | int:
    """[partition] 1 where nobody knows yet what is committed: one record may be left on purpose."""
    topics = [t for t in layout.ranges if t not in commits or commits[t].convention is None]
    return layout.marked(topics) if topics else 0


def opened_at(previous: int | None, status: Status, now_ms: int) -> int | None:
    """When the incident that is open now began; None when the group is OK."""
    if status is Status.OK:
        return None
    return now_ms if previous is None else previous


def openings(known: tuple[int, ...], opened: int | None) -> tuple[int, ...]:
    """When the last incidents opened, with that of the one that is open now."""
    if opened is None or (known and known[-1] == opened):
        return known
    return (*known, opened)[-MOST_OPENINGS:]
