"""How it stands with reading Warren's own topics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeedState:
    """`ready`: the ends seen at start were passed once. `problem`: None while the feed works.
    `freshness`, `members`: whether there is a topic of them that may be read.
    """

    ready: bool
    problem: str | None
    freshness: bool = True
    members: bool = True

    @property
    def is_whole(self) -> bool:
        return self.freshness and self.members
