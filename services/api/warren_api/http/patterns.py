"""Regular expressions of clients (`warren.patterns`), with a budget for all names of a request.

Bounded repetitions of large classes, `(.{1,60}){16}x`, cost milliseconds a name even with RE2: the
budget bounds how long a pattern may keep the API busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from warren.patterns import searcher

BUDGET = 0.5  # seconds of CPU


class PatternTooCostly(Exception):
    """A pattern has used up the time that a request may spend on matching."""


def matcher(pattern: str, budget: float | None = BUDGET) -> Callable[[str], bool]:
    """Says whether the pattern matches anywhere in a text; raises PatternTooCostly once all calls
    together have taken `budget` (seconds of CPU; None: one call after the other over a long time).

    Raises ValueError that says what is wrong with the pattern.
    """
    search = searcher(pattern)
    if budget is None:
        return search
    spent = 0.0

    def matches(text: str) -> bool:
        nonlocal spent
        began = time.thread_time()
        found = search(text)
        spent += time.thread_time() - began
        if spent > budget:
            raise PatternTooCostly
        return found

    return matches
