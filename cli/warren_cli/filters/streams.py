"""What a filter reads and writes: a file or standard input, lines on standard output. JSON values
come as an array or as JSON Lines; errors name the record of a line.
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
    text = stream.read().removeprefix(_UTF8_MARK)
    if text.lstrip().startswith(b"["):
        yield from _value("array", text)
        return
    lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        yield _value(f"record {number}", line)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _value(what: str, raw: bytes) -> Any:
    try:
        return json.loads(raw.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise BadInput(f"{what}: not UTF-8: {error.reason}") from None
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        raise BadInput(f"{what}: not JSON: {error}") from None
