"""The table's value: a group's state in few bytes.

Layout, little-endian: version, kind, then what `_GROUP` or `_GONE` names, the partitions as JSON,
the columns, compressed (lz4): partitions of a group, and most times, are much alike. A column of
windows is stored as the newest value (64 bits) and the distances of the others from it, in 32 bits
when they all fit. Where policy `progress` judges, its track follows: how many marks and figures
there are (`Track.kept` says which it can read), then the marks in 64 bits, those in 32 (`NARROW`),
and the figures in single precision. Then, when the log ends were seen: one time where it is the
same for all partitions. At the end the offset of the last event in `warren.offsets`, when the last
incidents opened, while some partition is not OK, when that began, and while an observation has come
in part, what its parts reported (`Reported`). With ten intervals some 600 bytes a partition, and 30
to 260 once compressed.

What is before the layout stays where it is in every version to come: `remains` reads it, whoever
wrote it.
"""

import struct
from dataclasses import replace
from typing import get_args

import numpy as np
from cramjam import lz4
from warren.contracts import SourceName, Status
from warren.words import LATEST_MOMENT

from warren_core.evaluation import Column, Onset, Windows
from warren_core.judgement.columns import Latest
from warren_core.judgement.state import Applied, GroupGone, GroupState
from warren_core.judgement.state_arrays import (
    CorruptState,
    Reader,
    decode_layout,
    encode_columns,
    encode_layout,
    encode_times,
    encode_track,
)

VERSION = 1
_KIND_GROUP, _KIND_GONE = 1, 2
_SOURCES: tuple[SourceName, ...] = get_args(SourceName)
_NONE = -(2**63)  # for an incident that is not open
_GROUP_STATUSES = (Status.NOTFOUND, Status.OK, Status.WARN, Status.ERR)

_HEAD = struct.Struct("<BBBqq")  # version, kind; of what was applied source, position, observed_at
_GROUP = struct.Struct("<BqHII")  # status, opened_at, intervals, partitions, bytes of the layout
_GONE = struct.Struct("<q")  # source offset
# Source offset, number of openings, marks of the onset and columns told (0 where there is none).
_TAIL = struct.Struct("<qBBB")


def encode(state: GroupState | GroupGone) -> bytes:
    applied, is_over = state.applied, isinstance(state, GroupGone)
    head = _HEAD.pack(
        VERSION,
        _KIND_GONE if is_over else _KIND_GROUP,
        _SOURCES.index(applied.source),
        applied.position,
        applied.observed_at,
    )
    if isinstance(state, GroupGone):
        return head + _GONE.pack(applied.source_offset)
    windows, onset = state.windows, state.onset
    layout = encode_layout(state)
    group = _GROUP.pack(
        state.status,
        _NONE if state.opened_at is None else state.opened_at,
        windows.intervals,
        len(state.layout),
        len(layout),
    )
    marks = None if onset is None else onset.marks
    of_tail = [np.array(state.openings, np.int64), marks, state.reported]
    sizes = [0 if each is None else len(each) for each in of_tail]
    parts = [
        windows.filled.astype("<u2").tobytes(),
        state.latest.astype("<i8").tobytes(),
        *encode_columns(windows.columns),
        *encode_columns(windows.log_ends[np.newaxis]),
        *encode_track(state.track),
        *encode_times(windows.log_ends_at),
        _TAIL.pack(applied.source_offset, *sizes),
        *(each.astype("<i8").tobytes() for each in of_tail if each is not None),
    ]
    # An lz4 block, and before it its size once decompressed.
    return head + group + layout + bytes(lz4.compress_block(b"".join(parts)))


def decode(value: bytes) -> GroupState | GroupGone:
    """Raises CorruptState."""
    try:
        version, kind, applied = _head(value)
        if version != VERSION:
            raise CorruptState(f"state of version {version}, expected {VERSION}")
        if kind == _KIND_GROUP:
            return _decode_group(applied, value)
        if kind == _KIND_GONE:
            (source_offset,) = _GONE.unpack_from(value, _HEAD.size)
            return GroupGone(replace(applied, source_offset=source_offset))
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise CorruptState(f"state cannot be read: {error}") from error
    raise CorruptState(f"state of unknown kind {kind}")


def is_gone(value: bytes) -> bool:
    """Whether it is a `GroupGone`, without reading the rest."""
    return value[1:2] == bytes([_KIND_GONE])


def peek_status(value: bytes) -> Status:
    """The group's status without reading the rest; NOTFOUND for a group that is gone, and where
    there is none to be read.
    """
    is_group = len(value) > _HEAD.size and value[1] == _KIND_GROUP
    status = value[_HEAD.size] if is_group else Status.NOTFOUND
    return Status(status) if status in _GROUP_STATUSES else Status.NOTFOUND


def remains(value: bytes) -> GroupState | None:
    """What can be had of a state that cannot be read: what was applied, and its incident. With that
    the group is judged anew, and its incident goes on. None where not even that can be read, or is
    not plausible.
    """
    try:
        _, kind, applied = _head(value)
        status, opened, *_ = _GROUP.unpack_from(value, _HEAD.size)
    except (struct.error, IndexError):
        return None
    is_open = status in (Status.WARN, Status.ERR)
    plausible = (
        kind == _KIND_GROUP
        and status in _GROUP_STATUSES
        and is_open == (opened != _NONE)
        and 0 <= applied.observed_at <= LATEST_MOMENT
        and (opened == _NONE or 0 <= opened <= applied.observed_at)
    )
    if not plausible:
        return None
    return GroupState.new(applied, Status(status), None if opened == _NONE else opened)


def _head(value: bytes) -> tuple[int, int, Applied]:
    """Version, kind, and what was applied."""
    version, kind, source, position, observed_at = _HEAD.unpack_from(value)
    return version, kind, Applied(_SOURCES[source], position, observed_at)


def _decode_group(applied: Applied, value: bytes) -> GroupState:
    status, opened_at, intervals, partitions, layout_size = _GROUP.unpack_from(value, _HEAD.size)
    if status not in _GROUP_STATUSES:
        raise CorruptState(f"{status} is no status of a group")
    reader = Reader(value, _HEAD.size + _GROUP.size)
    layout, forgotten, commits = decode_layout(bytes(reader.take(layout_size)), partitions)
    if len(layout) != partitions or intervals < 1:
        raise CorruptState(f"{partitions} partitions announced, {len(layout)} named")
    reader.decompress()
    filled = reader.numbers("<u2", (partitions,)).astype(np.int64)
    if partitions and filled.max() > intervals:
        raise CorruptState(f"{filled.max()} commits in {intervals} slots")
    latest = reader.numbers("<i8", (len(Latest), partitions))
    columns = reader.columns(len(Column), partitions, intervals)
    (log_ends,) = reader.columns(1, partitions, intervals)
    track = reader.track(partitions)
    windows = Windows(columns, filled, log_ends, reader.times(partitions))
    source_offset, count, marks, reported = _TAIL.unpack(reader.take(_TAIL.size))
    openings = reader.numbers("<i8", (count,)).tolist()
    began = reader.rows(marks, partitions)
    state = GroupState(
        applied=replace(applied, source_offset=source_offset),
        status=Status(status),
        opened_at=None if opened_at == _NONE else opened_at,
        layout=layout,
        latest=latest,
        windows=windows,
        forgotten=forgotten,
        track=track,
        commits=commits,
        onset=None if began is None else Onset(began),
        openings=tuple(openings),
        reported=reader.rows(reported, partitions),
    )
    reader.expect_end()
    return state
