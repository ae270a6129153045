"""State: what the evaluator remembers of a group between two events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
from warren.contracts.offset_event import OffsetEvent, SourceName
from warren.contracts.status import Status

from warren_core.evaluation import UNKNOWN, Int64, Onset, Track, Windows
from warren_core.evaluation.commit_convention import Commits, last_processed
from warren_core.judgement.layout import Layout

Forgotten = Mapping[str, frozenset[int]]
"""Partitions, by topic, that are not known until they commit again: somebody asked for that."""

MADE_ANEW_AFTER_MS = 10 * 60_000
AHEAD_MS = 10 * 60_000
"""An event dated so long before one that is above it in the log shows that the other was ahead."""
_NO_POSITION = -1  # of a group that several sources know, too


class Latest(IntEnum):
    """The newest that was observed of each partition; UNKNOWN (-1) as in the events."""

    COMMITTED = 0
    COMMITTED_AT = 1
    LOG_START = 2
    LOG_END = 3


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
    logs: Int64 | None = None  # [LogColumn, partition] told by parts, until the last one is there

    @classmethod
    def new(cls, applied: Applied, intervals: int) -> GroupState:
        return cls(
            applied=applied,
            status=Status.OK,
            opened_at=None,
            layout=Layout({}),
            latest=np.full((len(Latest), 0), UNKNOWN, np.int64),
            windows=Windows.empty(0, intervals),
        )

    @property
    def last_processed(self) -> list[str]:
        """Topics in which the group commits the last offset that it has processed."""
        return last_processed(self.commits)

    @property
    def steps(self) -> Int64 | int:
        """From the committed offsets to those that are read next: [partition], or 0 for all."""
        topics = self.last_processed
        return self.layout.marked(topics) if topics else 0

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

    def begun_anew(self) -> GroupState:
        """The same without what was observed: its times cannot be compared with those to come."""
        fresh = GroupState.of_incident(
            self.applied, self.status, self.opened_at, self.windows.intervals
        )
        return replace(fresh, forgotten=self.forgotten)


@dataclass(frozen=True, slots=True)
class GroupGone:
    """A group that was deleted or has expired: kept until no event before that can be replayed.

    `source_offset` is the offset in `warren.offsets` of the event that ended it.
    """

    applied: Applied
    source_offset: int
