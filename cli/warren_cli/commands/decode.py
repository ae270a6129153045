"""`warren decode`: coordinator records in, what they say out. A pure filter."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from warren_collector.records import Malformed, Record, decode_record

from warren_cli.filters.record_json import record_as_json


class UnusableLine(Exception):
    """A line that does not say which record it is; its text is the reason."""


def decode(
    source: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="JSON Lines; - is standard input.")
    ] = "-",
) -> None:
    """Decode records of __consumer_offsets: one line {"name","records":[...]} per line of input.

    A line of input is {"name"?,"key_hex","value_hex"|null}. A topic_id is a UUID, or null where
    the record has none; leader_epoch is -1 where it has none; bytes are hexadecimal; `at` is a
    byte position in what `reason` names. Records about consumer, share and streams groups have
    the fields of Kafka's schemas. Unusable lines and bytes are `malformed` records: data, not
    errors.
    """
    with _open(source) as lines:
        try:
            for answer in answers(lines):
                print(json.dumps(answer))
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader (`head`, say) has enough; Python must not complain when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open(source: str) -> AbstractContextManager[BinaryIO]:
    if source == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(source).open("rb")
    except OSError as error:
        typer.echo(f"warren decode: {source}: {error.strerror}", err=True)
        raise typer.Exit(2) from None


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
