"""The table's value: a group's state in few bytes.

Layout, little-endian: version, kind, then what `_GROUP` or `_GONE` names, the partitions as JSON,
the columns, compressed (lz4): partitions of a group, and most times, are much alike. A column of
windows is stored as the newest value (64 bits) and the distances of the others from it, in 32 bits
when they all fit. Where policy `progress` judges, its track follows: how many marks and figures
there are (`Track.kept` says which it can read), then the marks in 64 bits, those in 32 (`NARROW`),
and the figures in single precision. Then, when the log ends were seen: one time where it is the
same for all partitions. At the end the offset of the last event in `warren.offsets`, when the last
incidents opened, while some partition is not OK, when that began, and while an observation has come
in part, what its parts told (`Told`): of columns that another version has declared, those that this
one has, too. With ten intervals some 600 bytes a partition, and 30 to 260 once compressed.

Version 1 had no track; it is read as a group without one. Until version 2 nobody knew when log ends
were seen: when the state was stored. Until version 3 nothing was at the end, until 4 nothing told,
until 5 figures had double precision, until 6 all marks had 64 bits, until 7 nothing was compressed.
Version 7 (`FORMER`) can be written, too, with the one of today inside (`encode_both`).
What is before the layout stays where it is in every version to come: `remains` reads it, whoever
wrote it.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

import numpy as np
from warren.contracts.offset_event import SourceName
from warren.contracts.status import Status
from warren.words import LATEST_MOMENT

from warren_core.evaluation import UNKNOWN, Began, Bools, Column, Int64, Onset, Windows
from warren_core.evaluation.commit_convention import Commits
from warren_core.judgement.assumed import is_assumed, settled
from warren_core.judgement.columns import Latest, as_declared
from warren_core.judgement.layout import Layout
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

VERSION = 8
FORMER = 7
READABLE = (1, 2, 3, 4, 5, 6, FORMER, VERSION)
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
_TAIL_4 = struct.Struct("<qBB")  # without those told
_HEAD = _PREFIX.size + _APPLIED.size
# Around a state in the layout of another one; no topic's name holds the first.
_INSIDE, _INSIDE_END = b'["",[],[],[],"', b'"]]'


def encode(state: GroupState | GroupGone) -> bytes:
    return _encode(state, VERSION)


def encode_both(state: GroupState | GroupGone) -> bytes:
    """As the Warren of before reads it, with what it learns by; inside, as an entry of the layout
    that it passes over, what `decode` reads.
    """
    if isinstance(state, GroupGone):
        return _encode(state, FORMER)
    track = state.track and state.track.as_before()
    return _encode(replace(state, track=track), FORMER, base64.b64encode(encode(state)))


def is_former(value: bytes) -> bool:
    """Whether the Warren of before reads it."""
    return value[:1] == bytes([FORMER])


def _encode(state: GroupState | GroupGone, version: int, inside: bytes = b"") -> bytes:
    applied = state.applied
    head = _APPLIED.pack(_SOURCES.index(applied.source), applied.position, applied.observed_at)
    if isinstance(state, GroupGone):
        return _PREFIX.pack(version, _KIND_GONE) + head + _GONE.pack(state.source_offset)
    windows = state.windows
    layout = encode_layout(state)
    if inside:
        comma = b"," if len(layout) > len(b"[]") else b""
        layout = b"".join([layout[:-1], comma, _INSIDE, inside, _INSIDE_END])
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
    prefix = _PREFIX.pack(version, _KIND_GROUP)
    body = [compressed(parts)] if version == VERSION else parts
    return b"".join([prefix, head, group, layout, *body])


def decode(value: bytes) -> GroupState | GroupGone:
    """Raises CorruptState."""
    try:
        version, kind = _PREFIX.unpack_from(value)
        if version not in READABLE:
            raise CorruptState(f"state of version {version}, expected {VERSION}")
        source, position, observed_at = _APPLIED.unpack_from(value, _PREFIX.size)
        name = _SOURCES[source]
        if kind == _KIND_GROUP:
            if (inside := _inside(value)) is not None:
                return decode(inside)
            return _decode_group(name, position, observed_at, value, version)
        if kind == _KIND_GONE:
            (source_offset,) = _GONE.unpack_from(value, _HEAD)
            applied = Applied(name, position, observed_at, source_offset)
            return GroupGone(applied, source_offset)
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise CorruptState(f"state cannot be read: {error}") from error
    raise CorruptState(f"state of unknown kind {kind}")


def _inside(value: bytes) -> bytes | None:
    if not is_former(value):
        return None
    *_, layout_size = _GROUP.unpack_from(value, _HEAD)
    at = _HEAD + _GROUP.size
    _, found, inside = value[at : at + layout_size].partition(_INSIDE)
    return base64.b64decode(inside.removesuffix(_INSIDE_END), validate=True) if found else None


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
        if version not in READABLE:
            raise CorruptState(f"state of version {version}, expected {VERSION}")
        if (inside := _inside(value)) is not None:
            return positions_in(inside)
        _, _, _, partitions, layout_size = _GROUP.unpack_from(value, _HEAD)
        reader = Reader(value, _HEAD + _GROUP.size)
        layout, _, commits = decode_layout(bytes(reader.take(layout_size)), partitions)
        reader.decompress(version)
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


def _decode_group(
    source: SourceName, position: int, observed_at: int, value: bytes, version: int
) -> GroupState:
    status, opened_at, intervals, partitions, layout_size = _GROUP.unpack_from(value, _HEAD)
    if status not in _GROUP_STATUSES:
        raise CorruptState(f"{status} is no status of a group")
    reader = Reader(value, _HEAD + _GROUP.size)
    layout, forgotten, commits = decode_layout(bytes(reader.take(layout_size)), partitions)
    if len(layout) != partitions or intervals < 1:
        raise CorruptState(f"{partitions} partitions announced, {len(layout)} named")
    reader.decompress(version)
    filled = reader.numbers("<u2", (partitions,)).astype(np.int64)
    if partitions and filled.max() > intervals:
        raise CorruptState(f"{filled.max()} commits in {intervals} slots")
    latest = reader.numbers("<i8", (len(Latest), partitions))
    columns = np.empty((len(Column), partitions, intervals), np.int64)
    reader.columns(into=columns)
    log_ends = np.empty((partitions, intervals), np.int64)
    reader.columns(into=log_ends[np.newaxis])
    track = reader.track(partitions, version) if version > 1 else None
    log_ends_at = np.full(partitions, observed_at, np.int64)
    if version > 2:
        reader.times(into=log_ends_at)
    tail = (
        _decode_tail(reader, partitions, version) if version > 3 else _Tail(UNKNOWN, (), None, None)
    )
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


def _decode_tail(reader: Reader, partitions: int, version: int) -> _Tail:
    """No onset where another version of Warren has noted it."""
    form = _TAIL if version > 4 else _TAIL_4
    source_offset, count, marks, *columns = form.unpack(reader.take(form.size))
    openings: tuple[int, ...] = ()
    if count:
        openings = tuple(reader.numbers("<i8", (count,)).tolist())
    began = reader.rows(marks, partitions)
    told = reader.rows(columns[0] if columns else 0, partitions)
    onset = None if began is None or len(began) != len(Began) else Onset(began)
    return _Tail(source_offset, openings, onset, None if told is None else as_declared(told))
