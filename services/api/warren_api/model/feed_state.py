"""How it stands with reading Warren's own topics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeedState:
    """`ready`: the ends seen at start were passed once. `problem`: None while the feed works.
    `freshness`, `members`: whether there is a topic of them that may be read.
    `standstill`: why the service is not ready though it once was: reading does not go on.
    """

    ready: bool
    problem: str | None
    freshness: bool = True
    members: bool = True
    standstill: str | None = None

    @property
    def is_whole(self) -> bool:
        return self.freshness and self.members
