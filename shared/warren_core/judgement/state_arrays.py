"""Parts of a stored state: arrays as bytes, read one after the other, and the layout as JSON."""

import functools
import json
import math
import struct
from typing import Any

import numpy as np
from cramjam import DecompressionError, lz4
from numpy.typing import NDArray
from warren.errors import WarrenError

from warren_core.evaluation import (
    NARROW,
    Bools,
    CommitEvidence,
    Commits,
    Figure,
    Int64,
    Mark,
    Rest,
    Track,
)
from warren_core.judgement.columns import Layout
from warren_core.judgement.state import Forgotten, GroupState

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

    def expect_end(self) -> None:
        if self._at != len(self._value):
            raise CorruptState(f"{len(self._value) - self._at} bytes too many")


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
