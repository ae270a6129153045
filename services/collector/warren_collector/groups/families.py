"""Families: groups whose names were generated and differ in nothing else, and who of them was left.

Queries, previews and replays come for a minute under a name of their own, and leave it behind with
what they have committed. Nobody comes back to such a name.
"""

import re
from bisect import insort
from typing import NamedTuple

from warren.contracts.group_event import FIRST_OF_FAMILY

Place = tuple[int, str]
"""Source partition and name of a group."""

# A UUID; a number of four digits; five letters and digits with two digits among them.
_GENERATED = re.compile(
    r"(?<![a-z0-9])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4,}"
    r"|(?=[a-z]*\d[a-z]*\d)(?=\d*[a-z])[a-z0-9]{5,})(?![a-z0-9])",
    re.IGNORECASE,
)


def family(name: str) -> str | None:
    """`adhoc_*` for `adhoc_4611686018427387904`; None for a name of which nothing was generated."""
    alike, generated = _GENERATED.subn("*", name)
    return alike if generated else None


class _Left(NamedTuple):
    """In the order in which they were left; `committed_at`: the newest commit, Unix ms."""

    committed_at: int
    place: Place


class Families:
    """Who was left behind, by family; no clock, no I/O."""

    def __init__(self) -> None:
        self._left: dict[str, list[_Left]] = {}
        self._of: dict[Place, tuple[str, _Left]] = {}
        self._changed: set[Place] = set()

    def take_changed(self) -> set[Place]:
        """Of whom something else is to be told than before: the first of families that grew."""
        changed, self._changed = self._changed, set()
        return changed

    def follow(self, place: Place, left_at: int | None) -> tuple[int, int] | None:
        """How many of its family were left before it, and after it; None where it is in none.

        `left_at`: its newest commit, of one without members; None of all others.
        """
        before = self._of.pop(place, None)
        if before is not None:
            self._left[before[0]].remove(before[1])
        alike = None if left_at is None else family(place[1])
        if alike is None or left_at is None:
            if before is not None:
                self._change(before[0])
            return None
        left = self._left.setdefault(alike, [])
        mine = _Left(left_at, place)
        insort(left, mine)
        self._of[place] = alike, mine
        if before != (alike, mine):
            self._change(alike)
        at = left.index(mine)
        return at, len(left) - at - 1 if at < FIRST_OF_FAMILY else 0

    def _change(self, alike: str) -> None:
        self._changed.update(each.place for each in self._left[alike][:FIRST_OF_FAMILY])
        if not self._left[alike]:
            del self._left[alike]
