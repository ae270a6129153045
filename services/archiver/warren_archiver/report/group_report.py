"""A report: what each group was like in a period [start, end), and what is to be done.

* A status holds from its evaluation until the group's next one, at most `max_gap`, clipped to the
  period. What is left over is `unknown`: nobody judged the group then.
* Lag figures are of the evaluations in the period, each counting once: percentiles by nearest rank,
  so they are values that occurred. In a period that gold's hours are used for they are off by at
  most `error`.
* Rates and lateness are of the minutes in which they are known, up to the report's stamps.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from math import inf

from warren.contracts import Status
from warren.words import as_of, visible

from warren_archiver.report.incident import Consequence, Incident, Key
from warren_archiver.report.period import Period


def group_incidents(conditions: Iterable[Incident]) -> list[Incident]:
    """In the order of their beginnings."""
    by_group: defaultdict[Key, list[list[Incident]]] = defaultdict(list)
    until: dict[Key, float] = {}
    for each in sorted(conditions, key=lambda one: one.opened_ms):
        those = by_group[each.key]
        if those and each.opened_ms < until[each.key]:
            those[-1].append(each)
        else:
            those.append([each])
            until[each.key] = -inf
        until[each.key] = max(until[each.key], inf if each.closed_ms is None else each.closed_ms)
    found = [_as_one(those) for known in by_group.values() for those in known]
    return sorted(found, key=lambda one: (one.opened_ms, one.incident_id))


def _as_one(conditions: Sequence[Incident]) -> Incident:
    """The first that opened gives the id, the one with a cause says what was wrong."""
    first, root = conditions[0], max(conditions, key=_weight)
    ended = [one.closed_ms for one in conditions if one.closed_ms is not None]
    told = [one.told_ms for one in conditions if one.told_ms is not None]
    return replace(
        root,
        incident_id=first.incident_id,
        opened_ms=first.opened_ms,
        closed_ms=max(ended) if len(ended) == len(conditions) else None,
        told_ms=min(told, default=None),
        worst=max((one.worst for one in conditions), key=Status.__getitem__),
        peak_lag=max(one.peak_lag for one in conditions),
        flapped=first.flapped,
        also=[*root.also, *_follows(root, conditions)],
    )


def _weight(condition: Incident) -> tuple[bool, bool, int]:
    is_clear = condition.sentence is not None or condition.action is not None
    return condition.closed_ms is None, is_clear, Status[condition.worst]


def _follows(root: Incident, conditions: Sequence[Incident]) -> Iterable[Consequence]:
    """What the others said; how much was lost is said of the group, with its last figure."""
    told = {root.sentence, *(each.sentence for each in root.also)}
    for one in conditions:
        said = one.sentence or one.explanation
        if one is not root and said and said not in told and not one.is_about_loss:
            told.add(said)
            at = one.said_ms if one.sentence else one.seen_ms
            dated = said if at is None else as_of(said, at, at)
            yield Consequence(one.cause or one.reason or "", dated, one.action)


SOON_DAYS = 90
"""Days ahead, by the trend of capacity, that are told of."""
LOSS_SOON_DAYS = 7
"""Days until loss, by the trend, below which somebody should act."""
STATUSES = ("OK", "WARN", "ERR", "NOTFOUND")


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
    def crosses_soon(self) -> bool:
        """Whether, by its trend, more will be produced than it can consume."""
        days = None if self.outlook is None else self.outlook.crosses_in_days
        return days is not None and days <= SOON_DAYS

    @property
    def loses_soon(self) -> bool:
        days = None if self.outlook is None else self.outlook.days_until_loss
        return days is not None and days <= LOSS_SOON_DAYS


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
    """Of conditions, as they are archived."""
    budgets: list[Budget] = field(default_factory=list)
    known: list[Stamp] = field(default_factory=list)
    step_ms: int = 60_000
    """Of `lag_over_time`."""

    @cached_property
    def group_incidents(self) -> list[Incident]:
        """Of groups, each with all of its conditions."""
        return group_incidents(self.incidents)

    @cached_property
    def incidents_by_group(self) -> Mapping[Key, list[Incident]]:
        """Of groups that have some, in the order of `groups`; then of those not judged any more."""
        found: dict[Key, list[Incident]] = {each.key: [] for each in self.groups}
        for each in self.group_incidents:
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
