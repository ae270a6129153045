"""`warren decode` without the command: coordinator records in, what they say out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, BinaryIO
from uuid import UUID

from warren_wire.records import (
    GroupMetadata,
    GroupRecord,
    GroupRecordDeleted,
    Malformed,
    Member,
    Record,
    decode_record,
)
from warren_wire.records.key import KINDS, GroupKey

_WORD = re.compile(r"(?<!^)(?=[A-Z])")
_HIDDEN = ("unknown_tags", "subscribed")


class UnusableLine(Exception):
    """A line that does not say which record it is; its text is the reason."""


def answers(lines: BinaryIO) -> Iterator[dict[str, Any]]:
    """One answer per line that is not blank."""
    for line in lines:
        if line.strip():
            yield _answer(line)


def _answer(line: bytes) -> dict[str, Any]:
    named: dict[str, Any] = {}
    records: list[Record]
    try:
        fields = _read_object(line)
        if "name" in fields:
            named = {"name": _read_name(fields["name"])}
        key, value = _read_hex(fields, "key_hex"), _read_hex(fields, "value_hex")
        records = decode_record(key, value)
    except UnusableLine as error:
        records = [Malformed(str(error), "line", 0)]
    return {**named, "records": [record_as_json(record) for record in records]}


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except RecursionError:
        raise UnusableLine("line: not JSON: nested too deeply") from None
    except ValueError as error:
        raise UnusableLine(f"line: not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise UnusableLine("line: not a JSON object")
    return fields


def _read_name(name: Any) -> Any:
    """Any scalar names a record; it is echoed as it came."""
    if isinstance(name, dict | list):
        raise UnusableLine("line: name is not a string")
    return name


def _read_hex(fields: dict[str, Any], name: str) -> bytes | None:
    if name not in fields:
        raise UnusableLine(f"line: {name} is missing")
    text = fields[name]
    if text is None:
        return None
    if not isinstance(text, str):
        raise UnusableLine(f"line: {name} is not a string")
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise UnusableLine(f"line: {name} is not hexadecimal: {error}") from None


def record_as_json(record: Record) -> dict[str, Any]:
    """One object per record; `kind` says which, and with it which fields there are."""
    match record:
        case GroupRecord():
            return {
                "kind": record_kind(record.kind),
                **_key(record.key),
                **_printable(record.fields),
            }
        case GroupRecordDeleted():
            return {"kind": f"{record_kind(record.kind)}_deleted", **_key(record.key)}
    said = {"kind": record_kind(type(record).__name__), **_fields(record)}
    if isinstance(record, GroupMetadata):
        said["state_timestamp_ms"] = said.pop("state_at")
        said["members"] = [_member(member) for member in record.members]
    return said


def record_kind(name: str) -> str:
    """ConsumerGroupMetadata becomes consumer_group_metadata."""
    return _WORD.sub("_", name).lower()


def _fields(record: Any) -> dict[str, Any]:
    names = [field.name for field in fields(record) if field.name not in _HIDDEN]
    return {name: _printable(getattr(record, name)) for name in names}


def _member(member: Member) -> dict[str, Any]:
    """`raw` alone where the bytes are of another protocol than `consumer`, or unusable."""
    subscribed = member.subscribed
    raw = {"raw": member.subscription.hex()}
    return {
        **_fields(member),
        "subscription": raw if subscribed is None else _fields(subscribed),
    }


def _key(key: GroupKey) -> dict[str, str]:
    part = KINDS[key.version].part
    return {"group": key.group, **({part: key.part} if part else {})}


def _printable(content: Any) -> Any:
    match content:
        case UUID():
            return str(content)
        case bytes():
            return content.hex()
        case list() | tuple():
            return [_printable(one) for one in content]
        case dict():
            return {name: _printable(one) for name, one in content.items()}
    return content
