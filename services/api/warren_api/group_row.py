"""A group as a row of the overview: how it was judged, how it stands, and what people have to do
with it; or, of one without a verdict, what else is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

from warren.contracts import Acknowledgement, Cause, GroupIncident, GroupMember, Silence
from warren_core.objectives.limits import ObjectiveBook
from warren_core.ownership import Ownership
from warren_core.standing.endings import end_of, is_recovery
from warren_core.standing.facts import DRAWN, Fact, facts_of, lag_figure
from warren_core.standing.problems import Problem, problems_in
from warren_core.standing.renewal import Known
from warren_core.standing.standing import Standing

from warren_api.context import ApiContext, Notes, Verdicts
from warren_api.model.group import (
    BrokenObjective,
    DataLoss,
    GroupView,
    Rank,
    ShownStatusName,
    Verdict,
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
    servers: Callable[[str], Sequence[str]]
    """Bootstrap servers of a cluster."""
    fresh_ms: int
    """What was judged within that time is so now."""
    now: int

    @classmethod
    def of(cls, context: ApiContext, book: ObjectiveBook) -> Self:
        """At this moment."""
        verdicts, now = context.verdicts(), context.clock.now_ms()
        stale, fresh_ms = context.is_freshness_stale, context.stale_after_ms
        return cls(verdicts, context.notes(), book, stale, context.servers, fresh_ms, now)

    def row(self, view: GroupView) -> GroupRow:
        verdict = self.verdicts(view)
        return GroupRow(view.cluster, view.group, view.membership, self, view, verdict)

    def shown(self, row: GroupRow, data: GroupIncident | None) -> Shown:
        """How a group stands, with its incident if there is one."""
        said, silence, view = row.acknowledgement, row.silence, row.view
        known = Known(
            view.event,
            view.freshness.event if view.freshness else None,
            self.book.limits_for(row.cluster, row.group),
            said,
            silence.ends_at if silence else None,
            ",".join(self.servers(row.cluster)),
            ownership=row.ownership,
            members=len(row.members) if row.membership else None,
        )
        standing = (
            Standing.without_incident(row.cluster, row.group, known)
            if data is None
            else Standing.of(data, known)
        )
        return Shown(standing, self.now, self.fresh_ms if row.verdict.is_known else 0)

    def incident(self, incident: IncidentRecord, row: GroupRow | None) -> Shown:
        """How one stands, or stood; `row`: the group as it is now."""
        if incident.is_open and row is not None:
            return row.shown
        return Shown(Standing.of(incident.data), self.now, 0)

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
        silences = self.present.notes.silences
        return silences.of(self.cluster, self.group) if silences else None

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

    @property
    def last_status(self) -> ShownStatusName:
        """The status; while nobody knows it, the last one that somebody had to look at."""
        if self.status == "UNKNOWN" and self.kind != "unknown":
            return self.view.shown(self.view.judged)
        return self.status

    @cached_property
    def kind(self) -> Kind:
        return kind(self.view, self.verdict, is_looked_after=self.is_looked_after)

    @property
    def rank(self) -> tuple[int, *Rank]:
        """Sorts rows, worst first."""
        return rank(self.view, self.kind)

    @property
    def data_loss(self) -> DataLoss:
        """As last known: who loses records does, until somebody knows better."""
        return self.view.data_loss

    @cached_property
    def shown(self) -> Shown:
        """How it stands."""
        incident = self.incident
        return self.present.shown(self, None if incident is None else incident.data)

    @property
    def cause(self) -> Cause | None:
        """As last judged, where anything speaks clearly for one."""
        return self.shown.standing.cause

    def said_of(self, broken: BrokenObjective) -> tuple[str, int | None]:
        """What is wrong with one of the objectives that it does not keep, and when that was said,
        Unix milliseconds, None: it is so now. As it was told where the newest measurement says
        nothing, or that it is kept by now.
        """
        standing, mine = self.shown.standing, (broken.breach.objective, broken.breach.limit)
        for each in (*standing.open, *standing.kept):
            for one in problems_in(each.change, each.changed_at):
                if (one.objective, one.name) == mine:
                    return one.sentence, one.at if self.shown.is_old(one.at) else None
        return broken.breach.sentence, broken.told_at

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


class Shown(NamedTuple):
    """How a group stands, or stood, `now` (Unix milliseconds). `old_ms`: what is older than that
    may be otherwise by now, and carries its time.
    """

    standing: Standing
    now: int
    old_ms: int

    def is_old(self, at: int) -> bool:
        return self.now - at >= self.old_ms

    @property
    def problems(self) -> list[tuple[Problem, int | None]]:
        """What is wrong or, of what is over, was, the root first; and when that was said, None: it
        is so now.
        """
        now, was = self.standing.problems, self.standing.was
        of_now = [(each, each.at if self.is_old(each.at) else None) for each in now]
        return of_now or [(each, each.at) for each in was]

    @property
    def short(self) -> str:
        """In a few words; empty where nothing is known to be wrong."""
        of, said = self.standing, self.standing.what(self.now)
        return f"{said}; {end_of(of)[0]}" if of.has_ended and not is_recovery(of) else said

    @property
    def why(self) -> str:
        """All sentences on one line."""
        old_ms = self.old_ms if self.standing.problems else 0
        found = (each.said(self.now, old_ms) for each, _ in self.problems if each.sentence)
        return "; also: ".join(found)

    @property
    def facts(self) -> list[Fact]:
        return facts_of(self.standing, self.now, self.old_ms)

    @property
    def further(self) -> list[Fact]:
        """Facts that have no place of their own on a page."""
        return [fact for fact in self.facts if fact.name not in DRAWN]

    @property
    def lag(self) -> str:
        """`2,140`; `≥ 2,140`: at least."""
        lag = self.standing.figures.lag
        return "unknown" if lag is None else lag_figure(lag)
