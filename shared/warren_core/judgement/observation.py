"""Observation: offset events' lists as columns, laid out by row.

Assumption: what an observation does to assumed commits; see `lags`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from warren.contracts.offset_event import OffsetEvent, TopicPositions
from warren.errors import ContractViolation
from warren.words import LATEST_MOMENT  # keeps differences of times within 64 bits, too

from warren_core.evaluation import MAX_TIME, UNKNOWN, Column, Int64, Track, Windows, presence_of
from warren_core.judgement.columns import Latest, Layout, Told, unknown

MAX_PARTITION = 2**31 - 1
MOST_PARTITIONS = 1_000_000  # of a topic, for who has a row for each number: a cluster has fewer

_MOVED = (*(column.field for column in Latest), "commits")
Topics = Sequence[tuple[str, TopicPositions]]


@dataclass(frozen=True, slots=True)
class Observation:
    """What one event says of N partitions, or what one event of each of several groups does."""

    topics: Topics  # one after the other, the partitions of all
    rows: Int64  # [N]
    latest: Int64  # [Latest, N]
    commits: Int64  # [N] how many are folded into this event
    at: int | Int64  # when it was observed: for all, or [N]
    order: int | Int64  # of its commits among those of their partition: for all, or [N]
    presence: int | Int64  # of members: a Presence, for all, or [N]

    last_stable: int | Int64  # for all, or [N]; UNKNOWN where it was not asked for
    partitions: int  # of the layout
    before: Int64 | None = None  # [Told, partition of the layout] as told before, by other parts

    @property
    def told(self) -> Int64:
        """[Told, partition of the layout] Raises ContractViolation."""
        told = unknown(Told, self.partitions) if self.before is None else self.before
        start = 0
        for topic, positions in self.topics:
            rows = self.rows[start : start + len(positions.partition)]
            start += len(rows)
            for column in Told:
                values = getattr(positions, column.field)
                if values is not None:
                    told[column, rows] = _column([(topic, positions)], column.field, [values])
        return told


def check_ranges(event: OffsetEvent) -> None:
    """Raises ContractViolation for numbers that Kafka cannot have meant."""
    if not 0 <= event.observed_at <= LATEST_MOMENT:
        raise ContractViolation(f"observed_at: {event.observed_at} is no Unix time in milliseconds")
    if event.position >= 2**63:
        raise ContractViolation("position: beyond 64 bits")
    for topic, positions in event.topics.items():
        if positions.partition and max(positions.partition) > MAX_PARTITION:
            raise ContractViolation(f"topics.{topic}.partition: beyond 32 bits")


def check_columns(event: OffsetEvent) -> None:
    """For who has no `observe`. Raises ContractViolation for a column that is beyond 64 bits, and
    for a partition that no topic has.
    """
    for topic, positions in event.topics.items():
        if positions.partition and max(positions.partition) >= MOST_PARTITIONS:
            problem = f"no topic has {max(positions.partition)} partitions"
            raise ContractViolation(f"topics.{topic}.partition: {problem}")
    _moved(list(event.topics.items()))


def observe(event: OffsetEvent, layout: Layout, before: Int64 | None = None) -> Observation:
    """The layout must have all partitions of the event; `before`: [Told, partition], changed in
    place. Raises ContractViolation.
    """
    topics = list(event.topics.items())
    return Observation(
        topics,
        layout.all_rows({topic: positions.partition for topic, positions in topics}),
        *_moved(topics),
        event.observed_at,
        order_of(event),
        presence_of(event.group_state),
        _optional(topics, Told.LAST_STABLE),
        len(layout),
        before,
    )


def observe_together(
    events: Sequence[OffsetEvent], layouts: Sequence[Layout], starts: Int64, named: Sequence[int]
) -> Observation:
    """Of an event of each group, whose rows begin at `starts`; `named`: how many partitions each
    tells of. Raises ContractViolation.
    """
    now = np.array([event.observed_at for event in events])
    if not 0 <= int(now.min()) <= int(now.max()) <= LATEST_MOMENT:
        raise ContractViolation("observed_at: no Unix time in milliseconds")
    topics = [item for event in events for item in event.topics.items()]
    return Observation(
        topics,
        _rows(events, layouts, starts),
        *_moved(topics),
        np.repeat(now, named),
        np.repeat(_orders(events), named),
        np.repeat(np.array([presence_of(event.group_state) for event in events], np.int64), named),
        _optional(topics, Told.LAST_STABLE),
        sum(map(len, layouts)),
    )


def order_of(event: OffsetEvent) -> int:
    """What orders the commits of an event among those of others of the same source."""
    return event.observed_at if event.position < 0 else event.position


def _orders(events: Sequence[OffsetEvent]) -> Int64:
    """Raises ContractViolation."""
    try:
        return np.array([order_of(event) for event in events], np.int64)
    except OverflowError as error:
        raise ContractViolation("position: beyond 64 bits") from error


def _moved(topics: Topics) -> tuple[Int64, Int64]:
    """[Latest, N], and commits, [N]. Commit times are the clients' own; silly ones must not wrap
    around when they are subtracted. Raises ContractViolation.
    """
    lists = [[getattr(each, name) for _, each in topics] for name in _MOVED]
    try:
        moved = np.array([list(chain.from_iterable(each)) for each in lists], np.int64)
    except OverflowError:
        for name, each in zip(_MOVED, lists, strict=True):
            _column(topics, name, each)  # says which
        raise
    latest = moved[:-1]
    np.clip(latest[Latest.COMMITTED_AT], -MAX_TIME, MAX_TIME, out=latest[Latest.COMMITTED_AT])
    return latest, moved[-1]


def _optional(topics: Topics, column: Told) -> int | Int64:
    """For all, or [N]; UNKNOWN where it was not told. Raises ContractViolation."""
    lists = [getattr(positions, column.field) for _, positions in topics]
    if all(values is None for values in lists):
        return UNKNOWN
    sizes = [len(positions.partition) for _, positions in topics]
    padded = [v or [UNKNOWN] * size for v, size in zip(lists, sizes, strict=True)]
    return _column(topics, column.field, padded)


def _column(topics: Topics, name: str, lists: Sequence[list[int]]) -> Int64:
    """[N]. Raises ContractViolation."""
    try:
        return np.array(list(chain.from_iterable(lists)), np.int64)
    except OverflowError as error:
        silly = (
            topic
            for (topic, _), values in zip(topics, lists, strict=True)
            if not -(2**63) <= min(values, default=0) <= max(values, default=0) < 2**63
        )
        raise ContractViolation(f"topics.{next(silly)}.{name}: beyond 64 bits") from error


def _rows(events: Sequence[OffsetEvent], layouts: Sequence[Layout], starts: Int64) -> Int64:
    """Of what the events say, in their order. Most say it of all partitions."""
    both = list(zip(events, layouts, strict=True))
    if all(_is_whole(event, layout) for event, layout in both):
        return np.arange(sum(map(len, layouts)))
    rows: Iterable[Int64] = (
        layout.rows(topic, positions.partition) + start
        for (event, layout), start in zip(both, starts.tolist(), strict=True)
        for topic, positions in event.topics.items()
    )
    return np.concatenate([np.zeros(0, np.int64), *rows])


def _is_whole(event: OffsetEvent, layout: Layout) -> bool:
    """Whether it tells of all partitions, in the order of the rows."""
    if len(event.topics) != len(layout.topics):
        return False
    pairs = zip(event.topics.items(), layout.topics.items(), strict=True)
    for (topic, positions), (known, partitions) in pairs:
        if topic != known or tuple(positions.partition) != partitions:
            return False
    return True


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
    seen_at = np.broadcast_to(observation.at, observation.rows.shape)[nobody][level]
    windows.columns[[[Column.COMMITTED_AT], [Column.OBSERVED_AT]], rows[level], -1] = seen_at
    windows.columns[Column.LAG, rows, -1] = UNKNOWN
    windows.filled[rows[level]] = 1
    latest = observation.latest.copy()
    latest[Latest.COMMITTED, nobody] = np.where(
        windows.filled[rows] > 0, windows.newest(Column.OFFSET)[rows], UNKNOWN
    )
    return replace(observation, latest=latest)
