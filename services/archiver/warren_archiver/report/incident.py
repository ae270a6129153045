"""A group's incident in a report, and its words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from warren.bootstrap import runnable
from warren.contracts import Cause, Condition, Finding, GroupIncident
from warren.words import LOSS_LIMITS, as_of
from warren_core.group_incident import LOST_CAUSE
from warren_core.standing.standing import Standing

Key = tuple[str, str]
"""Cluster and group."""


@dataclass(frozen=True, slots=True)
class Incident:
    """As it was at the period's end. Times in Unix milliseconds."""

    cluster: str
    group: str
    incident_id: str
    opened_ms: int
    closed_ms: int | None
    """None: not over yet."""
    notified_ms: int | None
    worst: str
    reason: str | None
    """That the root condition gives."""
    cause: str | None
    """Its name; None: not known."""
    sentence: str | None
    """What was wrong, with the figures of `said_ms`: the cause, or what was seen."""
    action: str | None
    """What to do about it."""
    also: Sequence[Finding]
    said_ms: int
    peak_lag: int
    flapped: bool = False
    """Began within 15 min of the end of the group's one before."""

    def addressed(self, servers: str) -> Self:
        """With the bootstrap servers of its cluster in the commands of what to do."""

        def said(action: str | None) -> str | None:
            return action and runnable(action, servers, self.cluster)

        also = [each.model_copy(update={"action": said(each.action)}) for each in self.also]
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
        return self.cause is None and self.reason in LOSS_LIMITS

    @property
    def loss(self) -> str | None:
        """What it says of records that are lost, whether they are its cause or followed from it."""
        if self.cause == LOST_CAUSE:
            return self.sentence
        return next((each.sentence for each in self.also if each.name == LOST_CAUSE), None)


class Judged(NamedTuple):
    """The cause that an evaluation gives, and when, Unix milliseconds."""

    cause: Cause
    at: int


def incident(
    data: GroupIncident, judged: Mapping[str, Judged], notified_ms: int | None, *, flapped: bool
) -> Incident:
    """An incident in the words of pages and mails. `judged`: causes that are newer than the change,
    by the condition's incident.
    """
    conditions = [_by(each, judged.get(each.incident_id)) for each in data.conditions]
    standing = Standing.of(data.model_copy(update={"conditions": conditions}))
    root, *others = standing.problems or standing.was
    also = [
        Finding(
            name=each.name,
            sentence=each.sentence
            if each.kind == "consequence"
            else as_of(each.sentence, each.at, each.at),
            action=each.action or None,
        )
        for each in others
        # How much was lost is said of the group, with its last figure.
        if each.sentence and not (each.kind == "objective" and each.name in LOSS_LIMITS)
    ]
    return Incident(
        data.cluster,
        data.group,
        data.incident_id,
        data.opened_at,
        data.closed_at,
        notified_ms,
        data.worst,
        root.name if root.kind == "objective" else standing.first.change.reason,
        root.name if root.kind == "cause" else None,
        root.sentence or root.short,
        root.action or None,
        also,
        root.at,
        data.max_total_lag,
        flapped,
    )


def _by(condition: Condition, judged: Judged | None) -> Condition:
    if judged is None or judged.at < condition.changed_at or condition.change.objectives:
        return condition
    change = condition.change.model_copy(update={"cause": judged.cause})
    return condition.model_copy(update={"changed_at": judged.at, "change": change})
