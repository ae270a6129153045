"""Tombstones: a key without a value says that what it names is gone.

For who wants to see records one by one (`warren decode`). The collector needs no more than the key:
`positions.recorded` and `groups.recorded.states` take it from there.
"""

from __future__ import annotations

from warren_collector.records.buffer import Buffer
from warren_collector.records.key import GROUP_METADATA, OFFSET_COMMIT, read_group_key
from warren_collector.records.offset_commit import read_offset_commit_key
from warren_collector.records.record import GroupDeleted, GroupRecordDeleted, OffsetDeleted


def decode_tombstone(
    key_version: int, key: Buffer
) -> OffsetDeleted | GroupDeleted | GroupRecordDeleted:
    """Reads what follows the key's version. Raises MalformedRecord."""
    if key_version in OFFSET_COMMIT:
        position = read_offset_commit_key(key)
        return OffsetDeleted(position.group, position.topic, position.partition)
    read = read_group_key(key, key_version)
    return GroupDeleted(read.group) if key_version == GROUP_METADATA else GroupRecordDeleted(read)
