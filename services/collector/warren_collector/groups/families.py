"""Families: groups whose names were generated and differ in nothing else, and who of them was left.

Queries, previews and replays come for a minute under a name of their own, and leave it behind with
what they have committed. Nobody comes back to such a name. Only those count that this collector saw
come and go: of a group that was there before, nobody knows how long it has lived.
"""

import re

from warren.contracts.group_event import FIRST_OF_FAMILY

Place = tuple[int, str]
"""Source partition and name of a group."""

LIVED_MS = 3_600_000
"""Whoever was there for an hour did not come for a query: it is missed, whatever its name."""
# A UUID; a number of four digits; eight letters and digits with letters between digits.
_GENERATED = re.compile(
    r"(?<![a-z0-9])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4,}"
    r"|(?=[a-z0-9]{8})[a-z]*\d+[a-z]+\d[a-z0-9]*)(?![a-z0-9])",
    re.IGNORECASE,
)


def family(name: str) -> str | None:
    """`adhoc_*` for `adhoc_4611686018427387904`; None for a name of which nothing was generated."""
    alike, generated = _GENERATED.subn("*", name)
    return alike if generated else None


class Families:
    """Who came and was left behind, by family, in that order; no clock, no I/O."""

    def __init__(self) -> None:
        self._came_at: dict[Place, int] = {}
        self._left: dict[str, list[Place]] = {}
        self._changed: set[Place] = set()

    def take_changed(self) -> set[Place]:
        """Of whom something else is to be told than before: the first of families that grew."""
        changed, self._changed = self._changed, set()
        return changed

    def came(self, place: Place, at: int) -> None:
        """A group was seen for the first time, Unix milliseconds, that was not there before."""
        self._came_at[place] = at

    def follow(self, place: Place, at: int, *, is_left: bool) -> tuple[int, int] | None:
        """How many of its family were left before it, and after it, as far as the first are told
        so; None where it is in none. `is_left`: it has no members, Unix milliseconds.
        """
        came_at = self._came_at.get(place)
        alike = None if came_at is None else family(place[1])
        if came_at is None or alike is None:
            return None
        left = self._left.setdefault(alike, [])
        was_left = place in left
        if is_left and not was_left and at - came_at < LIVED_MS:
            left.append(place)
        elif was_left and not is_left:
            left.remove(place)
        if (place in left) != was_left:
            self._changed.update(left[:FIRST_OF_FAMILY])
        if place not in left:
            return None
        before = left.index(place)
        return before, len(left) - before - 1 if before < FIRST_OF_FAMILY else 0

    def forget(self, place: Place) -> None:
        """It is gone, or another collector's."""
        if self._came_at.pop(place, None) is None:
            return
        left = self._left.get(family(place[1]) or "", [])
        if place in left:
            left.remove(place)
