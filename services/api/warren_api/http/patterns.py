"""Regular expressions of clients: RE2 with little memory, and a budget for all names of a request.

Python's `re` backtracks: `(a+)+$` takes ages over one long name. RE2 does not, but bounded
repetitions of large classes, `(.{1,60}){16}x`, still cost milliseconds a name: the memory bounds
how large a pattern may become, the budget how long it may keep the API busy.
Syntax: https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import time
from collections.abc import Callable

import re2

MEMORY = 256 * 1024  # bytes: two thirds for the pattern, one for what matching it takes
BUDGET = 0.5  # seconds of CPU


class PatternTooCostly(Exception):
    """A pattern has used up the time that a request may spend on matching."""


def matcher(pattern: str, budget: float | None = BUDGET) -> Callable[[str], bool]:
    """Says whether the pattern matches anywhere in a text; raises PatternTooCostly once all calls
    together have taken `budget` (seconds of CPU; None: one call after the other over a long time).

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
    if budget is None:
        return lambda text: search(text) is not None
    spent = 0.0

    def matches(text: str) -> bool:
        nonlocal spent
        began = time.thread_time()
        found = search(text) is not None
        spent += time.thread_time() - began
        if spent > budget:
            raise PatternTooCostly
        return found

    return matches
