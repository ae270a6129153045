"""The offset events of one group: its positions next to where the logs begin and end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from warren.contracts import EarlierPositions, OffsetEvent, SourceName, TopicPositions

from warren_collector.logs.ends import UNKNOWN, LogEnds, TopicLog
from warren_collector.logs.watch import LogHistory
from warren_collector.positions.columns import (
    NEVER_COMMITTED,
    NO_OFFSET,
    Int64s,
    PositionColumns,
)
from warren_collector.positions.earlier_commits import EarlierCommits
from warren_collector.positions.index import UNTOLD, Group, Owned, TopicRows

NO_POSITION = -1
EVENT_PARTITIONS = 5_000  # most partitions in one event; larger groups are split over several
_NONE = np.zeros(0, np.int64)
_NO_LOG = TopicLog(_NONE, _NONE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where events come from, the same for all of a collector's."""

    cluster: str
    source: SourceName
    event_partitions: int
    """Most partitions in one event."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A topic's positions, or some of them; one entry per partition. `row`: of PositionColumns."""

    row: Int64s
    partition: Int64s
    committed: Int64s
    committed_at: Int64s
    commits: Int64s
    log_start: Int64s
    log_end: Int64s
    leader: Int64s | None = None
    last_stable: Int64s | None = None
    owned: Int64s | None = None

    def __len__(self) -> int:
        return len(self.partition)

    def part(self, start: int, end: int) -> Columns:
        cut = slice(start, end)
        return Columns(
            self.row[cut],
            self.partition[cut],
            self.committed[cut],
            self.committed_at[cut],
            self.commits[cut],
            self.log_start[cut],
            self.log_end[cut],
            None if self.leader is None else self.leader[cut],
            None if self.last_stable is None else self.last_stable[cut],
            None if self.owned is None else self.owned[cut],
        )

    def to_contract(self) -> TopicPositions:
        # Equal lengths and allowed values hold by construction: checking costs twice the rest.
        return TopicPositions.model_construct(
            partition=self.partition.tolist(),
            committed=self.committed.tolist(),
            committed_at=self.committed_at.tolist(),
            commits=self.commits.tolist(),
            log_start=self.log_start.tolist(),
            log_end=self.log_end.tolist(),
            leader=None if self.leader is None else self.leader.tolist(),
            last_stable=None if self.last_stable is None else self.last_stable.tolist(),
            owned=None if self.owned is None else self.owned.tolist(),
        )


@dataclass(frozen=True, slots=True)
class Past:
    """What is told of positions with their first event."""

    ends: LogHistory
    commits: EarlierCommits

    def of(
        self, topics: dict[str, Columns], columns: PositionColumns
    ) -> dict[str, EarlierPositions] | None:
        """None when all were told before, as nearly always."""
        found: dict[str, EarlierPositions] = {}
        for topic, listed in topics.items():
            published = columns.published[listed.row]
            if not published.all():
                new = (~published).nonzero()[0]
                partition = listed.partition[new]
                offset, committed_at = self.commits.of(listed.row[new], listed.committed[new])
                found[topic] = EarlierPositions.model_construct(
                    partition=partition.tolist(),
                    log_end=self.ends.of(topic, partition),
                    committed=offset,
                    committed_at=committed_at,
                )
        return found or None


@dataclass(slots=True)
class GroupEvents:
    """What is to be published about a group, and what to remember once it is."""

    group: Group
    events: list[OffsetEvent]
    rows: list[Int64s] = field(default_factory=list)
    gone: list[tuple[TopicRows, frozenset[int]]] = field(default_factory=list)


def group_events(
    group: Group,
    columns: PositionColumns,
    ends: LogEnds,
    origin: Origin,
    position: int,
    observed_at: int,
    past: Past | None = None,
    state: str | None = None,
    offsets_retention_ms: int = UNTOLD,
    is_watched: Callable[[str, str], bool] = lambda _group, _topic: True,
) -> GroupEvents:
    """One event, or several for a group that is too big for one.

    Later parts are observed 1 ms later each, so that (position, observed_at) grows.
    `position`: offset of the offsets topic up to which this group's records are folded in. `state`:
    the group's, where it has members that one knows of. `offsets_retention_ms`: so long the cluster
    keeps an offset at least. `is_watched`: a group's topic.
    """
    result = GroupEvents(group, [])
    source = group.source or origin.source
    if group.is_shared or source != "offsets_topic":
        position = NO_POSITION  # commits of two sources have only their time in common
    removed = group.deletions()
    has_expired = bool(removed) and offsets_retention_ms <= group.idle_ms < UNTOLD
    topics: dict[str, Columns] = {}
    for topic, rows in group.topics.items():
        listed, gone = _positions(topic, rows, columns, ends, result)
        if gone - rows.gone:
            removed[topic] = sorted({*removed.get(topic, []), *(gone - rows.gone)})
        result.gone.append((rows, gone))
        if len(listed):
            topics[topic] = with_owners(listed, topic, group.owned)
    topics |= _only_owned(group, columns, ends)
    if not topics and not removed:
        return result  # all of its topics are gone, and that was published
    is_left_out = bool(removed) and not any(is_watched(group.name, topic) for topic in removed)
    parts = list(_parts(topics, origin.event_partitions))
    for number, part in enumerate(parts):
        result.events.append(
            OffsetEvent(
                cluster=origin.cluster,
                group=group.name,
                source=source,
                observed_at=observed_at + number,
                position=position,
                topics={topic: some.to_contract() for topic, some in part.items()},
                earlier=past.of(part, columns) if past else None,
                group_state=state,
                removed={} if number else removed,
                expired_after_ms=offsets_retention_ms if has_expired and not number else None,
                unwatched=is_left_out and not number,
                deleted=not topics,
                part=number,
                parts=len(parts),
            )
        )
    return result


def _positions(
    topic: str, rows: TopicRows, columns: PositionColumns, ends: LogEnds, result: GroupEvents
) -> tuple[Columns, frozenset[int]]:
    """The topic's partitions, and those committed ones that the cluster does not have."""
    log = ends.topics.get(topic)
    if topic in ends.missing:
        return _columns(_NONE, _NONE, columns, _NO_LOG), frozenset(rows.by_partition)
    if log is None:  # nothing is known of the topic now: only what was committed is
        partitions = np.array(sorted(rows.by_partition), np.int64)
        chosen = np.array([rows.by_partition[p] for p in partitions.tolist()], np.int64)
        unknown = np.full(len(partitions), UNKNOWN, np.int64)
        result.rows.append(chosen)
        return _columns(partitions, chosen, columns, TopicLog(unknown, unknown)), rows.gone
    count = len(log.end)
    chosen = rows.rows(count)
    result.rows.append(chosen)
    gone = frozenset[int]()
    if rows.highest >= count:
        gone = frozenset(partition for partition in rows.by_partition if partition >= count)
    return _columns(np.arange(count), chosen, columns, log), gone


def _only_owned(group: Group, columns: PositionColumns, ends: LogEnds) -> dict[str, Columns]:
    """Of topics of which nothing is committed, the partitions that members own."""
    found = {}
    for topic in group.owned.partitions.keys() - group.topics.keys() - ends.missing:
        partitions = np.array(sorted(group.owned.partitions[topic]), np.int64)
        log = ends.topics.get(topic, _NO_LOG)
        log = log.of(partitions[partitions < len(log.end)], len(partitions))
        nobody = np.full(len(partitions), NEVER_COMMITTED, np.int64)
        found[topic] = with_owners(_columns(partitions, nobody, columns, log), topic, group.owned)
    return found


def with_owners(listed: Columns, topic: str, owned: Owned) -> Columns:
    """The columns with what is owned of it where nothing is committed."""
    nobody = listed.committed < 0
    if owned.by_members is None or not nobody.any():
        return listed
    mine = owned.partitions.get(topic, ()) if owned.by_members else ()
    is_owned = np.isin(listed.partition, list(mine))
    return replace(listed, owned=np.where(nobody, is_owned, UNKNOWN))


def _columns(partitions: Int64s, rows: Int64s, columns: PositionColumns, log: TopicLog) -> Columns:
    committed = columns.offset[rows]
    # Kafka takes a negative offset for "none", whoever commits it.
    is_none = committed < 0
    return Columns(
        row=rows,
        partition=partitions,
        committed=np.where(is_none, NO_OFFSET, committed),
        committed_at=np.where(is_none, NO_OFFSET, columns.committed_at[rows]),
        commits=np.where(is_none, 0, columns.commits[rows]),
        log_start=log.start,
        log_end=log.end,
        leader=log.leader,
        last_stable=_below(log.last_stable, committed, log.end),
    )


def _below(last_stable: Int64s | None, committed: Int64s, end: Int64s) -> Int64s | None:
    """Only where the group has something left to read."""
    if last_stable is None:
        return None
    stable = np.where((committed >= 0) & (committed < end), last_stable, UNKNOWN)
    return None if (stable == UNKNOWN).all() else stable


def _parts(topics: dict[str, Columns], most: int) -> Iterator[dict[str, Columns]]:
    """At least one part, even if it is empty; a topic is cut only if it is too big by itself."""
    part: dict[str, Columns] = {}
    room = most
    for topic, columns in topics.items():
        if part and len(columns) > room:
            yield part
            part, room = {}, most
        rest = columns
        while len(rest) > most:
            yield {topic: rest.part(0, most)}
            rest = rest.part(most, len(rest))
        part[topic] = rest
        room -= len(rest)
    yield part
