"""`warren decode` without the command: coordinator records in, what they say out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from warren_wire.records import Malformed, Record, decode_record

from warren_cli.filters.record_json import record_as_json


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
