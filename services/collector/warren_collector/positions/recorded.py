"""Committed positions, folded from the records of the offsets topic: the newest of each wins."""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress, repeat
from typing import NamedTuple, Protocol, cast

import numpy as np
from warren.errors import MalformedRecord
from warren_wire.records import (
    NULL_KEY,
    OFFSET_COMMIT,
    Buffer,
    Malformed,
    OffsetCommitKey,
    OffsetCommitValue,
    Skipped,
    decode_commit_values,
    decode_offset_value,
    ends_with_partition,
    is_group_key,
    malformed_key,
    read_key_version,
    read_offset_commit_key,
    split_offset_commit_key,
)

from warren_collector.positions.base import Positions
from warren_collector.positions.columns import NO_OFFSET, Int64s
from warren_collector.sources.source import Batch, Folded

# Stand for rows where a key has none. Rows themselves are greater than 0.
_UNSEEN = -1
_DENIED = -2
_UNUSABLE = -3
_OF_GROUP = -4


class _Place(NamedTuple):
    """What the keys of one group and topic have in common."""

    group: str
    topic: str
    is_watched: bool


_Places = dict[bytes, _Place]
"""By all of a key but its partition; for one batch."""


class RecordsOfGroups(Protocol):
    """What takes in the records that are not about positions but about groups."""

    def fold(self, batch: Batch, indexes: Sequence[int], folded: Folded) -> None:
        """`indexes` are those records' in the batch."""

    def drop_denied(self) -> None: ...

    def release(self, partitions: Iterable[int]) -> None: ...


class RecordedPositions(Positions):
    """State of the source partitions that this collector owns; no clock, no I/O."""

    def __init__(
        self,
        states: RecordsOfGroups,
        accepts: Callable[[str], bool],
        accepts_topic: Callable[[str], bool] = lambda _topic: True,
    ) -> None:
        """`states` are of the same groups. `accepts` and `accepts_topic` say whether a group or
        topic is watched; they are asked once per key.
        """
        super().__init__()
        self._states = states
        self._accepts = accepts
        self._accepts_topic = accepts_topic
        self._row_of_key: dict[bytes | None, int] = {}

    def fold(self, batch: Batch) -> Folded:
        folded = Folded()
        rows = self._known_rows(batch.keys)
        unseen = (rows == _UNSEEN).nonzero()[0].tolist()
        of_groups = [index for index in unseen if is_group_key(batch.keys[index])]
        tombstones = batch.tombstones()
        if of_groups:
            rows[of_groups] = _OF_GROUP
            self._states.fold(batch, of_groups, folded)
            tombstones = [index for index in tombstones if rows[index] != _OF_GROUP]
        start = 0
        looked_up: Int64s | None = rows
        for tombstone in tombstones:
            self._fold_commits(batch, start, tombstone, looked_up, folded)
            self._fold_tombstone(batch, tombstone, folded)
            start, looked_up = tombstone + 1, None  # the rows may be others' now
        self._fold_commits(batch, start, len(batch), looked_up, folded)
        return folded

    def _known_rows(self, keys: Sequence[bytes | None]) -> Int64s:
        return np.fromiter(map(self._row_of_key.get, keys, repeat(_UNSEEN)), np.int64, len(keys))

    def release(self, partitions: Iterable[int]) -> None:
        """Forgets all that some source partitions said: another collector owns them now."""
        partitions = list(partitions)
        self._states.release(partitions)
        super().release(partitions)
        # Denied keys do not say whose they are; those still needed are looked at once more.
        self._row_of_key = {key: row for key, row in self._row_of_key.items() if row > 0}

    def drop_denied(self) -> None:
        """What was denied before is not known here: its records must be folded in anew."""
        self._states.drop_denied()
        for group in list(self.groups):
            accepted = self._accepts(group.name)
            for topic, rows in list(group.topics.items()):
                if accepted and self._accepts_topic(topic):
                    continue
                for partition in list(rows.by_partition):
                    self.remove(group, topic, partition)

    def _fold_commits(
        self, batch: Batch, start: int, end: int, looked_up: Int64s | None, folded: Folded
    ) -> None:
        """Folds records that all have a value. `looked_up`: the rows of the whole batch."""
        if start == end:
            return
        part = slice(start, end)
        rows = self._known_rows(batch.keys[part]) if looked_up is None else looked_up[part]
        places: _Places = {}
        for index in (rows == _UNSEEN).nonzero()[0].tolist():
            rows[index] = self._row_of_unseen(batch, start + index, places, folded)
        known = rows > 0
        if known.all():
            indexes = np.arange(start, end)
            values = cast("list[bytes]", batch.values[start:end])
        else:
            indexes = start + known.nonzero()[0]
            values = cast("list[bytes]", list(compress(batch.values[start:end], known.tolist())))
            rows = rows[known]
        self._fold_values(batch, indexes, rows, values, folded)

    def _fold_values(
        self,
        batch: Batch,
        indexes: Int64s,
        rows: Int64s,
        values: Sequence[bytes],
        folded: Folded,
    ) -> None:
        """Folds commits of known rows; `indexes` are theirs in the batch."""
        columns = decode_commit_values(values)
        unusable: list[int] = []
        for at in (~columns.decoded).nonzero()[0].tolist():
            row = int(rows[at])
            key_version = self.columns.key[row][1]
            match decode_offset_value(key_version, values[at]):
                case OffsetCommitValue() as commit:
                    columns.set(at, commit.offset, commit.timestamp_ms)
                    continue
                case Malformed() as malformed:
                    folded.rejected.append((int(indexes[at]), malformed))
                case Skipped() as skipped:
                    folded.skipped[key_version, skipped.value_version] += 1
            unusable.append(row)
        offset, committed_at = columns.offset, columns.committed_at
        if unusable:
            kept = columns.decoded
            indexes, rows = indexes[kept], rows[kept]
            offset, committed_at = offset[kept], committed_at[kept]
        self.columns.fold(rows, offset, committed_at)
        if batch.first is not None:
            first = batch.first[indexes]
            self.earlier.take(rows[first], offset[first], committed_at[first])
        self._count(batch, indexes, rows, folded)
        self._drop_unset(unusable)

    def _count(self, batch: Batch, indexes: Int64s, rows: Int64s, folded: Folded) -> None:
        if batch.counted is not None:
            rows = rows[batch.counted[indexes]]
        self.columns.count(rows)
        self.groups.dirty[self.columns.group[rows]] = True
        folded.commits += len(rows)

    def _drop_unset(self, rows: Iterable[int]) -> None:
        """An unusable value may have been the first of its key: then there is no position."""
        for row in rows:
            raw = self.columns.key[row]
            place = self.columns.offset[row], self.columns.committed_at[row]
            if raw and place == (NO_OFFSET, NO_OFFSET):  # nothing was folded into it
                group = self.groups.at(int(self.columns.group[row]))
                buffer = Buffer(raw)
                read_key_version(buffer)
                key = read_offset_commit_key(buffer)
                group.remove(key.topic, key.partition)
                self._give_back(row)
                if group.is_empty and not group.removed:
                    self.groups.forget(group)

    def _row_of_unseen(self, batch: Batch, index: int, places: _Places, folded: Folded) -> int:
        """The row of a key that was not known when the batch was looked up."""
        raw = batch.keys[index]
        if raw in self._row_of_key:  # it came twice in this batch
            return self._row_of_key[raw]
        # Keys of one group and topic differ in their partition: of the others only that is read.
        prefix, partition = split_offset_commit_key(raw or b"")
        place = places.get(prefix) if partition >= 0 else None
        if place is None or raw is None:
            key = self._read_key(raw, index, folded)
            if key is None or raw is None:
                return _UNUSABLE
            place, partition = _Place(key.group, key.topic, self._is_watched(key)), key.partition
            if ends_with_partition(raw):
                places[prefix] = place
        row = self._row_of_key[raw] = (
            self._row_of_position(raw, place, partition, int(batch.partitions[index]))
            if place.is_watched
            else _DENIED
        )
        return row

    def _is_watched(self, key: OffsetCommitKey) -> bool:
        return self._accepts(key.group) and self._accepts_topic(key.topic)

    def _row_of_position(
        self, raw: bytes, place: _Place, partition: int, source_partition: int
    ) -> int:
        group = self.groups.ensure(source_partition, place.group)
        row = group.row(place.topic, partition)
        if row is None:
            row = self.add(group, place.topic, partition, raw)
        else:
            # The same position under the key of another version: that one took over.
            del self._row_of_key[self.columns.key[row]]
            self.columns.key[row] = raw
        return row

    def _read_key(self, raw: bytes | None, index: int, folded: Folded) -> OffsetCommitKey | None:
        """The key, if it is of an offset and usable; `folded` has what it is otherwise."""
        if raw is None:
            folded.rejected.append((index, NULL_KEY))
            return None
        buffer = Buffer(raw)
        try:
            if read_key_version(buffer) not in OFFSET_COMMIT:
                return None  # `_states` has it
            return read_offset_commit_key(buffer)
        except MalformedRecord as error:
            folded.rejected.append((index, malformed_key(error)))
            return None

    def _fold_tombstone(self, batch: Batch, index: int, folded: Folded) -> None:
        """A committed offset was deleted, or it expired."""
        raw = batch.keys[index]
        key = self._read_key(raw, index, folded)
        if key is None or raw is None:
            return
        if not self._is_watched(key):
            self._row_of_key.pop(raw, None)
            return
        source_partition = int(batch.partitions[index])
        group = self.groups.get(source_partition, key.group)
        row = None if group is None else group.row(key.topic, key.partition)
        idle_ms = -1
        if group is not None and row is not None:
            if self.columns.key[row] != raw:
                return  # the position lives on under the key of another version
            idle_ms = batch.time(index) - int(self.columns.committed_at[row])
            group.remove(key.topic, key.partition)
            self._give_back(row)
        if batch.is_counted(index):
            group = self.groups.ensure(source_partition, key.group)
            group.removes(key.topic, key.partition, idle_ms)
            self.groups.dirty[group.slot] = True
        elif group is not None and group.is_empty and not group.removed:
            self.groups.forget(group)

    def _give_back(self, row: int) -> None:
        del self._row_of_key[self.columns.key[row]]
        super()._give_back(row)
