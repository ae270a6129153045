"""Observation: offset events' lists as columns, laid out by row.

Assumption: what an observation does to assumed commits; see `lags`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from warren.contracts.offset_event import OffsetEvent, TopicPositions
from warren.errors import ContractViolation

from warren_core.evaluation import MAX_TIME, UNKNOWN, Column, Int64, Track, Windows, presence_of
from warren_core.judgement.columns import Latest, Reported, slices, unknown
from warren_core.judgement.state import GroupState

Topics = Sequence[tuple[str, TopicPositions]]


class Observed(NamedTuple):
    """A group that is observed, perhaps with others in the same columns."""

    event: OffsetEvent
    state: GroupState  # of before, with all partitions of the event
    rows: slice  # its partitions
    named: slice  # those of the event, in the observation


@dataclass(frozen=True, slots=True)
class Observation:
    """What an event of each of some groups says, of N partitions in all."""

    topics: Topics  # one after the other, the partitions of all
    rows: Int64  # [N]
    latest: Int64  # [Latest, N]
    commits: Int64  # [N] how many are folded into this event
    at: Int64  # [N] when it was observed
    order: Int64  # [N] of its commits among those of their partition
    presence: Int64  # [N] of members: a Presence
    group: Int64  # [N] which of the groups it is
    last_stable: int | Int64  # for all, or [N]; UNKNOWN where it was not asked for
    before: Int64  # [Reported, partition of the groups] by other parts; `reported` adds to it

    @property
    def reported(self) -> Int64:
        """[Reported, partition of the groups] Raises ContractViolation."""
        start = 0
        for topic, positions in self.topics:
            rows = self.rows[start : start + len(positions.partition)]
            start += len(rows)
            for column in Reported:
                if getattr(positions, column.field) is not None:
                    self.before[column, rows] = _column([(topic, positions)], column.field)
        return self.before


def check_ranges(event: OffsetEvent) -> None:
    """Raises ContractViolation for numbers that Kafka cannot have meant."""
    if event.position >= 2**63:
        raise ContractViolation("position: beyond 64 bits")


def check_columns(event: OffsetEvent) -> None:
    """For who has no `observe`. Raises ContractViolation for a column that is beyond 64 bits."""
    _moved(list(event.topics.items()))


def observed(events: Sequence[OffsetEvent], states: Sequence[GroupState]) -> list[Observed]:
    """The groups, one after the other."""
    named = [sum(len(each.partition) for each in event.topics.values()) for event in events]
    rows = slices(len(state.layout) for state in states)
    return [Observed(*of) for of in zip(events, states, rows, slices(named), strict=True)]


def observe(groups: Sequence[Observed], before: Int64 | None = None) -> Observation:
    """`before`: [Reported, partition], changed in place. Raises ContractViolation."""
    topics = [item for group in groups for item in group.event.topics.items()]
    of_groups = np.array(
        [
            [group.event.observed_at for group in groups],
            [order_of(group.event) for group in groups],
            [presence_of(group.event.group_state) for group in groups],
            range(len(groups)),
        ],
        np.int64,
    )
    named = [group.named.stop - group.named.start for group in groups]
    has_stable = any(positions.last_stable is not None for _, positions in topics)
    at, order, presence, number = np.repeat(of_groups, named, axis=1)
    return Observation(
        topics,
        _rows(groups),
        *_moved(topics),
        at=at,
        order=order,
        presence=presence,
        group=number,
        last_stable=_column(topics, Reported.LAST_STABLE.field) if has_stable else UNKNOWN,
        before=unknown(Reported, groups[-1].rows.stop) if before is None else before,
    )


def order_of(event: OffsetEvent) -> int:
    """What orders the commits of an event among those of others of the same source."""
    return event.observed_at if event.position < 0 else event.position


def _moved(topics: Topics) -> tuple[Int64, Int64]:
    """[Latest, N], and commits, [N]. Commit times are the clients' own; silly ones must not wrap
    around when they are subtracted. Raises ContractViolation.
    """
    latest = np.array([_column(topics, column.field) for column in Latest])
    np.clip(latest[Latest.COMMITTED_AT], -MAX_TIME, MAX_TIME, out=latest[Latest.COMMITTED_AT])
    return latest, _column(topics, "commits")


def _column(topics: Topics, name: str) -> Int64:
    """[N], UNKNOWN where it was not told. Raises ContractViolation."""
    lists = [getattr(each, name) or [UNKNOWN] * len(each.partition) for _, each in topics]
    try:
        return np.array(list(chain.from_iterable(lists)), np.int64)
    except OverflowError as error:
        silly = (
            topic
            for (topic, _), values in zip(topics, lists, strict=True)
            if not -(2**63) <= min(values, default=0) <= max(values, default=0) < 2**63
        )
        raise ContractViolation(f"topics.{next(silly)}.{name}: beyond 64 bits") from error


def _rows(groups: Sequence[Observed]) -> Int64:
    """Of what the events say, in their order. Most say it of all partitions."""
    if all(
        [(topic, tuple(each.partition)) for topic, each in event.topics.items()]
        == [*state.layout.topics.items()]
        for event, state, _, _ in groups
    ):
        return np.arange(groups[-1].rows.stop)
    rows = [
        state.layout.rows(topic, positions.partition) + own.start
        for event, state, own, _ in groups
        for topic, positions in event.topics.items()
    ]
    return np.concatenate([np.zeros(0, np.int64), *rows])


def give_way(
    latest: Int64, windows: Windows, track: Track | None, observation: Observation
) -> None:
    """Forget commits of one kind where those of the other kind come, made or assumed. `latest`: of
    before the observation.
    """
    was_none = latest[Latest.COMMITTED, observation.rows] < 0
    changed = was_none != (observation.latest[Latest.COMMITTED] < 0)
    if not changed.any():  # as nearly always
        return
    rows = observation.rows[changed]
    windows.clear_commits(rows)
    if track is not None:
        track.clear(rows)


def assume(windows: Windows, observation: Observation) -> Observation:
    """Keep assumed commits in the windows, which have all others of the observation already. The
    observation with their offsets.
    """
    nobody = observation.latest[Latest.COMMITTED] < 0
    if not nobody.any():  # as mostly
        return observation
    rows, log_end = observation.rows[nobody], observation.latest[Latest.LOG_END, nobody]
    is_new = windows.filled[rows] == 0
    level = (log_end >= 0) & (is_new | (log_end <= windows.newest(Column.OFFSET)[rows]))
    windows.columns[Column.OFFSET, rows, -1] = np.where(
        level & is_new, log_end, windows.newest(Column.OFFSET)[rows]
    )
    seen_at = observation.at[nobody][level]
    windows.columns[[[Column.COMMITTED_AT], [Column.OBSERVED_AT]], rows[level], -1] = seen_at
    windows.columns[Column.LAG, rows, -1] = UNKNOWN
    windows.filled[rows[level]] = 1
    latest = observation.latest.copy()
    latest[Latest.COMMITTED, nobody] = np.where(
        windows.filled[rows] > 0, windows.newest(Column.OFFSET)[rows], UNKNOWN
    )
    return replace(observation, latest=latest)
