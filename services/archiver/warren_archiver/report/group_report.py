"""A report: what each group was like in a period [start, end), and what is to be done.

* A status holds from its evaluation until the group's next one, at most `max_gap`, clipped to the
  period. What is left over is `unknown`: nobody judged the group then.
* Lag figures are of the evaluations in the period, each counting once: percentiles by nearest rank,
  so they are values that occurred. In a period that gold's hours are used for they are off by at
  most `error`.
* Rates and lateness are of the minutes in which they are known, up to the report's stamps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from warren_archiver.report.period import Period

SOON_DAYS = 90
"""Days ahead, by the trend of capacity, that are told of."""
STATUSES = ("OK", "WARN", "ERR", "NOTFOUND")


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

    @property
    def length_ms(self) -> int | None:
        return None if self.closed_ms is None else self.closed_ms - self.opened_ms


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
    lag_p50: int
    lag_p95: int
    lag_max: int
    produce_rate: float | None = None
    consume_rate: float | None = None
    late_p95_ms: int | None = None
    late_max_ms: int | None = None
    time_to_loss_ms: int | None = None
    """The least."""
    lost_records: int | None = None
    """Of a count that is None nobody knows, or not yet; 0 is said of a period known to its end."""
    rebalances: int | None = None
    idle_members: int | None = None
    skew: float | None = None
    outlook: Outlook | None = None
    lag_over_time: Sequence[tuple[int, int]] = ()
    """Beginning of a step, greatest lag in it."""

    @property
    def crosses_soon(self) -> bool:
        """Whether, by its trend, more will be produced than it can consume."""
        days = None if self.outlook is None else self.outlook.crosses_in_days
        return days is not None and days <= SOON_DAYS


@dataclass(frozen=True, slots=True)
class Stamp:
    """Up to when a kind of data is known."""

    kind: str
    until_ms: int | None
    """None: nothing is."""
    why: str | None
    """Why nothing is known of what is left of the period; None: nothing is left."""


@dataclass(frozen=True, slots=True)
class Report:
    """All groups that were judged in the period, the most troubled first."""

    period: Period
    is_closed: bool
    """A day or week that is over: the same report whenever it is made."""
    archived_until_ms: int
    """Up to when there are evaluations; of a closed one its end, as the rest changes nothing."""
    max_gap_ms: int
    error: float
    groups: list[GroupReport]
    incidents: list[Incident] = field(default_factory=list)
    budgets: list[Budget] = field(default_factory=list)
    known: list[Stamp] = field(default_factory=list)

    def stamp(self, kind: str) -> Stamp | None:
        """None: a report that does not say."""
        return next((each for each in self.known if each.kind == kind), None)


def trouble(group: GroupReport) -> tuple[int, int, int, str, str]:
    """Sort key: the longer in ERR, then in WARN, then the larger the lag, the earlier."""
    held = group.held_ms
    return -held["ERR"], -held["WARN"], -group.lag_max, group.cluster, group.group
