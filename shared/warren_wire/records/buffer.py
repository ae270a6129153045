"""Bounds-checked reading of Kafka's wire types.

Nothing is allocated for a length before that many bytes are known to be there, so a hostile length
costs nothing.
"""

from __future__ import annotations

from struct import (
    Struct,
    error as StructError,  # noqa: N812  # it is a class
    unpack,
)
from uuid import UUID

from warren.errors import MalformedRecord

_INT8 = Struct(">b")
_INT16 = Struct(">h")
_UINT16 = Struct(">H")
_INT32 = Struct(">i")
_INT64 = Struct(">q")

# Kafka's generated readers refuse longer strings, also where the length is a varint.
MAX_STRING_BYTES = 0x7FFF
MAX_INT32 = 2**31 - 1
_VARINT_BYTES = 5


class Buffer:
    """A position in some bytes. Every read names the field that it reads.

    All methods raise MalformedRecord with that field and the byte position where it begins.
    """

    __slots__ = ("_at", "_base", "_data")

    def __init__(self, data: bytes, base: int = 0) -> None:
        """`base` is where `data` begins in the record, for the positions in errors."""
        self._data = data
        self._base = base
        self._at = 0

    @property
    def at(self) -> int:
        """Position in the record's key or value."""
        return self._base + self._at

    @property
    def remaining(self) -> int:
        """Bytes not read yet."""
        return len(self._data) - self._at

    def int8(self, field: str) -> int:
        return self._number(_INT8, field)

    def int16(self, field: str) -> int:
        return self._number(_INT16, field)

    def uint16(self, field: str) -> int:
        return self._number(_UINT16, field)

    def int32(self, field: str) -> int:
        return self._number(_INT32, field)

    def int64(self, field: str) -> int:
        return self._number(_INT64, field)

    def varint(self, field: str) -> int:
        """An unsigned varint that fits int32: at most five bytes."""
        start, value = self._at, 0
        if start < len(self._data) and self._data[start] < 0x80:  # nearly always
            self._at += 1
            return self._data[start]
        for index in range(_VARINT_BYTES):
            if not self.remaining:
                raise self._malformed(field, "a varint is cut off", start)
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                break
        else:
            raise self._malformed(field, "a varint is longer than 5 bytes", start)
        if value > MAX_INT32:
            raise self._malformed(field, f"varint {value} does not fit 31 bits", start)
        return value

    def uuid(self, field: str) -> UUID:
        return UUID(bytes=self._take(16, field, self._at))

    def string(self, field: str, *, compact: bool = False) -> str:
        text = self.nullable_string(field, compact=compact)
        if text is None:
            raise self._malformed(field, "null where a string is needed")
        return text

    def nullable_string(self, field: str, *, compact: bool = False) -> str | None:
        """`compact` is the form of flexible versions (KIP-482): a varint length plus one."""
        start = self._at
        size = self.varint(field) - 1 if compact else self.int16(field)
        if size > MAX_STRING_BYTES:
            raise self._malformed(field, f"a string of {size} bytes is too long", start)
        content = self._sized(size, field, start)
        if content is None:
            return None
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise self._malformed(field, "not UTF-8", start) from None

    def bytes_(self, field: str, *, compact: bool = False) -> bytes:
        content = self.nullable_bytes(field, compact=compact)
        if content is None:
            raise self._malformed(field, "null where bytes are needed")
        return content

    def nullable_bytes(self, field: str, *, compact: bool = False) -> bytes | None:
        start = self._at
        size = self.varint(field) - 1 if compact else self.int32(field)
        return self._sized(size, field, start)

    def count(self, field: str, *, compact: bool = False) -> int:
        """Length of an array, each of whose elements takes at least a byte."""
        start = self._at
        count = self.nullable_count(field, compact=compact)
        if count is None:
            raise self._malformed(field, "null or a negative count where an array is needed", start)
        return count

    def nullable_count(self, field: str, *, compact: bool = False) -> int | None:
        """Length of an array that may be null."""
        start = self._at
        count = self.varint(field) - 1 if compact else self.int32(field)
        if count == -1:
            return None
        if count < 0:
            raise self._malformed(field, f"negative count {count}", start)
        if count > self.remaining:
            raise self._malformed(field, f"{count} elements, {self.remaining} bytes left", start)
        return count

    def int32s(self, field: str, *, compact: bool = False) -> list[int]:
        """An array of int32; errors of its length are of `<field>.count`."""
        count = self.count(f"{field}.count", compact=compact)
        return list(unpack(f">{count}i", self._take(4 * count, field, self._at)))

    def nested(self, field: str, *, compact: bool = False) -> Buffer:
        """A bytes field that has a structure of its own."""
        content = self.bytes_(field, compact=compact)
        return Buffer(content, self._base + self._at - len(content))

    def tagged_fields(self, field: str = "tagged_fields") -> dict[int, Buffer]:
        """Contents of the tagged fields, by tag (KIP-482)."""
        tags: dict[int, Buffer] = {}
        for _ in range(self.varint(field)):
            tag = self.varint(field)
            start = self._at
            content = self._take(self.varint(field), field, start)
            tags[tag] = Buffer(content, self._base + self._at - len(content))
        return tags

    def last_tagged_fields(self) -> dict[int, Buffer]:
        """Tagged fields at the end of a value. A value that ends before them has none."""
        return self.tagged_fields() if self.remaining else {}

    def _number(self, form: Struct, field: str) -> int:
        try:
            number: int = form.unpack_from(self._data, self._at)[0]
        except StructError:
            problem = f"{form.size} bytes needed, {self.remaining} left"
            raise self._malformed(field, problem) from None
        self._at += form.size
        return number

    def _sized(self, size: int, field: str, start: int) -> bytes | None:
        if size == -1:
            return None
        if size < 0:
            raise self._malformed(field, f"negative length {size}", start)
        return self._take(size, field, start)

    def _take(self, size: int, field: str, start: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise self._malformed(field, f"{size} bytes needed, {self.remaining} left", start)
        content = self._data[self._at : end]
        self._at = end
        return content

    def _malformed(self, field: str, problem: str, at: int | None = None) -> MalformedRecord:
        position = self._base + (self._at if at is None else at)
        return MalformedRecord(f"{field}: {problem}", field=field, at=position)
