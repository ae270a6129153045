"""What a filter reads and writes: a file or standard input, lines on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from warren_cli.terminal.output_console import discard_output


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
