"""What somebody may have meant who mistyped a name."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from warren.words import visible

_MOST = 3
_FEW = 10


def did_you_mean(name: str, known: Collection[str], plural: str) -> str:
    """The end of an error's sentence: names that are close, else all where they are few."""
    if close := get_close_matches(name, known, n=_MOST):
        return f"; did you mean {' or '.join(map(visible, close))}?"
    if not known:
        return f"; there are no {plural} yet"
    if len(known) <= _FEW:
        return f"; there are: {', '.join(map(visible, sorted(known)))}"
    return f"; `warren get {plural}` lists them"
