"""Record batches as a broker stores them, in message formats 0 to 2."""

import struct
from collections.abc import Mapping

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
_LOG_APPEND_TIME = 0x08
_CONTROL = 0x20
_ATTRIBUTES = struct.Struct(">h")
_LENGTH_AT = 8
_ATTRIBUTES_AT = 21
_LAST_OFFSET_DELTA_AT = 23
_MAX_TIMESTAMP_AT = 35
_RECORDS_AT = 61
_COMMIT, _ABORT = 1, 0


def batch(
    records: Mapping[int, int],
    *,
    codec: str = "none",
    producer_id: int = -1,
    transactional: bool = False,
    log_append_time: int | None = None,
    next_offset: int | None = None,
) -> bytes:
    """Records as {offset: timestamp}; `next_offset` when compaction removed the last ones."""
    base = min(records)
    builder = DefaultRecordBatchBuilder(2, CODECS[codec], transactional, producer_id, 0, 0, 1 << 20)
    for offset, timestamp in records.items():
        builder.append(offset - base, timestamp, b"key", b"value" * 20, [])
    content = bytearray(builder.build())
    struct.pack_into(">q", content, 0, base)
    struct.pack_into(
        ">i", content, _LAST_OFFSET_DELTA_AT, (next_offset or max(records) + 1) - 1 - base
    )
    if log_append_time is not None:
        _set(content, _LOG_APPEND_TIME)
        struct.pack_into(">q", content, _MAX_TIMESTAMP_AT, log_append_time)
    return bytes(content)


def marker(
    offset: int,
    producer_id: int,
    *,
    commit: bool,
    kind: int | None = None,
    key: bytes | None = None,
) -> bytes:
    """The control record that ends a transaction (KIP-98), or one of another `kind` or `key`."""
    builder = DefaultRecordBatchBuilder(2, 0, True, producer_id, 0, -1, 1 << 20)
    if kind is None:
        kind = _COMMIT if commit else _ABORT
    if key is None:
        key = struct.pack(">hh", 0, kind)
    builder.append(0, 1, key, struct.pack(">hi", 0, 0), [])
    content = bytearray(builder.build())
    struct.pack_into(">q", content, 0, offset)
    _set(content, _CONTROL)
    return bytes(content)


def emptied_marker(offset: int, producer_id: int) -> bytes:
    """What compaction leaves of a marker while its producer is known: a batch without records."""
    content = bytearray(marker(offset, producer_id, commit=False)[:_RECORDS_AT])
    struct.pack_into(">i", content, _LENGTH_AT, _RECORDS_AT - _LENGTH_AT - 4)
    struct.pack_into(">i", content, _RECORDS_AT - 4, 0)
    return bytes(content)


def interleaved_transactions() -> bytes:
    """Producer 7 aborts the record at 0 and commits the one at 4, 8 commits those at 1 and 2."""
    return (
        batch({0: 1000}, producer_id=7, transactional=True)
        + batch({1: 1001, 2: 1002}, producer_id=8, transactional=True)
        + marker(3, 7, commit=False)
        + batch({4: 1004}, producer_id=7, transactional=True)
        + marker(5, 7, commit=True)
        + marker(6, 8, commit=True)
    )


def legacy(records: Mapping[int, int | None], magic: int) -> bytes:
    """Uncompressed messages of formats 0 (without times) and 1 (KIP-32)."""
    builder = LegacyRecordBatchBuilder(magic, 0, 1 << 20)
    for offset, timestamp in records.items():
        builder.append(offset, timestamp, b"key", b"value")
    return bytes(builder.build())


def _set(content: bytearray, attribute: int) -> None:
    (attributes,) = _ATTRIBUTES.unpack_from(content, _ATTRIBUTES_AT)
    _ATTRIBUTES.pack_into(content, _ATTRIBUTES_AT, attributes | attribute)
