"""A group as a row of the overview: how it was judged, and what people have to do with it; or, of
one without a verdict, what else is known. And what is wrong in an incident: while it is open as it
is now, else as it was told, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

from warren.contracts import (
    STATUS_CHANGED,
    Acknowledgement,
    Breach,
    Cause,
    Condition,
    Finding,
    GroupMember,
    Silence,
    StatusChange,
)
from warren.reason_words import broken_in_short, in_short
from warren.words import as_of, loss_step
from warren_core.objectives.limits import ObjectiveBook
from warren_core.ownership import Ownership

from warren_api.context import ApiContext, Notes, Verdicts
from warren_api.model.group import (
    BrokenObjective,
    DataLoss,
    GroupView,
    Rank,
    Said,
    ShownStatusName,
    Verdict,
    broken_now,
)
from warren_api.model.incidents import IncidentRecord
from warren_api.model.membership import Membership
from warren_api.model.verdict import Kind, kind, rank


@dataclass(frozen=True, slots=True)
class Present:
    """What the rows of one answer have in common. `now`: Unix milliseconds."""

    verdicts: Verdicts
    notes: Notes
    book: ObjectiveBook
    """What objectives ask of groups, and whose these are."""
    is_stale: Callable[[GroupView], bool]
    """Whether its freshness was measured too long ago."""
    now: int

    @classmethod
    def of(cls, context: ApiContext, book: ObjectiveBook) -> Self:
        """At this moment."""
        verdicts, now = context.verdicts(), context.clock.now_ms()
        return cls(verdicts, context.notes(), book, context.is_freshness_stale, now)

    def row(self, view: GroupView) -> GroupRow:
        verdict = self.verdicts(view)
        return GroupRow(view.cluster, view.group, view.membership, self, view, verdict)

    def any_row(self, group: GroupView | Membership) -> GroupRow | UnjudgedRow:
        """With or without a verdict."""
        if isinstance(group, GroupView):
            return self.row(group)
        return UnjudgedRow(group.cluster, group.group, group, self)


@dataclass(frozen=True)
class AnyRow:
    """A group with or without a verdict; what is known of it either way."""

    cluster: str
    group: str
    membership: Membership | None
    present: Present

    @property
    def members(self) -> Sequence[GroupMember]:
        """As far as they are known."""
        return self.membership.event.members if self.membership else ()

    @property
    def ownership(self) -> Ownership:
        return self.present.book.ownership_for(self.cluster, self.group)

    @property
    def owner(self) -> str:
        """Whose it is; empty where nobody says it."""
        return self.ownership.owner or ""

    @property
    def silence(self) -> Silence | None:
        return self.present.notes.silence_of(self.cluster, self.group)

    @property
    def is_deserted(self) -> bool:
        """It has had members, as far as its coordinator says, and has none."""
        return self.membership is not None and not self.members


@dataclass(frozen=True)
class UnjudgedRow(AnyRow):
    """A group without a verdict."""

    membership: Membership

    @property
    def topics(self) -> Iterable[str]:
        """That its members subscribe to or are assigned."""
        return self.membership.topics


@dataclass(frozen=True)
class GroupRow(AnyRow):
    """Times in Unix milliseconds, durations in milliseconds."""

    view: GroupView
    verdict: Verdict

    @property
    def topics(self) -> Iterable[str]:
        return self.view.event.topics

    @property
    def acknowledgement(self) -> Acknowledgement | None:
        return self.present.notes.acknowledgement_of(self.cluster, self.group)

    @property
    def is_looked_after(self) -> bool:
        """Somebody has said so, or wants to hear nothing of it."""
        return self.acknowledgement is not None or self.silence is not None

    @property
    def status(self) -> ShownStatusName:
        """The worst of its conditions, as its incident has it, while that is to be believed."""
        return self.view.shown(self.verdict)

    @cached_property
    def kind(self) -> Kind:
        return kind(self.view, self.verdict, is_looked_after=self.is_looked_after)

    @property
    def rank(self) -> tuple[int, *Rank]:
        """Sorts rows, worst first."""
        return rank(self.view, self.kind)

    @property
    def data_loss(self) -> DataLoss:
        """While that is to be believed."""
        return self.view.data_loss if self.verdict.is_known else None

    @property
    def cause(self) -> Cause | None:
        """As last judged, where anything speaks clearly for one."""
        return self.view.cause

    def broken_now(self, broken: BrokenObjective) -> Said:
        """What is wrong with one of the objectives that it does not keep."""
        limits = self.present.book.limits_for(self.cluster, self.group)
        return broken_now(broken, self.view, limits, is_stale=self.present.is_stale(self.view))

    @property
    def since(self) -> int | None:
        """When the open incident began, however its status has changed meanwhile; without one, when
        the status did.
        """
        return self.verdict.since if self.not_ok_since is None else self.not_ok_since

    @property
    def incident(self) -> IncidentRecord | None:
        """The group's open one, of whichever conditions."""
        return self.present.notes.incidents.open_of(self.cluster, self.group)

    @property
    def not_ok_since(self) -> int | None:
        """When the open incident began."""
        return self.incident.opened_at if self.incident else None

    @property
    def changed_since(self) -> int | None:
        """When the status began, where that is later than the incident, as another status, did."""
        if self.status != self.verdict.status:
            return None
        opened_at, since = self.not_ok_since, self.verdict.since
        return since if opened_at is not None and since is not None and since > opened_at else None

    @property
    def late_ms(self) -> int | None:
        """How late, at least where only that is known."""
        return self.view.freshness.late_ms if self.view.freshness else None

    @property
    def first_loss_at(self) -> int | None:
        """When the first record will be lost, where that is near."""
        left, measured = self.view.loses_in_ms, self.view.freshness
        return None if left is None or measured is None else measured.at(left)


class Wrong(NamedTuple):
    """`cause`: where anything speaks clearly for one. `at`: when this was said (Unix milliseconds);
    None: it is so now.
    """

    sentence: str
    cause: Cause | None = None
    at: int | None = None
    follows: tuple[Finding, ...] = ()
    """Of other conditions of the same incident."""
    step: str = ""
    """What to do where no cause says it."""
    brief: str = ""
    """The sentence in a few words, where there is no cause."""

    @property
    def short(self) -> str | None:
        """What is wrong in a few words; None where nobody has put it so."""
        return (self.cause.short if self.cause else self.brief) or None

    @property
    def action(self) -> str:
        """What to do; empty where nobody can say."""
        return (self.cause.action if self.cause else None) or self.step

    @property
    def also(self) -> list[Finding]:
        """What follows from the cause and is seen, too."""
        return [*(self.cause.also if self.cause else []), *self.follows]


def wrong_in(incident: IncidentRecord, row: GroupRow | None) -> Wrong | None:
    """`row`: the group as it is now. Of several conditions the root, then what follows from it.
    None where nothing was said.
    """
    said = [
        (one, wrong)
        for one in incident.data.open or incident.data.over
        if (wrong := (_now(one, row) if one.is_open and row else None) or _told(one)) is not None
    ]
    if not said:
        return None
    (_, root), *others = said
    findings = root.cause.findings if root.cause else []
    lost = any(found.name == "records_lost" for found in findings)
    told = {root.sentence, *(found.sentence for found in findings)}
    follows = [
        Finding(
            name=one.type,
            sentence=wrong.sentence  # what was said then carries its time
            if wrong.at is None or row is None
            else as_of(wrong.sentence, wrong.at, row.present.now),
            action=wrong.action or None,
        )
        for one, wrong in others
        if not (lost and _is_loss(one)) and wrong.sentence not in told
    ]
    return root._replace(follows=tuple(follows))


def _is_loss(condition: Condition) -> bool:
    """Whether it says what a cause says, too, of records that retention has deleted."""
    return {breach.limit for breach in condition.change.objectives or ()} == {"lost_records"}


def _now(condition: Condition, row: GroupRow) -> Wrong | None:
    if condition.type != STATUS_CHANGED:
        mine = [each for each in row.view.broken if each.incident_id == condition.incident_id]
        if not mine:
            return None
        said = row.broken_now(mine[0])
        breach = mine[0].breach
        step = loss_step([breach])
        return Wrong(said.sentence, at=said.at, step=step, brief=_broken_in_short(breach))
    event = row.view.event
    if event.incident is None or event.incident.id != condition.incident_id:
        return None
    said_by = row.cause.sentence if row.cause else event.explanation
    at = None if row.verdict.is_known else event.evaluated_at
    brief = in_short(event.reason) if event.reason else ""
    return Wrong(said_by, row.cause, at, step=row.view.action, brief=brief) if said_by else None


def _told(condition: Condition) -> Wrong | None:
    """The cause; where there is none, the explanation."""
    change, at = condition.change, condition.changed_at
    if change.cause is not None and change.cause.is_known:
        return Wrong(change.cause.sentence, change.cause, at)
    if change.explanation:
        return Wrong(change.explanation, at=at, brief=_brief(change))
    return None


def _brief(change: StatusChange) -> str:
    if change.objectives:
        return _broken_in_short(change.objectives[0])
    return in_short(change.reason) if change.reason else ""


def _broken_in_short(breach: Breach) -> str:
    return broken_in_short(breach.objective, breach.limit)
