"""Regular expressions that names of other people are searched with: RE2.

Python's `re` backtracks: `(a+)+$` takes ages over one long name, and anybody may name a group. RE2
does not; the memory bounds how large a pattern may become, and is little where the pattern is not
the operator's own. Syntax: https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import re2

META = "\\.+*?()[]{}|^$"
MEMORY = 256 * 1024  # bytes: two thirds for the pattern, one for what matching it takes
SETTINGS_MEMORY = 64 * MEMORY  # as a list of thousands of names needs


class InvalidExpression(ValueError):
    """A pattern is none, or too large. `problem`: what RE2 says. Operator: mend the pattern."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"not a regular expression: {problem}")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Expression:
    """One of the settings. Raises InvalidExpression."""

    pattern: str

    def __post_init__(self) -> None:
        _of_settings(self.pattern)

    def search(self, text: str) -> bool:
        """Whether it matches anywhere in a text."""
        return _of_settings(self.pattern)(text)


def expressions(patterns: Iterable[str]) -> tuple[Expression, ...]:
    return tuple(map(Expression, patterns))


def searcher(pattern: str, memory: int = MEMORY) -> Callable[[str], bool]:
    """Says whether the pattern matches anywhere in a text.

    Raises InvalidExpression.
    """
    prefix = literal_prefix(pattern)
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    try:
        search = re2.compile(pattern, options).search
    except re2.error as error:
        said = error.args[0]
        problem = said.decode(errors="replace") if isinstance(said, bytes) else said
        raise InvalidExpression(problem) from None
    # Thousands that begin otherwise are told apart a hundred times as fast.
    return lambda text: text.startswith(prefix) and search(text) is not None


@functools.lru_cache(maxsize=10_000)
def _of_settings(pattern: str) -> Callable[[str], bool]:
    return searcher(pattern, SETTINGS_MEMORY)


def literal_prefix(pattern: str) -> str:
    """What every text begins with in which the pattern is found, as far as that is easily seen."""
    if not pattern.startswith("^") or "|" in pattern or "(?" in pattern:
        return ""
    prefix, at = "", 1
    while at < len(pattern):
        escaped = pattern[at] == "\\" and at + 1 < len(pattern)
        letter = pattern[at + 1] if escaped else pattern[at]
        if (escaped and letter.isalnum()) or (not escaped and letter in META):
            break
        at += 2 if escaped else 1
        if at < len(pattern) and pattern[at] in "*?{":
            break
        prefix += letter
    return prefix


def exactly(text: str) -> str:
    """The pattern that matches this text and no other."""
    return f"^{re2.escape(text)}$"
