"""Packed windows: all commits of a group's windows in few bytes, as `warren.lag` carries them.

The newest commit of each partition is in the event already (`window_end`). The others are stored as
distances from it, base64 of, little-endian:

    intervals                                       1 byte, W
    occupied slots, one per partition               1 byte each
    the columns offset, committed_at, observed_at - committed_at, lag, each:
        bytes per distance, 4 or 8                  1 byte
        newest - value, oldest slot first           (W - 1) slots x partitions

Within a column all lowest bytes come first, then all second ones, and so on: most of the higher
ones are 0, which lz4 then makes next to nothing of. An unknown lag is -1, also that of the newest
commit. Empty slots hold nothing of meaning.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from warren.errors import ContractViolation

from warren_core.evaluation.windows import Column, Int64, Windows

_NARROW = bytes([4])
_COLUMNS = (Column.OFFSET, Column.COMMITTED_AT, Column.OBSERVED_AT, Column.LAG)


@dataclass(frozen=True, slots=True)
class Commits:
    """The commits of P windows; where a slot is empty the values mean nothing."""

    columns: Int64  # [offset, committed_at, observed_at, lag][partition][slot], oldest first
    filled: Int64  # [partition] occupied slots, the last ones

    @property
    def intervals(self) -> int:
        return int(self.columns.shape[2])


def pack(windows: Windows) -> str:
    """The windows without their newest commits."""
    return pack_parts(windows, [slice(None)])[0]


def pack_parts(windows: Windows, parts: Sequence[slice]) -> list[str]:
    """The same of many groups; `parts` are their partitions."""
    return _packed(windows.columns[list(_COLUMNS)], windows.filled, parts)


def pack_commits(commits: Commits) -> str:
    """The same, of commits that were unpacked before."""
    return _packed(commits.columns.copy(), commits.filled, [slice(None)])[0]


def _packed(columns: Int64, filled: Int64, parts: Sequence[slice]) -> list[str]:
    """Changes the columns in place."""
    columns[2] -= columns[1]
    distances = columns[:, :, -1:] - columns[:, :, :-1]
    narrow = distances.astype("<i4")
    fits = (narrow == distances).all(axis=2)
    # By column, byte, slot and partition.
    planes = narrow.view(np.uint8).reshape(*narrow.shape, 4).transpose(0, 3, 2, 1).copy()
    filled_bytes = filled.astype("<u1")
    slots = bytes([columns.shape[2]])
    packed = []
    for rows in parts:
        raw = [slots, filled_bytes[rows].tobytes()]
        if fits[:, rows].all():
            raw += [each for plane in planes[..., rows] for each in (_NARROW, plane.tobytes())]
        else:
            for column in columns[:, rows]:
                raw += _pack_column(column)
        packed.append(base64.b64encode(b"".join(raw)).decode())
    return packed


def unpack(packed: str, newest: Int64) -> Commits:
    """`newest`: [offset, committed_at, observed_at, lag][partition], anything where a window is
    empty. Raises ContractViolation.
    """
    try:
        raw = base64.b64decode(packed, validate=True)
        partitions, intervals = newest.shape[1], raw[0]
        filled = np.frombuffer(raw, "<u1", partitions, 1).astype(np.int64)
        columns = np.empty((len(_COLUMNS), partitions, intervals), np.int64)
        columns[:, :, -1] = newest
        columns[2, :, -1] -= columns[1, :, -1]
        at = 1 + partitions
        for column in columns:
            at = _unpack_column(raw, at, column)
    except (binascii.Error, ValueError, IndexError) as error:
        raise ContractViolation(f"windows: {error}") from None
    if at != len(raw) or (partitions and filled.max() > intervals):
        raise ContractViolation("windows: not those of these partitions")
    columns[2] += columns[1]
    return Commits(columns, filled)


def _pack_column(column: Int64) -> list[bytes]:
    # Values far apart may wrap around 2^64, but they wrap back when that is undone.
    distances = column[:, -1:] - column[:, :-1]
    narrow = distances.astype("<i4")
    width = 4 if np.array_equal(narrow, distances) else 8
    body = np.ascontiguousarray((narrow if width == 4 else distances.astype("<i8")).T)
    planes = body.view(np.uint8).reshape(-1, width).T
    return [bytes([width]), planes.tobytes()]


def _unpack_column(raw: bytes, at: int, column: Int64) -> int:
    """Fills the column but for its newest slot; returns where the next one begins."""
    partitions, intervals = column.shape
    width, count = raw[at], partitions * (intervals - 1)
    if width not in (4, 8):
        raise ValueError(f"distances of {width} bytes")
    planes = np.frombuffer(raw, np.uint8, count * width, at + 1).reshape(width, count)
    distances = np.ascontiguousarray(planes.T).view(f"<i{width}").reshape(intervals - 1, partitions)
    np.subtract(column[:, -1:], distances.T, out=column[:, :-1])
    return at + 1 + int(count * width)
