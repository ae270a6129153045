"""Committed positions of a source that is asked: folded from one snapshot after the other."""

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from warren_wire.committed_offsets import CommittedOffsets, TopicOffsets

from warren_collector.positions.base import Positions
from warren_collector.positions.columns import NEVER_COMMITTED, Int64s
from warren_collector.positions.index import Group
from warren_collector.sources.polling import GONE_AFTER
from warren_collector.sources.source import Batch, Folded, Snapshot

_NONE = np.zeros(0, np.int64)


class ObservedPositions(Positions):
    """A commit is an offset that differs from the one observed before.

    Where the source does not say when that was, it is the time of the snapshot that shows it.
    """

    def __init__(
        self,
        accepts: Callable[[str], bool],
        shard_of: Callable[[str], int],
        accepts_topic: Callable[[str], bool] = lambda _topic: True,
    ) -> None:
        """`accepts` says whether a group is watched, `shard_of` which shard it is in."""
        super().__init__()
        self.rebuilt: set[int] = set()
        """Shards of which there was a snapshot."""
        self._accepts = accepts
        self._accepts_topic = accepts_topic
        self._shard_of = shard_of
        self._absences: Counter[str] = Counter()
        self._folded = Folded()

    def fold(self, _batch: Batch) -> Folded:
        """What became of the snapshots since the last call: this source has no records."""
        folded, self._folded = self._folded, Folded()
        return folded

    def drop_denied(self) -> None:
        """Nothing to do: the next snapshot shows it."""

    def release(self, partitions: Iterable[int]) -> None:
        released = list(partitions)
        super().release(released)
        self.rebuilt.difference_update(released)

    def observe(self, snapshot: Snapshot, owned: frozenset[int]) -> None:
        """Takes in what it says of the shards that are still `owned`."""
        shards = snapshot.shards & owned
        for name, topics in snapshot.groups.items():
            if self._shard_of(name) not in shards:
                continue
            if self._accepts(name):
                self._observe_group(name, topics, snapshot.read_at)
        self._remove_absent(snapshot, shards)
        self.rebuilt |= shards

    def _observe_group(self, name: str, topics: TopicOffsets, read_at: int) -> None:
        shard = self._shard_of(name)
        watched = {t: o for t, o in topics.items() if len(o.partition) and self._accepts_topic(t)}
        group = self.groups.get(shard, name)
        if group is None:
            if not watched:
                return
            group = self.groups.ensure(shard, name)
        for topic, offsets in watched.items():
            self._keep_only(group, topic, offsets.partition)
            self._observe_topic(group, topic, offsets, read_at)
        for topic in group.topics.keys() - watched.keys():
            self._keep_only(group, topic, _NONE)

    def _observe_topic(
        self, group: Group, topic: str, offsets: CommittedOffsets, read_at: int
    ) -> None:
        rows, is_new = self._rows(group, topic, offsets.partition)
        columns = self.columns
        differs = is_new | (columns.offset[rows] != offsets.offset)
        if offsets.committed_at is None:
            # Nobody knows how old a position is that was there before this collector was.
            is_rebuilt = group.source_partition in self.rebuilt
            counts = differs if is_rebuilt else differs & ~is_new
            committed_at = np.full(len(rows), read_at, np.int64)
        else:
            differs |= columns.committed_at[rows] != offsets.committed_at
            counts = differs
            committed_at = offsets.committed_at
        if not differs.any():
            return
        columns.fold(rows[differs], offsets.offset[differs], committed_at[differs])
        columns.count(rows[counts])
        self.groups.dirty[group.slot] = True
        self._folded.commits += int(counts.sum())

    def _rows(
        self, group: Group, topic: str, partitions: Int64s
    ) -> tuple[Int64s, NDArray[np.bool_]]:
        """The rows of these partitions, and which of them had none until now."""
        count = int(partitions.max()) + 1
        is_new = np.ones(len(partitions), np.bool_)
        known = group.topics.get(topic)
        if known is not None:
            is_new = known.rows(count)[partitions] == NEVER_COMMITTED
        for partition in partitions[is_new].tolist():
            self.add(group, topic, partition)
        return group.topics[topic].rows(count)[partitions], is_new

    def _keep_only(self, group: Group, topic: str, partitions: Int64s) -> None:
        """Removes what is known of other partitions of the topic."""
        known = group.topics.get(topic)
        if known is None:
            return
        for partition in known.by_partition.keys() - set(partitions.tolist()):
            self.remove(group, topic, partition)

    def _remove_absent(self, snapshot: Snapshot, shards: Iterable[int]) -> None:
        there = snapshot.unread.union(snapshot.groups)
        for shard in shards:
            for group in self.groups.of_partition(shard):
                name = group.name
                is_watched = self._accepts(name)
                if is_watched and name in there:
                    self._absences.pop(name, None)
                elif is_watched and not snapshot.is_complete:
                    continue
                else:
                    self._absences[name] += 1
                    if not is_watched or self._absences[name] >= GONE_AFTER:
                        self._absences.pop(name, None)
                        for topic in list(group.topics):
                            self._keep_only(group, topic, _NONE)
