"""Regular expressions that names of other people are searched with: RE2.

Python's `re` backtracks: `(a+)+$` takes ages over one long name, and anybody may name a group. RE2
does not, but bounded repetitions such as `(.{1,60}){16}x` cost milliseconds a name. So an
expression that is not the operator's own is small, which bounds what compiling it and matching one
name take, and has a `Budget` for all names. Syntax: https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import re2

META = "\\.+*?()[]{}|^$"
MEMORY = 256 * 1024  # bytes: two thirds for the pattern, one for what matching it takes
SETTINGS_MEMORY = 64 * MEMORY  # bytes, as a list of thousands of names needs
MOST_CLASSES = 20
"""Unicode classes (`\\pL`) in one expression: RE2 takes 0.14 ms to read each (measured), and lets
no other thread run meanwhile."""
COMPILED = 64  # expressions of clients that stay compiled: 16 MiB at most


class InvalidExpression(ValueError):
    """A pattern is none, or too large. `problem`: what RE2 says. Operator: mend the pattern."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"not a regular expression: {problem}")
        self.problem = problem


class PatternTooCostly(Exception):
    """A pattern has used up the time that matching it may take. Operator: see `Budget`."""


class Budget:
    """Time that matching may take: `seconds` of CPU at once, of which a `share` of each second that
    passes comes back. A single match may overdraw it.
    """

    def __init__(self, seconds: float, share: float = 0.0) -> None:
        self._most = self._left = seconds
        self._share = share
        self._at = time.monotonic()

    def require(self) -> None:
        """Raises PatternTooCostly when nothing is left."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._share)
        self._at = now
        if self._left <= 0:
            raise PatternTooCostly

    def spend(self, seconds: float) -> None:
        self._left -= seconds


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


def searcher(
    pattern: str, memory: int = MEMORY, budget: Budget | None = None
) -> Callable[[str], bool]:
    """Says whether the pattern matches anywhere in a text; raises PatternTooCostly when `budget` is
    used up.

    Raises InvalidExpression.
    """
    if pattern.lower().count(r"\p") > MOST_CLASSES:
        raise InvalidExpression(f"more than {MOST_CLASSES} Unicode classes")
    search = _compiled(pattern, memory)
    # Thousands that begin otherwise are told apart a hundred times as fast.
    prefix = literal_prefix(pattern)
    if budget is None:
        return lambda text: text.startswith(prefix) and search(text)

    def matches(text: str) -> bool:
        if not text.startswith(prefix):
            return False
        budget.require()
        began = time.thread_time()
        found = search(text)
        budget.spend(time.thread_time() - began)
        return found

    return matches


@functools.lru_cache(maxsize=COMPILED)
def _compiled(pattern: str, memory: int) -> Callable[[str], bool]:
    return _search(pattern, memory)


@functools.lru_cache(maxsize=10_000)
def _of_settings(pattern: str) -> Callable[[str], bool]:
    prefix, search = literal_prefix(pattern), _search(pattern, SETTINGS_MEMORY)
    return lambda text: text.startswith(prefix) and search(text)


def _search(pattern: str, memory: int) -> Callable[[str], bool]:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    try:
        search = re2.compile(pattern, options).search
    except re2.error as error:
        said = error.args[0]
        problem = said.decode(errors="replace") if isinstance(said, bytes) else said
        raise InvalidExpression(problem) from None
    return lambda text: search(text) is not None


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
