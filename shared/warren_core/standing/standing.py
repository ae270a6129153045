"""How a group stands at one moment: one value, made in one place, that page, terminal, mail, chat
and report only print. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from warren.bootstrap import COMMAND, VARIABLE, runnable
from warren.contracts import (
    MAX_OBJECTIVES,
    Acknowledgement,
    Breach,
    Cause,
    Condition,
    EventTypeName,
    GroupIncident,
    GroupStatusName,
    StatusChange,
)
from warren.words import clock, in_sentence, is_web_link, shell_word, visible

from warren_core.group_incident import lost_by_now, worst_of
from warren_core.ownership import NOBODY_S, Ownership
from warren_core.standing.figures import Figures, figures_in, figures_of, said_at, said_of
from warren_core.standing.problems import Problem, measured, problems_of
from warren_core.standing.renewal import Known, renewed


@dataclass(frozen=True)
class Standing:
    """Conditions come the root first: `open`, `kept` (well again, though their incidents are not
    over), `over`. `data`: the incident as published; None: there is none.
    """

    cluster: str
    group: str
    data: GroupIncident | None
    open: Sequence[Condition]
    kept: Sequence[Condition]
    over: Sequence[Condition]
    figures: Figures
    seen: Sequence[Problem]
    """What was measured, whether a condition says it or not."""
    lost: int
    """Records that retention has deleted unread in the incident."""
    acknowledged: Acknowledgement | None = None
    silenced_until: int | None = None
    """Unix milliseconds."""
    members: int | None = None
    ownership: Ownership = NOBODY_S
    servers: str = ""
    """Bootstrap servers of its cluster; empty where they are not known."""

    @classmethod
    def of(cls, data: GroupIncident, known: Known | None = None) -> Self:
        """Of a group that has, or had, an incident. Without what is known: as it is published."""
        return cls._of(data.cluster, data.group, data, known or Known())

    @classmethod
    def without_incident(cls, cluster: str, group: str, known: Known) -> Self:
        """Of a group that is well, or whose incident is not known yet."""
        return cls._of(cluster, group, None, known)

    @classmethod
    def _of(cls, cluster: str, group: str, data: GroupIncident | None, known: Known) -> Self:
        known = known.as_counted
        conditions, lag, freshness = renewed(data, known), known.lag, known.freshness
        about = (data.open or data.ended) if data is not None else []
        is_newest = data is None or (
            data.is_open and lag is not None and lag.evaluated_at >= data.changed_at
        )
        figures, seen, lost = Figures(), list[Problem](), 0
        if lag is not None and is_newest:
            figures = figures_of(lag, freshness)
            seen = [*measured(lag, freshness)] if freshness is not None else []
            if freshness is not None and (data is None or freshness.measured_at >= data.opened_at):
                lost = freshness.lost_records
        elif about:  # as published: what was judged since has figures of its own
            figures = figures_in(about)
        return cls(
            cluster,
            group,
            data,
            conditions.open,
            conditions.kept,
            conditions.over,
            figures,
            seen,
            lost if data is None else lost_by_now(data, lost),
            known.acknowledged,
            known.silenced_until,
            known.members,
            known.ownership,
            known.servers,
        )

    @property
    def status(self) -> GroupStatusName:
        """The worst of what is wrong; OK where nothing is by now, though it may be again."""
        if self.open or self.kept or self.data is None:
            return worst_of(each.change.status for each in self.open)
        return self.data.status

    @property
    def opened_at(self) -> int | None:
        """Since when it has not been OK, Unix milliseconds; None: it is."""
        if self.data is not None:
            return self.data.opened_at
        return min((each.since for each in self.open), default=None)

    @property
    def ended(self) -> Sequence[Condition]:
        """What the change of the incident has ended."""
        return self.data.ended if self.data is not None else ()

    @property
    def _spoken(self) -> list[Condition]:
        """All of which something is to be said, the root first."""
        return [*self.open, *self.kept, *self.ended]

    @property
    def has_ended(self) -> bool:
        """Whether its incident is over."""
        return self.data is not None and not self.data.is_open

    @property
    def at(self) -> int:
        """As of when it is so, Unix milliseconds."""
        known = [said_at(each) for each in (*self.open, *self.kept)]
        return max([*known, *([self.data.changed_at] if self.data is not None else [])])

    @property
    def kept_at(self) -> int | None:
        """When all was seen to be well again, likewise; None: it is not, or is over."""
        return None if self.open or not self.kept else max(said_at(each) for each in self.kept)

    @cached_property
    def problems(self) -> list[Problem]:
        """What is wrong now, the root first."""
        return self._problems(self.open, self.seen)

    @cached_property
    def was(self) -> list[Problem]:
        """What is well again, or over."""
        return self._problems(self.kept or list(self.over))

    def _problems(
        self, conditions: Sequence[Condition], seen: Sequence[Problem] = ()
    ) -> list[Problem]:
        return [
            each._replace(action=runnable(each.action, self.servers, self.cluster))
            for each in problems_of(conditions, seen)
        ]

    @property
    def cause(self) -> Cause | None:
        """Of the root, or what follows from it, as far as anything speaks clearly for one; None:
        nothing does, or nothing is wrong by now.
        """
        causes = (each.change.cause for each in self.open)
        return next((cause for cause in causes if cause is not None and cause.is_known), None)

    @property
    def is_losing(self) -> bool:
        """Whether records were deleted before the group had consumed them."""
        return any(each.is_lost for each in self.problems)

    def what(self, now: int) -> str:
        """What is wrong in a few words or, of what is over, was; where all is well by now, both.
        `now`: Unix milliseconds.
        """
        if self.kept_at is not None:
            return f"OK at {clock(self.kept_at, now)}, was {in_sentence(in_few_words(self.was))}"
        return in_few_words(self.problems or self.was)

    @property
    def steps(self) -> list[str]:
        """What to do, first things first; at least one where something is wrong."""
        if not self.problems:
            return []
        known = [each.action for each in self.problems if each.action]
        known += [each for each in self.runbooks if not is_web_link(each)]
        found = list(dict.fromkeys(known))
        name = shell_word(f"{self.cluster}/{self.group}")
        return found or [f"Look at it: warren describe group {name}"]

    @property
    def commands(self) -> list[str]:
        """To run: what the steps name, then what describes the group."""
        address = shell_word(self.servers.replace(" ", "")) if self.servers else VARIABLE
        named = [each.strip() for step in self.steps for each in COMMAND.findall(step)]
        describe = f"kafka-consumer-groups --bootstrap-server {address} --describe --group"
        return [*named, f"{describe} {shell_word(self.group)}"]

    @property
    def _owning(self) -> list[Breach | StatusChange | Ownership]:
        """What may say whose it is: objectives that have an own, then the group's."""
        changes = [each.change for each in self._spoken]
        breaches = [breach for change in changes for breach in change.objectives or ()]
        return [*breaches, *changes, self.ownership]

    @property
    def owners(self) -> list[str]:
        return list(dict.fromkeys(each.owner for each in self._owning if each.owner))

    @property
    def runbooks(self) -> list[str]:
        return list(dict.fromkeys(each.runbook for each in self._owning if each.runbook))

    @property
    def labels(self) -> Iterable[tuple[str, str]]:
        """What else is told of the group, as settings have it or, without them, its events."""
        said = (each.change.labels for each in self._spoken)
        return self.ownership.labels or sorted((next(filter(None, said), None) or {}).items())

    @property
    def event_type(self) -> EventTypeName:
        """Of the root."""
        return self.first.type

    @property
    def root_at(self) -> int:
        """When partitions, and the largest lag of one, were so: they are the root's."""
        return said_at(self.first)

    @property
    def first(self) -> Condition:
        """The root, or what it was."""
        return [*self._spoken, *self.over][0]

    @cached_property
    def change(self) -> StatusChange:
        """All of it as one status change, for machines; of what has or had an incident."""
        root, data, figures = said_of(self.first), self.data, self.figures
        breaches = [b for each in self.open for b in each.change.objectives or []]
        late, left = figures.late, figures.loss_at
        update: dict[str, object] = {
            "total_lag": figures.lag.value if figures.lag is not None else 0,
            "objectives": breaches[:MAX_OBJECTIVES] if breaches else root.objectives,
            "late_ms": late and late.value,
            "time_to_loss_ms": left and max(left.value - left.at, 0),
        }
        if data is not None:
            names = ("status", "previous", "incident_id", "opened_at")
            update |= {name: getattr(data, name) for name in names}
        if not self.open and self.kept:
            update |= {
                "cause": None,
                "explanation": None,
                "objectives": None if root.objectives is None else [],
                "max_lag": None,
                "partition_counts": {},
                "partitions": [],
                "partitions_omitted": 0,
            }
        return root.model_copy(update=update)


def things(problems: Iterable[Problem]) -> list[str]:
    """What is wrong in a few words, each once; of consequences only a loss."""
    said = (each.short for each in problems if each.kind != "consequence" or each.is_lost)
    return list(dict.fromkeys(map(visible, said)))


def in_few_words(problems: Iterable[Problem]) -> str:
    """`Stuck at one record, losing data`."""
    first, *others = things(problems) or [""]
    return ", ".join([first, *map(in_sentence, others)])
