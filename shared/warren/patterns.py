"""Regular expressions that names of other people are searched with: RE2.

Python's `re` backtracks: `(a+)+$` takes ages over one long name, and anybody may name a group. RE2
does not, but bounded repetitions such as `(.{1,60}){16}x` cost milliseconds a name. So an
expression that is not the operator's own is small: matching one name takes 2 ms at most (measured).
Syntax: https://github.com/google/re2/wiki/Syntax
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import re2

META = "\\.+*?()[]{}|^$"
MEMORY = 256 * 1024  # bytes: two thirds for the pattern, one for what matching it takes
SETTINGS_MEMORY = 64 * MEMORY  # bytes, as a list of thousands of names needs
LONGEST = 1_000  # characters
LARGEST = 1_300
"""Steps of an expression that RE2 has made of it: a Unicode class (`\\pL`) has 1,200."""
COMPILED = 64  # expressions of clients that stay compiled: 16 MiB at most


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


def any_matches(patterns: Sequence[Expression], name: str) -> bool:
    """Whether one of them matches anywhere in a name; none at all match every name."""
    return not patterns or any(pattern.search(name) for pattern in patterns)


def searcher(pattern: str) -> Callable[[str], bool]:
    """Says whether the pattern of a client matches anywhere in a text. Raises InvalidExpression."""
    if len(pattern) > LONGEST:
        raise InvalidExpression(f"pattern too large, {LONGEST:,} characters at most")
    search = _compiled(pattern)
    # Thousands that begin otherwise are told apart a hundred times as fast.
    prefix = literal_prefix(pattern)
    return lambda text: text.startswith(prefix) and search(text)


@functools.lru_cache(maxsize=COMPILED)
def _compiled(pattern: str) -> Callable[[str], bool]:
    compiled = _read(pattern, MEMORY)
    if max(compiled.programsize, compiled.reverseprogramsize) > LARGEST:
        raise InvalidExpression("pattern too large - repeats or Unicode classes of many letters")
    return lambda text: compiled.search(text) is not None


@functools.lru_cache(maxsize=10_000)
def _of_settings(pattern: str) -> Callable[[str], bool]:
    prefix, compiled = literal_prefix(pattern), _read(pattern, SETTINGS_MEMORY)
    return lambda text: text.startswith(prefix) and compiled.search(text) is not None


def _read(pattern: str, memory: int) -> Any:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        problem = said.decode(errors="replace") if isinstance(said, bytes) else said
        raise InvalidExpression(problem) from None


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
