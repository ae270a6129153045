"""Regular expressions of people who are not the operator: RE2 with little memory.

Python's `re` backtracks: `(a+)+$` takes ages over one long name. RE2 does not; the memory bounds
how large a pattern may become. Syntax: https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

from collections.abc import Callable

import re2

MEMORY = 256 * 1024  # bytes: two thirds for the pattern, one for what matching it takes


def searcher(pattern: str) -> Callable[[str], bool]:
    """Says whether the pattern matches anywhere in a text.

    Raises ValueError that says what is wrong with the pattern.
    """
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    try:
        search = re2.compile(pattern, options).search
    except re2.error as error:
        said = error.args[0]
        problem = said.decode(errors="replace") if isinstance(said, bytes) else said
        raise ValueError(f"not a regular expression: {problem}") from None
    return lambda text: search(text) is not None


def exactly(text: str) -> str:
    """The pattern that matches this text and no other."""
    return f"^{re2.escape(text)}$"
