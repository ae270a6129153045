"""The table's value: a group's state in few bytes.

Layout, little-endian: version, kind, then what `_GROUP` or `_GONE` names, the partitions as JSON,
the columns. A column of windows is stored as the newest value (64 bits) and the distances of the
others from it, in 32 bits when they all fit. About 300 bytes a partition with ten intervals. Where
policy `progress` judges, its track follows, 292 bytes a partition: how many marks and figures there
are (`Track.kept` says which it can read), then the marks in 64 bits, those in 32 (`NARROW`), and
the figures in single precision. Then, when the
log ends were seen: one time where it is the same for all partitions. At the end the offset of the
last event in `warren.offsets`, when the last incidents opened, while some partition is not OK, when
that began, 32 bytes a partition, and while an observation has come in part, what its parts told of
the logs.

Version 1 had no track; it is read as a group without one. Until version 2 nobody knew when log ends
were seen: when the state was stored. Until version 3 nothing was at the end, until 4 nothing of
logs, until 5 figures had double precision, until 6 all marks had 64 bits. What is before the layout
stays where it is in every version to come: `remains` reads it, whoever wrote it.
"""

from __future__ import annotations

import functools
import json
import math
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from warren.contracts.offset_event import SourceName
from warren.contracts.status import Status
from warren.errors import WarrenError
from warren.evaluation import UNKNOWN, Began, Bools, Column, Int64, Onset, Track, Windows
from warren.evaluation.commit_convention import CommitEvidence, Commits, Rest
from warren.evaluation.track import NARROW
from warren.judgement.layout import Layout
from warren.judgement.log_columns import LogColumn
from warren.judgement.state import Applied, Forgotten, GroupGone, GroupState, Latest
from warren.words import LATEST_MOMENT

VERSION = 7
READABLE = (1, 2, 3, 4, 5, 6, 7)
_KIND_GROUP, _KIND_GONE = 1, 2
_SOURCES: tuple[SourceName, ...] = get_args(SourceName)
_NONE = -(2**63)  # for an incident that is not open
_GROUP_STATUSES = (Status.NOTFOUND, Status.OK, Status.WARN, Status.ERR)

_PREFIX = struct.Struct("<BB")  # version, kind
_APPLIED = struct.Struct("<Bqq")  # source, position, observed_at
_GROUP = struct.Struct("<BqHII")  # status, opened_at, intervals, partitions, bytes of the layout
_TRACK = struct.Struct("<BB")  # marks, figures; 0, 0 where there is no track
_GONE = struct.Struct("<q")  # source offset
# Source offset, number of openings, marks of the onset and columns of logs (0 where there is none).
_TAIL = struct.Struct("<qBBB")
_TAIL_4 = struct.Struct("<qBB")  # without those of logs
_HEAD = _PREFIX.size + _APPLIED.size


class CorruptState(WarrenError):
    """A table value cannot be read. Operator: written by another version, or damaged."""


def encode(state: GroupState | GroupGone) -> bytes:
    applied = state.applied
    head = _APPLIED.pack(_SOURCES.index(applied.source), applied.position, applied.observed_at)
    if isinstance(state, GroupGone):
        return _PREFIX.pack(VERSION, _KIND_GONE) + head + _GONE.pack(state.source_offset)
    windows = state.windows
    layout = _encode_layout(state)
    group = _GROUP.pack(
        state.status,
        _NONE if state.opened_at is None else state.opened_at,
        windows.intervals,
        len(state.layout),
        len(layout),
    )
    parts = [_PREFIX.pack(VERSION, _KIND_GROUP), head, group, layout]
    parts.append(windows.filled.astype("<u2").tobytes())
    parts.append(state.latest.astype("<i8").tobytes())
    parts += _encode_columns(windows.columns)
    parts += _encode_columns(windows.log_ends[np.newaxis])
    parts += _encode_track(state.track)
    parts += _encode_times(windows.log_ends_at)
    onset = None if state.onset is None else state.onset.marks.astype("<i8")
    marks = 0 if onset is None else len(onset)
    told = 0 if state.logs is None else len(state.logs)
    parts.append(_TAIL.pack(applied.source_offset, len(state.openings), marks, told))
    if state.openings:
        parts.append(np.array(state.openings, "<i8").tobytes())
    if onset is not None:
        parts.append(onset.tobytes())
    if state.logs is not None:
        parts.append(state.logs.astype("<i8").tobytes())
    return b"".join(parts)


def decode(value: bytes) -> GroupState | GroupGone:
    """Raises CorruptState."""
    try:
        version, kind = _PREFIX.unpack_from(value)
        if version not in READABLE:
            raise CorruptState(f"state of version {version}, expected {VERSION}")
        source, position, observed_at = _APPLIED.unpack_from(value, _PREFIX.size)
        name = _SOURCES[source]
        if kind == _KIND_GROUP:
            return _decode_group(name, position, observed_at, value, version)
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
    latest: Int64  # [Latest, partition]
    commits: Commits

    @classmethod
    def of(cls, state: GroupState) -> Positions:
        return cls(state.applied.observed_at, state.layout, state.latest, state.commits)


def positions_in(value: bytes) -> Positions | None:
    """Without reading the windows; None for a group that is gone. Raises CorruptState."""
    if is_gone(value):
        return None
    try:
        version, _ = _PREFIX.unpack_from(value)
        _, _, observed_at = _APPLIED.unpack_from(value, _PREFIX.size)
        if version not in READABLE:
            raise CorruptState(f"state of version {version}, expected {VERSION}")
        _, _, _, partitions, layout_size = _GROUP.unpack_from(value, _HEAD)
        reader = _Reader(value, _HEAD + _GROUP.size)
        layout, _, commits = _decode_layout(bytes(reader.take(layout_size)), partitions)
        reader.numbers("<u2", (partitions,))
        latest = reader.numbers("<i8", (len(Latest), len(layout)))
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise CorruptState(f"state cannot be read: {error}") from error
    return Positions(observed_at, layout, latest, commits)


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
    reader = _Reader(value, _HEAD + _GROUP.size)
    layout, forgotten, commits = _decode_layout(bytes(reader.take(layout_size)), partitions)
    if len(layout) != partitions or intervals < 1:
        raise CorruptState(f"{partitions} partitions announced, {len(layout)} named")
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
    tail = reader.tail(partitions, version) if version > 3 else _Tail(UNKNOWN, (), None, None)
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
        logs=tail.logs,
    )


def _encode_columns(columns: Int64) -> list[bytes]:
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


def _encode_times(times: Int64) -> list[bytes]:
    """All, or one that stands for all."""
    stored = times[:1] if len(times) and bool((times == times[0]).all()) else times
    return [bytes([len(stored) == len(times)]), stored.astype("<i8").tobytes()]


def _encode_track(track: Track | None) -> list[bytes]:
    if track is None:
        return [_TRACK.pack(0, 0)]
    marks, figures = track.marks, track.figures
    narrow = _narrow(len(marks))
    parts = [_TRACK.pack(len(marks), len(figures)), marks[~narrow].astype("<i8").tobytes()]
    fitting = np.clip(marks[narrow], *_FITS)
    return [*parts, fitting.astype("<i4").tobytes(), figures.astype("<f4").tobytes()]


@functools.cache
def _narrow(marks: int) -> Bools:
    """[mark]"""
    return np.isin(np.arange(marks), NARROW)


_FITS = -(2**31), 2**31 - 1
_KINDS = {kind: np.dtype(kind) for kind in ("<u2", "<i4", "<i8", "<f4", "<f8")}


class _Tail(NamedTuple):
    source_offset: int
    openings: tuple[int, ...]
    onset: Onset | None
    logs: Int64 | None


class _Reader:
    """Takes the bytes one part after the other; every part that is missing is an error."""

    def __init__(self, value: bytes, at: int) -> None:
        self._value = memoryview(value)
        self._at = at

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

    def columns(self, into: Int64) -> None:
        """[column, partition, slot]. Neighbours of the same width, often all, are read at once."""
        count, partitions, intervals = into.shape
        done = 0
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

    def times(self, into: Int64) -> None:
        is_each = self.take(1)[0]
        into[:] = self.numbers("<i8", (len(into) if is_each else 1,))

    def track(self, partitions: int, version: int) -> Track | None:
        """None where none was kept, or one that another version of Warren has learnt."""
        marks, figures = _TRACK.unpack(self.take(_TRACK.size))
        learnt = np.empty((marks, partitions), np.int64)
        narrow = _narrow(marks) if version > 6 else np.zeros(marks, np.bool_)
        learnt[~narrow] = self.numbers("<i8", (int((~narrow).sum()), partitions))
        learnt[narrow] = self.numbers("<i4", (int(narrow.sum()), partitions))
        kind = "<f4" if version > 5 else "<f8"
        averages = self.numbers(kind, (figures, partitions)).astype(np.float32)
        return Track.kept(learnt, averages)

    def tail(self, partitions: int, version: int) -> _Tail:
        """No onset, and nothing of logs, where another version of Warren has noted it."""
        form = _TAIL if version > 4 else _TAIL_4
        source_offset, count, marks, *columns = form.unpack(self.take(form.size))
        openings: tuple[int, ...] = ()
        if count:
            openings = tuple(self.numbers("<i8", (count,)).tolist())
        began = self._rows(marks, partitions)
        logs = self._rows(columns[0] if columns else 0, partitions)
        onset = None if began is None or len(began) != len(Began) else Onset(began)
        is_ours = logs is not None and len(logs) == len(LogColumn)
        return _Tail(source_offset, openings, onset, logs if is_ours else None)

    def _rows(self, count: int, partitions: int) -> Int64 | None:
        if not count:
            return None
        return self.numbers("<i8", (count, partitions)).astype(np.int64)

    def expect_end(self) -> None:
        if self._at != len(self._value):
            raise CorruptState(f"{len(self._value) - self._at} bytes too many")


def _encode_layout(state: GroupState) -> bytes:
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
def _decode_layout(raw: bytes, most: int) -> tuple[Layout, Forgotten, Commits]:
    topics = {}
    forgotten = {}
    commits = {}
    for topic, partitions, *more in json.loads(raw):
        if len(more) > 1:
            commits[topic] = _commit_evidence(more[1])
            continue
        if more:
            forgotten[topic] = frozenset(more[0])
            continue
        if isinstance(partitions, int) and partitions > most:
            raise CorruptState(f"{partitions} partitions named, {most} announced")
        topics[topic] = range(partitions) if isinstance(partitions, int) else partitions
    return Layout(topics), forgotten, commits


def _commit_evidence(stored: int | list[list[int]]) -> CommitEvidence:
    if isinstance(stored, int):
        return CommitEvidence(has_reached_end=True)
    return CommitEvidence(frozenset(Rest(*place) for place in stored))
