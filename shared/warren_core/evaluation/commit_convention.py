"""What a group commits: the offset that it will read next, as nearly all do, or the last one that
it has processed. Nothing in Kafka says so; where commits come to rest does.

A group that has reached the end of a log rests at the end, or one before it. One that is stuck on
the last record of a log rests one before it, too: but at one end only, while a group that commits
what it has processed comes to rest so at one end after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import CommitConvention

# Two ends, of one partition or of two: at one of them alone, a group may be stuck.
ENOUGH_RESTS = 2
# So long neither the log nor the group has moved: what is only under way does not rest.
REST_MS = 5_000


class Rest(NamedTuple):
    """A partition whose group stays at the last record, and where its log ended then."""

    partition: int
    log_end: int


@dataclass(frozen=True, slots=True)
class CommitEvidence:
    """What was seen of one group in one topic."""

    rests: frozenset[Rest] = frozenset()
    has_reached_end: bool = False
    """It has committed the end of a log once: who commits the last processed one never does."""

    @classmethod
    def of(cls, convention: CommitConvention | None) -> CommitEvidence:
        """What somebody else has seen."""
        if convention is None:
            return cls()
        ends = range(ENOUGH_RESTS) if convention == "last_processed" else ()
        return cls(frozenset(Rest(0, end) for end in ends), convention == "next")

    @property
    def convention(self) -> CommitConvention | None:
        """None while nothing tells."""
        if self.has_reached_end:
            return "next"
        return "last_processed" if len(self.rests) >= ENOUGH_RESTS else None

    @property
    def steps(self) -> int:
        """From the committed offset to the one that is read next."""
        return 1 if self.convention == "last_processed" else 0

    def and_seen(self, rests: Iterable[Rest], *, at_end: bool) -> CommitEvidence:
        """With what one more look has shown."""
        if self.has_reached_end or at_end:
            return self if self.has_reached_end else CommitEvidence(has_reached_end=True)
        if len(self.rests) >= ENOUGH_RESTS:
            return self
        more = self.rests.union(rests)
        return self if more == self.rests else CommitEvidence(more)


Commits = Mapping[str, CommitEvidence]
"""By topic."""


def last_processed(commits: Commits) -> list[str]:
    """Topics in which the group commits the last offset that it has processed."""
    return [topic for topic, evidence in commits.items() if evidence.steps]
