"""The table's value: a group's state in few bytes.

Layout, little-endian: version, kind, then what `_GROUP` or `_GONE` names, the partitions as JSON,
the columns, compressed (lz4): partitions of a group, and most times, are much alike. A column of
windows is stored as the newest value (64 bits) and the distances of the others from it, in 32 bits
when they all fit. Where policy `progress` judges, its track follows: how many marks and figures
there are, then the marks in 64 bits, those in 32 (`NARROW`), and the figures in single precision.
Then, when the log ends were seen: one time where it is the same for all partitions. At the end the
offset of the last event in `warren.offsets`, when the last incidents opened, while some partition
is not OK, when that began, and while an observation has come in part, what its parts reported
(`Reported`). With ten intervals some 600 bytes a partition, and 30 to 260 once compressed.

A state grows at its end: the reader ignores what a newer release has added there. Only a change of
what is before it needs another version, which the last release cannot read.

What is before the layout stays where it is in every version to come: `remains` reads it, whoever
wrote it.
"""

import functools
import json
import math
import struct
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from cramjam import DecompressionError, lz4
from numpy.typing import NDArray
from warren.contracts import SourceName, Status
from warren.errors import WarrenError
from warren.words import LATEST_MOMENT

from warren_core.evaluation import (
    NARROW,
    Bools,
    Column,
    CommitEvidence,
    Commits,
    Figure,
    Int64,
    Mark,
    Onset,
    Rest,
    Track,
    Windows,
)
from warren_core.judgement.columns import Latest, Layout
from warren_core.judgement.state import Applied, Forgotten, GroupGone, GroupState

_TRACK = struct.Struct("<BB")  # marks, figures; 0, 0 where there is no track
_NARROW: Bools = np.isin(np.arange(len(Mark)), NARROW)
_SIZE = struct.Struct("<I")  # once decompressed
_MOST_DENSE = 255  # bytes that one of an lz4 block can stand for
_FITS = -(2**31), 2**31 - 1
_KINDS = {kind: np.dtype(kind) for kind in ("<u2", "<i4", "<i8", "<f4", "<f8")}


class CorruptState(WarrenError):
    """A table value cannot be read. Operator: written by another version, or damaged."""


def encode_columns(columns: Int64) -> list[bytes]:
    """[column, partition, slot], all at once: one of NumPy's calls costs as much as a column."""
    # May wrap around 2^64 for values far apart, but wraps back when it is undone.
    distances = columns[:, :, -1:] - columns[:, :, :-1]
    narrow = distances.astype("<i4")
    fits = (narrow == distances).reshape(len(columns), -1).all(axis=1).tolist()
    parts = []
    for number, is_narrow in enumerate(fits):
        newest = columns[number, :, -1].astype("<i8")
        body = narrow[number] if is_narrow else distances[number].astype("<i8")
        parts += [bytes([4 if is_narrow else 8]), newest.tobytes(), body.tobytes()]
    return parts


def encode_times(times: Int64) -> list[bytes]:
    """All, or one that stands for all."""
    stored = times[:1] if len(times) and bool((times == times[0]).all()) else times
    return [bytes([len(stored) == len(times)]), stored.astype("<i8").tobytes()]


def encode_track(track: Track | None) -> list[bytes]:
    if track is None:
        return [_TRACK.pack(0, 0)]
    return [
        _TRACK.pack(len(track.marks), len(track.figures)),
        track.marks[~_NARROW].astype("<i8").tobytes(),
        np.clip(track.marks[_NARROW], *_FITS).astype("<i4").tobytes(),
        track.figures.astype("<f4").tobytes(),
    ]


class Reader:
    """Takes the bytes one part after the other; every part that is missing is an error."""

    def __init__(self, value: bytes, at: int) -> None:
        self._value = memoryview(value)
        self._at = at

    def decompress(self) -> None:
        """What is left."""
        left = self._value[self._at :]
        (size,) = _SIZE.unpack_from(left)
        if size > _MOST_DENSE * len(left):
            raise CorruptState(f"{size} bytes announced in {len(left)}")
        try:
            self._value, self._at = memoryview(lz4.decompress_block(left)).toreadonly(), 0
        except DecompressionError as error:
            raise CorruptState(f"state cannot be decompressed: {error}") from error

    def take(self, size: int) -> memoryview:
        part = self._value[self._at : self._at + size]
        if len(part) < size:
            raise CorruptState(f"state ends at byte {len(self._value)}")
        self._at += size
        return part

    def numbers(self, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
        """`kind` is NumPy's, such as <i8. The array only looks at the bytes."""
        at, dtype = self._at, _KINDS[kind]
        self.take(math.prod(shape) * dtype.itemsize)
        return np.ndarray(shape, dtype, self._value, at)

    def columns(self, count: int, partitions: int, intervals: int) -> Int64:
        """[column, partition, slot]. Neighbours of the same width, often all, are read at once."""
        into, done = np.empty((count, partitions, intervals), np.int64), 0
        while done < count:
            start, width = self._at, self.take(1)[0]
            if width not in (4, 8):
                raise CorruptState(f"distances of {width} bytes")
            row = (intervals - 1) * width
            size = 1 + partitions * (8 + row)
            widths = bytes(self._value[start : start + (count - done) * size : size])
            alike = len(widths) - len(widths.lstrip(widths[:1]))
            self.take(alike * size - 1)
            some, value, at = slice(done, done + alike), self._value, start + 1
            newest = np.ndarray((alike, partitions, 1), "<i8", value, at, (size, 8, 8))
            shape, at = (alike, partitions, intervals - 1), at + 8 * partitions
            distances = np.ndarray(shape, f"<i{width}", value, at, (size, row, width))
            into[some, :, -1:] = newest
            np.subtract(newest, distances, out=into[some, :, :-1])
            done += alike
        return into

    def times(self, partitions: int) -> Int64:
        is_each = self.take(1)[0]
        stored = self.numbers("<i8", (partitions if is_each else 1,))
        return np.full(partitions, stored, np.int64)

    def track(self, partitions: int) -> Track | None:
        """None where none was kept."""
        stored = _TRACK.unpack(self.take(_TRACK.size))
        if stored == (0, 0):
            return None
        if stored != (len(Mark), len(Figure)):
            raise CorruptState(f"a track of {stored} marks and figures")
        learnt = np.empty((len(Mark), partitions), np.int64)
        learnt[~_NARROW] = self.numbers("<i8", (len(Mark) - len(NARROW), partitions))
        learnt[_NARROW] = self.numbers("<i4", (len(NARROW), partitions))
        return Track(learnt, self.numbers("<f4", (len(Figure), partitions)).astype(np.float32))

    def rows(self, count: int, partitions: int) -> Int64 | None:
        return None if not count else self.numbers("<i8", (count, partitions)).astype(np.int64)


def encode_layout(state: GroupState) -> bytes:
    """Most topics have partitions 0 to n-1: those are just n. A third entry is forgotten ones, a
    fourth how the group commits: 1 for the next offset, or where it was seen to rest."""
    compact: list[list[Any]] = [
        [topic, len(ps) if ps == tuple(range(len(ps))) else ps]
        for topic, ps in state.layout.topics.items()
    ]
    compact += [[topic, [], sorted(partitions)] for topic, partitions in state.forgotten.items()]
    compact += [
        [topic, [], [], 1 if evidence.has_reached_end else sorted(evidence.rests)]
        for topic, evidence in state.commits.items()
    ]
    return json.dumps(compact, separators=(",", ":")).encode()


@functools.lru_cache(maxsize=4096)
def decode_layout(raw: bytes, most: int) -> tuple[Layout, Forgotten, Commits]:
    topics = {}
    forgotten = {}
    commits = {}
    for topic, partitions, *more in json.loads(raw):
        if len(more) > 1:
            reached = isinstance(more[1], int)
            rests = frozenset(Rest(*place) for place in ([] if reached else more[1]))
            commits[topic] = CommitEvidence(rests, reached)
        elif more:
            forgotten[topic] = frozenset(more[0])
        elif isinstance(partitions, int) and partitions > most:
            raise CorruptState(f"{partitions} partitions named, {most} announced")
        else:
            topics[topic] = range(partitions) if isinstance(partitions, int) else partitions
    return Layout(topics), forgotten, commits


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
    return GroupState(
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
