"""The table's value: a group's state in few bytes.

Layout, little-endian: version, kind, then what `_GROUP` or `_GONE` names, the partitions as JSON,
the columns, compressed (lz4): partitions of a group, and most times, are much alike. A column of
windows is stored as the newest value (64 bits) and the distances of the others from it, in 32 bits
when they all fit. Where policy `progress` judges, its track follows: how many marks and figures
there are (`Track.kept` says which it can read), then the marks in 64 bits, those in 32 (`NARROW`),
and the figures in single precision. Then, when the log ends were seen: one time where it is the
same for all partitions. At the end the offset of the last event in `warren.offsets`, when the last
incidents opened, while some partition is not OK, when that began, and while an observation has come
in part, what its parts told (`Told`). With ten intervals some 600 bytes a partition, and 30 to 260
once compressed.

What is before the layout stays where it is in every version to come: `remains` reads it, whoever
wrote it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np
from warren.contracts.offset_event import SourceName
from warren.contracts.status import Status
from warren.words import LATEST_MOMENT

from warren_core.evaluation import Bools, Column, Int64, Onset, Windows
from warren_core.evaluation.commit_convention import Commits
from warren_core.judgement.columns import Latest, Layout
from warren_core.judgement.lags import is_assumed, settled
from warren_core.judgement.state import Applied, GroupGone, GroupState
from warren_core.judgement.state_arrays import (
    CorruptState,
    Reader,
    compressed,
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

_PREFIX = struct.Struct("<BB")  # version, kind
_APPLIED = struct.Struct("<Bqq")  # source, position, observed_at
_GROUP = struct.Struct("<BqHII")  # status, opened_at, intervals, partitions, bytes of the layout
_GONE = struct.Struct("<q")  # source offset
# Source offset, number of openings, marks of the onset and columns told (0 where there is none).
_TAIL = struct.Struct("<qBBB")
_HEAD = _PREFIX.size + _APPLIED.size


def encode(state: GroupState | GroupGone) -> bytes:
    applied = state.applied
    head = _APPLIED.pack(_SOURCES.index(applied.source), applied.position, applied.observed_at)
    if isinstance(state, GroupGone):
        return _PREFIX.pack(VERSION, _KIND_GONE) + head + _GONE.pack(state.source_offset)
    windows = state.windows
    layout = encode_layout(state)
    group = _GROUP.pack(
        state.status,
        _NONE if state.opened_at is None else state.opened_at,
        windows.intervals,
        len(state.layout),
        len(layout),
    )
    parts = [windows.filled.astype("<u2").tobytes(), state.latest.astype("<i8").tobytes()]
    parts += encode_columns(windows.columns)
    parts += encode_columns(windows.log_ends[np.newaxis])
    parts += encode_track(state.track)
    parts += encode_times(windows.log_ends_at)
    parts += _encode_tail(state)
    prefix = _PREFIX.pack(VERSION, _KIND_GROUP)
    return b"".join([prefix, head, group, layout, compressed(parts)])


def decode(value: bytes) -> GroupState | GroupGone:
    """Raises CorruptState."""
    try:
        version, kind = _PREFIX.unpack_from(value)
        if version != VERSION:
            raise CorruptState(f"state of version {version}, expected {VERSION}")
        source, position, observed_at = _APPLIED.unpack_from(value, _PREFIX.size)
        name = _SOURCES[source]
        if kind == _KIND_GROUP:
            return _decode_group(name, position, observed_at, value)
        if kind == _KIND_GONE:
            (source_offset,) = _GONE.unpack_from(value, _HEAD)
            applied = Applied(name, position, observed_at, source_offset)
            return GroupGone(applied, source_offset)
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise CorruptState(f"state cannot be read: {error}") from error
    raise CorruptState(f"state of unknown kind {kind}")


class Positions(NamedTuple):
    """Where a group stands."""

    observed_at: int
    layout: Layout
    latest: Int64  # [Latest, partition] with assumed offsets, too
    commits: Commits
    is_assumed: Bools  # [partition] nobody has committed: it is at least so far behind

    @classmethod
    def of(cls, state: GroupState) -> Positions:
        assumed = is_assumed(state.latest, state.windows)
        latest = settled(state.latest, state.windows)
        return cls(state.applied.observed_at, state.layout, latest, state.commits, assumed)


def positions_in(value: bytes) -> Positions | None:
    """Without reading more of the windows than their newest offsets; None for a group that is gone.
    Raises CorruptState.
    """
    if is_gone(value):
        return None
    try:
        version, _ = _PREFIX.unpack_from(value)
        _, _, observed_at = _APPLIED.unpack_from(value, _PREFIX.size)
        if version != VERSION:
            raise CorruptState(f"state of version {version}, expected {VERSION}")
        _, _, _, partitions, layout_size = _GROUP.unpack_from(value, _HEAD)
        reader = Reader(value, _HEAD + _GROUP.size)
        layout, _, commits = decode_layout(bytes(reader.take(layout_size)), partitions)
        reader.decompress()
        filled = reader.numbers("<u2", (partitions,))
        latest = reader.numbers("<i8", (len(Latest), len(layout)))
        reader.take(1)
        newest = reader.numbers("<i8", (partitions,))
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise CorruptState(f"state cannot be read: {error}") from error
    assumed = (latest[Latest.COMMITTED] < 0) & (filled > 0)
    if assumed.any():
        latest = latest.copy()
        latest[Latest.COMMITTED, assumed] = newest[assumed]
    return Positions(observed_at, layout, latest, commits, assumed)


def is_gone(value: bytes) -> bool:
    """Whether it is a `GroupGone`, without reading the rest."""
    return len(value) >= _PREFIX.size and value[1] == _KIND_GONE


def peek_status(value: bytes) -> Status:
    """The group's status without reading the rest; NOTFOUND for a group that is gone, and where
    there is none to be read.
    """
    if len(value) <= _HEAD or value[1] != _KIND_GROUP or value[_HEAD] not in _GROUP_STATUSES:
        return Status.NOTFOUND
    return Status(value[_HEAD])


@dataclass(frozen=True, slots=True)
class Remains:
    """What can be had of a state that cannot be read: what was applied, and its incident."""

    applied: Applied
    status: Status
    opened_at: int | None

    def as_state(self, intervals: int) -> GroupState:
        """With which a group is judged anew, and its incident goes on."""
        return GroupState.of_incident(self.applied, self.status, self.opened_at, intervals)


def remains(value: bytes) -> Remains | None:
    """None where not even that can be read, or is not plausible."""
    try:
        _, kind = _PREFIX.unpack_from(value)
        source, position, observed_at = _APPLIED.unpack_from(value, _PREFIX.size)
        status, opened, *_ = _GROUP.unpack_from(value, _HEAD)
        applied = Applied(_SOURCES[source], position, observed_at)
        found = Remains(applied, Status(status), None if opened == _NONE else opened)
    except (struct.error, ValueError, IndexError):
        return None
    is_open = found.status in (Status.WARN, Status.ERR)
    plausible = (
        kind == _KIND_GROUP
        and found.status in _GROUP_STATUSES
        and is_open == (found.opened_at is not None)
        and 0 <= observed_at <= LATEST_MOMENT
        and 0 <= (found.opened_at or 0) <= observed_at
    )
    return found if plausible else None


def _decode_group(source: SourceName, position: int, observed_at: int, value: bytes) -> GroupState:
    status, opened_at, intervals, partitions, layout_size = _GROUP.unpack_from(value, _HEAD)
    if status not in _GROUP_STATUSES:
        raise CorruptState(f"{status} is no status of a group")
    reader = Reader(value, _HEAD + _GROUP.size)
    layout, forgotten, commits = decode_layout(bytes(reader.take(layout_size)), partitions)
    if len(layout) != partitions or intervals < 1:
        raise CorruptState(f"{partitions} partitions announced, {len(layout)} named")
    reader.decompress()
    filled = reader.numbers("<u2", (partitions,)).astype(np.int64)
    if partitions and filled.max() > intervals:
        raise CorruptState(f"{filled.max()} commits in {intervals} slots")
    latest = reader.numbers("<i8", (len(Latest), partitions))
    columns = np.empty((len(Column), partitions, intervals), np.int64)
    reader.columns(into=columns)
    log_ends = np.empty((partitions, intervals), np.int64)
    reader.columns(into=log_ends[np.newaxis])
    track = reader.track(partitions)
    log_ends_at = np.empty(partitions, np.int64)
    reader.times(into=log_ends_at)
    tail = _decode_tail(reader, partitions)
    reader.expect_end()
    return GroupState(
        applied=Applied(source, position, observed_at, tail.source_offset),
        status=Status(status),
        opened_at=None if opened_at == _NONE else opened_at,
        layout=layout,
        latest=latest,
        windows=Windows(columns, filled, log_ends, log_ends_at),
        forgotten=forgotten,
        track=track,
        commits=commits,
        onset=tail.onset,
        openings=tail.openings,
        told=tail.told,
    )


def _encode_tail(state: GroupState) -> list[bytes]:
    onset = None if state.onset is None else state.onset.marks.astype("<i8")
    marks = 0 if onset is None else len(onset)
    told = 0 if state.told is None else len(state.told)
    parts = [_TAIL.pack(state.applied.source_offset, len(state.openings), marks, told)]
    if state.openings:
        parts.append(np.array(state.openings, "<i8").tobytes())
    if onset is not None:
        parts.append(onset.tobytes())
    if state.told is not None:
        parts.append(state.told.astype("<i8").tobytes())
    return parts


class _Tail(NamedTuple):
    source_offset: int
    openings: tuple[int, ...]
    onset: Onset | None
    told: Int64 | None


def _decode_tail(reader: Reader, partitions: int) -> _Tail:
    source_offset, count, marks, columns = _TAIL.unpack(reader.take(_TAIL.size))
    openings: tuple[int, ...] = ()
    if count:
        openings = tuple(reader.numbers("<i8", (count,)).tolist())
    began, told = reader.rows(marks, partitions), reader.rows(columns, partitions)
    return _Tail(source_offset, openings, None if began is None else Onset(began), told)
