"""Scope: which series of groups a panel is about, and what tells them from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Noun = Literal["group", "topic", "partition"]
SHOWN = 20  # series of a graph, the worst ones: more cannot be told from each other


@dataclass(frozen=True, slots=True)
class Scope:
    """`noun`: how fine the series are, `where` selects them, `by` are the labels that are kept.

    Every copy of the API serves them all: so they are taken together by max or min, never added up.
    """

    noun: Noun
    where: str
    by: tuple[str, ...]

    def largest(self, figure: str) -> str:
        return self._taken("max", figure)

    def smallest(self, figure: str) -> str:
        return self._taken("min", figure)

    def most(self, figure: str) -> str:
        """Those that have the most of it."""
        return f"topk({SHOWN}, {self.largest(figure)})"

    def least(self, figure: str) -> str:
        return f"bottomk({SHOWN}, {self.smallest(figure)})"

    @property
    def legend(self) -> str:
        return " ".join(f"{{{{{label}}}}}" for label in self.by)

    @property
    def status(self) -> str:
        """Of groups: 3 ERR, 2 WARN, 1 UNKNOWN, 0 OK, as `stat.STATUSES` has them."""
        each = " or ".join(
            f'warren_group_status{{status="{status}",{self.where}}} * {badness}'
            for status, badness in (("ERR", 3), ("WARN", 2), ("UNKNOWN", 1))
        )
        return f"max by ({', '.join(self.by)}) ({each})"

    def with_status(self, status: str) -> str:
        """How many groups have it."""
        labels = ", ".join(self.by)
        return (
            f"count(max by ({labels}) "
            f'(warren_group_status{{status="{status}",{self.where}}}) == 1) or vector(0)'
        )

    def _taken(self, how: str, figure: str) -> str:
        labels = ", ".join(self.by)
        return f"{how} by ({labels}) (warren_{self.noun}_{figure}{{{self.where}}})"
