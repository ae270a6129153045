"""An incident of a report: of a condition, or of a group with all of its conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from warren.bootstrap import runnable
from warren.words import LOSS_LIMITS

Key = tuple[str, str]
"""Cluster and group."""
LOST = "records_lost"
"""The name of a cause."""


@dataclass(frozen=True, slots=True)
class Consequence:
    """What followed from an incident's cause."""

    name: str
    sentence: str
    action: str | None


@dataclass(frozen=True, slots=True)
class Incident:
    """As it was at the period's end. Times in Unix milliseconds."""

    cluster: str
    group: str
    incident_id: str
    opened_ms: int
    closed_ms: int | None
    """None: not over yet."""
    told_ms: int | None
    worst: str
    reason: str | None
    cause: str | None
    """The last that was known: its name."""
    explanation: str | None
    peak_lag: int
    flapped: bool = False
    """Began within 15 min of the end of the group's one before."""
    sentence: str | None = None
    """The cause, with the figures of `said_ms`; None: not known, or not archived."""
    action: str | None = None
    """What to do about it."""
    also: Sequence[Consequence] = ()
    said_ms: int | None = None
    seen_ms: int | None = None
    """When `explanation` was told; None: not known."""

    def addressed(self, servers: str) -> Self:
        """With the bootstrap servers of its cluster in the commands of what to do."""

        def said(action: str | None) -> str | None:
            return action and runnable(action, servers, self.cluster)

        also = [replace(each, action=said(each.action)) for each in self.also]
        return replace(self, action=said(self.action), also=also)

    @property
    def key(self) -> Key:
        return self.cluster, self.group

    @property
    def length_ms(self) -> int | None:
        return None if self.closed_ms is None else self.closed_ms - self.opened_ms

    @property
    def is_about_loss(self) -> bool:
        """Whether it is of a limit on what retention deletes unread: its figure is of then."""
        return self.sentence is None and self.reason in LOSS_LIMITS

    @property
    def loss(self) -> str | None:
        """What it says of records that are lost, whether they are its cause or followed from it."""
        if self.cause == LOST:
            return self.sentence
        return next((each.sentence for each in self.also if each.name == LOST), None)
