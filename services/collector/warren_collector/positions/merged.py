"""Positions of several sources as one: a group seen by two is one group, the newest commit wins."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from warren.contracts.offset_event import SourceName

from warren_collector.positions.base import Positions
from warren_collector.positions.index import NEVER, Group
from warren_collector.sources.source import Batch, Folded


class Part(NamedTuple):
    """One source's positions. All parts have a group in the same partition (or shard)."""

    source: SourceName
    positions: Positions


class _Commit(NamedTuple):
    """Newer ones compare greater; of equally old ones that of the source named first does."""

    committed_at: int
    precedence: int
    offset: int
    commits: int


class MergedPositions(Positions):
    """Kept up to date from its parts whenever it is asked what is due; no clock, no I/O.

    A position that one source gives up is that of the others again.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__()
        self._parts = parts

    def fold(self, batch: Batch) -> Folded:
        """The batch is of the first source: the offsets topic, if that is one of them."""
        first, *others = self._parts
        folded = first.positions.fold(batch)
        for part in others:
            folded.commits += part.positions.fold(batch).commits
        return folded

    def drop_denied(self) -> None:
        for part in self._parts:
            part.positions.drop_denied()

    def due(self, last_heartbeat: float) -> list[Group]:
        changed = [part.positions.due(NEVER) for part in self._parts]
        for partition, name in dict.fromkeys(
            (group.source_partition, group.name) for groups in changed for group in groups
        ):
            self._merge(partition, name)
        for part, groups in zip(self._parts, changed, strict=True):
            rows = [np.fromiter(group.all_rows(), np.int64) for group in groups]
            part.positions.published(groups, rows, 0.0)
        return super().due(last_heartbeat)

    def _merge(self, partition: int, name: str) -> None:
        """Makes the group what its parts say now."""
        newest: dict[tuple[str, int], _Commit] = {}
        holders: dict[SourceName, _Commit] = {}
        group = self.groups.ensure(partition, name)
        for precedence, part in enumerate(reversed(self._parts)):
            known = part.positions.groups.get(partition, name)
            if known is None:
                continue
            for topic, gone in known.removed.items():
                for number in gone:
                    group.removes(topic, number, known.idle_ms)
            for position, commit in _commits(known, part.positions, precedence):
                newest[position] = max(commit, newest.get(position, commit))
                holders[part.source] = max(commit, holders.get(part.source, commit))
        self._take(group, newest)
        if holders:
            group.source = max(holders.items(), key=lambda holder: holder[1])[0]
        group.is_shared = len(holders) > 1
        self.groups.dirty[group.slot] = True
        if group.is_empty and not group.removed:
            self.groups.forget(group)

    def _take(self, group: Group, newest: dict[tuple[str, int], _Commit]) -> None:
        for topic, rows in list(group.topics.items()):
            for partition in list(rows.by_partition):
                if (topic, partition) not in newest:
                    self.remove(group, topic, partition)
        columns = self.columns
        for (topic, partition), commit in newest.items():
            row = group.row(topic, partition)
            if row is None:
                row = self.add(group, topic, partition)
            columns.offset[row] = commit.offset
            columns.committed_at[row] = commit.committed_at
            columns.commits[row] += commit.commits


def _commits(
    group: Group, positions: Positions, precedence: int
) -> list[tuple[tuple[str, int], _Commit]]:
    columns = positions.columns
    return [
        (
            (topic, partition),
            _Commit(
                int(columns.committed_at[row]),
                precedence,
                int(columns.offset[row]),
                int(columns.commits[row]),
            ),
        )
        for topic, rows in group.topics.items()
        for partition, row in rows.by_partition.items()
    ]
