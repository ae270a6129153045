"""All groups that the offsets topic tells of, folded from its records: the newest of each wins."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from warren.errors import MalformedRecord
from warren_wire.records import (
    KINDS,
    NEWEST_VALUES,
    Buffer,
    GroupKey,
    malformed_key,
    read_group_key,
    read_key_version,
)

from warren_collector.groups.recorded.records import TIMED, GroupRecords, Stored
from warren_collector.sources.source import Batch, Folded

_VERSION_0 = b"\0\0"
_Entry = tuple[GroupRecords, Stored]


class GroupStates:
    """State of the source partitions that this collector owns; no clock, no I/O.

    `changed` has the groups about which something new was said since they were last taken.
    """

    def __init__(self, accepts: Callable[[str], bool]) -> None:
        """`accepts` says whether a group is watched."""
        self._accepts = accepts
        self._by_partition: dict[int, dict[str, GroupRecords]] = {}
        self._entries: dict[bytes, _Entry] = {}
        self._changed: dict[tuple[int, str], None] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_partition.values()))

    def __iter__(self) -> Iterator[GroupRecords]:
        for groups in self._by_partition.values():
            yield from groups.values()

    def get(self, partition: int, name: str) -> GroupRecords | None:
        return self._by_partition.get(partition, {}).get(name)

    def fold(self, batch: Batch, indexes: Sequence[int], folded: Folded) -> None:
        """Takes in the batch's records about groups; `indexes` are theirs."""
        # Python's own numbers at once: one by one they would cost as much as the folding.
        partitions, offsets = batch.partitions[indexes].tolist(), batch.offsets[indexes].tolist()
        for index, partition, offset in zip(indexes, partitions, offsets, strict=True):
            raw, value = batch.keys[index], batch.values[index]
            if raw is None:
                continue
            entry = self._entries.get(raw)
            if entry is None:
                entry = self._new_entry(batch, index, partition, folded)
                if entry is None:
                    continue
            elif value is None:
                del self._entries[raw]
                entry[0].remove(entry[1].key)
            elif not _is_of_known_version(entry[1].key, value, folded):
                continue
            group, stored = entry
            is_counted = batch.is_counted(index)
            group.has_news |= is_counted
            self._changed[group.place] = None
            if value is not None:
                stored.replace(value, offset, counted=is_counted)
                if stored.key.version in TIMED:
                    stored.time = batch.time(index)
                if stored.key not in group.stored:
                    group.add(stored)

    def touch(self, partition: int, name: str) -> None:
        """The group shall be looked at again."""
        self._changed[partition, name] = None

    def changed(self, partitions: Container[int]) -> list[tuple[int, str]]:
        """(source partition, group) of all that has changed in these partitions."""
        return [place for place in self._changed if place[0] in partitions]

    def taken(self, place: tuple[int, str]) -> None:
        """What has changed about this group was dealt with."""
        self._changed.pop(place, None)

    def forget(self, group: GroupRecords) -> None:
        """A group of which nothing is left."""
        for stored in group.stored.values():
            self._entries.pop(stored.raw_key, None)
        del self._by_partition[group.source_partition][group.name]

    def drop_denied(self) -> None:
        """The filters have changed: groups not watched any more are at their end."""
        for group in [group for group in self if not self._accepts(group.name)]:
            self._changed[group.place] = None
            self.forget(group)

    def release(self, partitions: Iterable[int]) -> None:
        """Forgets all that some source partitions said: another collector owns them now."""
        released = set(partitions)
        for partition in released:
            self._by_partition.pop(partition, None)
        self._entries = {
            raw: entry
            for raw, entry in self._entries.items()
            if entry[0].source_partition not in released
        }
        for place in self.changed(released):
            del self._changed[place]

    def _new_entry(self, batch: Batch, index: int, partition: int, folded: Folded) -> _Entry | None:
        """For a key that is not known; None when there is nothing to store."""
        raw, value = batch.keys[index] or b"", batch.values[index]
        version = int.from_bytes(raw[:2], "big", signed=True)
        if version not in KINDS:
            folded.skipped[version, None] += 1
            return None
        key = self._read_key(raw, index, folded)
        if key is None or not self._accepts(key.group):
            return None
        if value is None:
            # Of a record that compaction has dropped already: perhaps the group is gone.
            if batch.is_counted(index):
                self._changed[partition, key.group] = None
            return None
        if not _is_of_known_version(key, value, folded):
            return None
        groups = self._by_partition.setdefault(partition, {})
        group = groups.get(key.group)
        if group is None:
            group = groups[key.group] = GroupRecords(key.group, partition)
            group.is_new = batch.is_counted(index)
        entry = self._entries[raw] = (group, Stored(key, raw, partition))
        return entry

    def _read_key(self, raw: bytes, index: int, folded: Folded) -> GroupKey | None:
        buffer = Buffer(raw)
        try:
            return read_group_key(buffer, read_key_version(buffer))
        except MalformedRecord as error:
            folded.rejected.append((index, malformed_key(error)))
            return None


def _is_of_known_version(key: GroupKey, value: bytes, folded: Folded) -> bool:
    """A value too short to have a version is not judged here."""
    if value.startswith(_VERSION_0) or len(value) < len(_VERSION_0):
        return True
    version = int.from_bytes(value[:2], "big", signed=True)
    is_known = 0 <= version <= NEWEST_VALUES[key.version]
    if not is_known:
        folded.skipped[key.version, version] += 1
    return is_known
