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


def int8(path: str) -> Reader:
    return lambda buffer: buffer.int8(path)


def int16(path: str) -> Reader:
    return lambda buffer: buffer.int16(path)


def uint16(path: str) -> Reader:
    return lambda buffer: buffer.uint16(path)


def int32(path: str) -> Reader:
    return lambda buffer: buffer.int32(path)


def int64(path: str) -> Reader:
    return lambda buffer: buffer.int64(path)


def uuid(path: str) -> Reader:
    return lambda buffer: buffer.uuid(path)


def string(path: str) -> Reader:
    return lambda buffer: buffer.string(path, compact=True)


def nullable_string(path: str) -> Reader:
    return lambda buffer: buffer.nullable_string(path, compact=True)


def bytes_(path: str) -> Reader:
    return lambda buffer: buffer.bytes_(path, compact=True)


def int32s(path: str) -> Reader:
    """`[]int32`, all at once."""
    return lambda buffer: buffer.int32s(path, compact=True)


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
