"""What a filter reads and writes: a file or standard input, lines on standard output. JSON values
come as an array or as JSON Lines; errors name the record they are in.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from warren_cli.terminal.output_console import discard_output

_UTF8_MARK = b"\xef\xbb\xbf"


class BadInput(Exception):
    """Input cannot be used; the text has the file, or the record's number (from 1) and field."""


def opened(source: str) -> AbstractContextManager[BinaryIO]:
    """A file, or standard input for `-`. Raises BadInput."""
    if source == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(source).open("rb")
    except OSError as error:
        raise BadInput(f"{source}: {error.strerror}") from None


def print_lines(lines: Iterable[str]) -> None:
    """Each as it comes; a reader that has enough (`head`, say) is no failure."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def read_records(stream: BinaryIO) -> Iterator[Any]:
    """The values of an array, or one per line; empty lines do not count. Raises BadInput."""
    number = 0
    for raw in stream:
        line = raw.removeprefix(_UTF8_MARK) if number == 0 else raw
        if not line.strip():
            continue
        if number == 0 and line.lstrip().startswith(b"["):
            yield from _array(_decoded(1, line + stream.read()))
            return
        number += 1
        yield _only_value(number, _decoded(number, line).strip())


def _array(text: str) -> Iterator[Any]:
    """Elements one by one, so that an error names the record it is in."""
    number, position = 1, _skip_space(text, text.index("[") + 1)
    if text[position : position + 1] == "]":
        return _end(number, text, position + 1)
    while True:
        value, position = _value_at(number, text, position)
        yield value
        position = _skip_space(text, position)
        separator = text[position : position + 1]
        if separator == "]":
            return _end(number, text, position + 1)
        if separator != ",":
            raise BadInput(f"record {number}: not JSON: expected , or ] after it")
        number, position = number + 1, _skip_space(text, position + 1)


def _end(number: int, text: str, position: int) -> None:
    if text[position:].strip():
        raise BadInput(f"record {number}: not JSON: text after the end of the array")


def _skip_space(text: str, position: int) -> int:
    while text[position : position + 1] in (" ", "\t", "\r", "\n"):
        position += 1
    return position


def _decoded(number: int, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"record {number}: not UTF-8: {error.reason}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


def _only_value(number: int, text: str) -> Any:
    value, end = _value_at(number, text, 0)
    if text[end:].strip():
        raise BadInput(f"record {number}: not JSON: more than one value on a line")
    return value


def _value_at(number: int, text: str, position: int) -> tuple[Any, int]:
    try:
        return _JSON.raw_decode(text, position)
    except json.JSONDecodeError as error:
        raise BadInput(f"record {number}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        raise BadInput(f"record {number}: not JSON: {error}") from None
