"""Regular expressions of clients (`warren.patterns`), with a budget for all names of a request."""

from __future__ import annotations

from collections.abc import Callable

from warren.patterns import Budget, searcher

BUDGET = 0.5  # seconds of CPU that a request may spend on matching


def matcher(pattern: str, share: float = 0.0) -> Callable[[str], bool]:
    """Says whether the pattern matches anywhere in a text; raises PatternTooCostly once all calls
    together have taken too long. `share`: what comes back in each second, where a request lasts.

    Raises InvalidExpression, which says what is wrong with the pattern.
    """
    return searcher(pattern, budget=Budget(BUDGET, share))
