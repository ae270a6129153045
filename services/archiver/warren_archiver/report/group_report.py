"""A report: what each group was like in a period [start, end), and what is to be done.

* A status holds from its evaluation until the group's next one, at most `max_gap`, clipped to the
  period. What is left over is `unknown`: nobody judged the group then.
* Lag figures are of the evaluations in the period, each counting once: percentiles by nearest rank,
  so they are values that occurred. In a period that gold's hours are used for they are off by at
  most `error`.
* Rates and lateness are of the minutes in which they are known, up to the report's stamps.

And a group's incident in a report, with its words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import NamedTuple, Self

from warren.bootstrap import runnable
from warren.contracts import Cause, Condition, Finding, GroupIncident
from warren.words import LOSS_LIMITS, as_of, visible
from warren_core.group_incident import LOST_CAUSE
from warren_core.standing.standing import Standing

from warren_archiver.report.period import Period

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


SOON_DAYS = 90
"""Days ahead, by the trend of capacity, that are told of."""
LOSS_SOON_DAYS = 7
"""Days until loss, by the trend, below which somebody should act."""
STATUSES = ("OK", "WARN", "ERR", "NOTFOUND")


SHOWN = ("OK", "WARN", "ERR")
"""Statuses with a figure of their own."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Whether a group will keep up: of the table `capacity`. Rates in records a second."""

    capacity: float | None
    level: float | None
    slope: float | None
    crosses_on: date | None
    earliest_on: date | None
    latest_on: date | None
    crosses_in_days: float | None
    days_until_loss: float | None


@dataclass(frozen=True, slots=True)
class Budget:
    """Of an objective's limit, over 30 days: of the table `error_budgets`."""

    cluster: str
    group: str
    objective: str
    limit: str
    target: float
    attainment: float
    left: float


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group. Durations in milliseconds, lags in records, rates in records a second."""

    cluster: str
    group: str
    status: str | None
    """At the period's end; None: unknown or gone."""
    held_ms: dict[str, int]
    """By status; statuses that did not occur have 0."""
    unknown_ms: int
    evaluations: int
    lag_p50: int | None
    """None: beyond all numbers."""
    lag_p95: int | None
    lag_max: int | None
    """Of lags None: nobody judged it."""
    produce_rate: float | None = None
    consume_rate: float | None = None
    late_p95_ms: int | None = None
    late_max_ms: int | None = None
    time_to_loss_ms: int | None = None
    """The least."""
    lost_records: int | None = None
    """That retention deleted unread within the period.

    Of a count that is None nobody knows, or not yet; 0 is said of a period known to its end."""
    rebalances: int | None = None
    idle_members: int | None = None
    """At the period's end."""
    outlook: Outlook | None = None
    lag_over_time: Sequence[tuple[int, int]] = ()
    """Beginning of a step, greatest lag in it."""
    lost_at_least: bool = False
    """Whether more may be lost than `lost_records`: its count fell, or grew before it was known."""

    @property
    def key(self) -> Key:
        return self.cluster, self.group

    @property
    def in_trouble_ms(self) -> int:
        return self.held_ms["ERR"] + self.held_ms["WARN"]

    @property
    def other_ms(self) -> int:
        """What is of no status in SHOWN: unknown, and NOTFOUND."""
        return self.unknown_ms + sum(ms for s, ms in self.held_ms.items() if s not in SHOWN)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Up to when a kind of data is known."""

    kind: str
    until_ms: int | None
    """None: nothing is."""
    why: str | None
    """Why nothing is known of what is left of the period; None: nothing is left."""
    since_ms: int | None = None
    """Where the archive begins to have it; None: before the period."""

    @property
    def is_whole(self) -> bool:
        """Whether all of the period is known."""
        return self.until_ms is not None and self.why is None and self.since_ms is None


@dataclass(frozen=True)
class Report:
    """All groups of which something is known in the period, the most troubled first."""

    period: Period
    is_closed: bool
    """A day or week that is over: the same report whenever it is made."""
    archived_until_ms: int
    """Up to when there are evaluations; of a closed one its end, as the rest changes nothing."""
    max_gap_ms: int
    error: float
    groups: list[GroupReport]
    incidents: list[Incident] = field(default_factory=list)
    """In the order of their beginnings."""
    budgets: list[Budget] = field(default_factory=list)
    known: list[Stamp] = field(default_factory=list)
    damages: list[str] = field(default_factory=list)
    """What the archive has and nobody can read, in sentences."""
    step_ms: int = 60_000
    """Of `lag_over_time`."""

    @cached_property
    def incidents_by_group(self) -> Mapping[Key, list[Incident]]:
        """Of groups that have some, in the order of `groups`; then of those not judged any more."""
        found: dict[Key, list[Incident]] = {each.key: [] for each in self.groups}
        for each in self.incidents:
            found.setdefault(each.key, []).append(each)
        return {key: those for key, those in found.items() if those}

    @cached_property
    def _clusters(self) -> set[str]:
        judged = {each.cluster for each in self.groups}
        return judged | {each.cluster for each in self.incidents}

    @cached_property
    def judged(self) -> list[GroupReport]:
        """Groups that have an evaluation in the period."""
        return [each for each in self.groups if each.evaluations]

    def name(self, key: Key) -> str:
        """A group's name, with its cluster's where there are several."""
        cluster, group = key
        return visible(group if len(self._clusters) < 2 else f"{group} ({cluster})")

    def stamp(self, kind: str) -> Stamp | None:
        """None: a report that does not say."""
        return next((each for each in self.known if each.kind == kind), None)


def trouble(group: GroupReport) -> tuple[bool, int, int, int, str, str]:
    """Sort key: who lost records first; then the longer in ERR, then in WARN, then the larger the
    lag, the earlier.
    """
    held, lost = group.held_ms, bool(group.lost_records)
    return not lost, -held["ERR"], -held["WARN"], -(group.lag_max or 0), group.cluster, group.group
