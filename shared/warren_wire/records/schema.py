"""Kafka's flexible schemas (KIP-482) as data: a type is what reads a field, given the field's name.

For schemas whose versions are all flexible; Kafka's own names of the types. Readers raise
MalformedRecord with the path of the field, such as `assigned_partitions.topic_id`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warren_wire.records.buffer import Buffer

Reader = Callable[[Buffer], Any]
Type = Callable[[str], Reader]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a structure. One with a `tag` may be missing and then is its `default`."""

    name: str
    type: Type
    tag: int | None = None
    default: Any = None


def _reading(read: Callable[..., Any], **how: bool) -> Type:
    return lambda path: lambda buffer: read(buffer, path, **how)


int8 = _reading(Buffer.int8)
int16 = _reading(Buffer.int16)
uint16 = _reading(Buffer.uint16)
int32 = _reading(Buffer.int32)
int64 = _reading(Buffer.int64)
uuid = _reading(Buffer.uuid)
string = _reading(Buffer.string, compact=True)
nullable_string = _reading(Buffer.nullable_string, compact=True)
bytes_ = _reading(Buffer.bytes_, compact=True)
int32s = _reading(Buffer.int32s, compact=True)
"""`[]int32`, all at once."""


def array(of: Type) -> Type:
    """`[]of`; errors of its length are of `<field>.count`."""

    def with_path(path: str) -> Reader:
        read, counted = of(path), f"{path}.count"
        return lambda buffer: [read(buffer) for _ in range(buffer.count(counted, compact=True))]

    return with_path


def nullable_array(of: Type) -> Type:
    def with_path(path: str) -> Reader:
        read, counted = of(path), f"{path}.count"

        def read_all(buffer: Buffer) -> list[Any] | None:
            count = buffer.nullable_count(counted, compact=True)
            return None if count is None else [read(buffer) for _ in range(count)]

        return read_all

    return with_path


def nullable(of: Type) -> Type:
    """A structure that may be null: a byte less than 0 says so."""

    def with_path(path: str) -> Reader:
        read = of(path)
        return lambda buffer: None if buffer.int8(path) < 0 else read(buffer)

    return with_path


def nullable_in_tag(of: Type) -> Type:
    """The same in a tagged field, where a varint of 0 says so."""

    def with_path(path: str) -> Reader:
        read = of(path)
        return lambda buffer: read(buffer) if buffer.varint(path) else None

    return with_path


def struct(*fields: Field) -> Type:
    """Fields in order, then the tagged ones; becomes a dict by field name."""

    def with_path(path: str) -> Reader:
        prefix = f"{path}." if path else ""
        plain = [(f.name, f.type(prefix + f.name)) for f in fields if f.tag is None]
        tagged = {f.tag: (f.name, f.type(prefix + f.name)) for f in fields if f.tag is not None}
        defaults = {f.name: f.default for f in fields if f.tag is not None}
        tags_path = f"{prefix}tagged_fields"

        def read(buffer: Buffer) -> dict[str, Any]:
            found = {name: reader(buffer) for name, reader in plain}
            found |= defaults
            for tag, content in buffer.tagged_fields(tags_path).items():
                if tag in tagged:
                    name, reader = tagged[tag]
                    found[name] = reader(content)
            return found

        return read

    return with_path
