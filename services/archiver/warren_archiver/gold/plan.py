"""How each gold table follows from others: which it is made of, and which of its days a change of
theirs can change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from warren.settings import Settings

from warren_archiver.gold import catalogue as gold
from warren_archiver.gold.alerts import alerts
from warren_archiver.gold.attainment import BUDGET_DAYS, attainment, error_budgets, limits_of
from warren_archiver.gold.capacity import DAYS as CAPACITY_DAYS
from warren_archiver.gold.capacity import capacity
from warren_archiver.gold.conventions import GAP_HEARTBEATS
from warren_archiver.gold.incidents import incidents
from warren_archiver.gold.lateness import lateness
from warren_archiver.gold.memberships import memberships
from warren_archiver.gold.rates import rates
from warren_archiver.gold.status import status
from warren_archiver.gold.units import Unit
from warren_archiver.lake.table import Table
from warren_archiver.silver import catalogue as silver

Frames = Mapping[str, DataFrame]
"""Tables' rows, by name."""


def most_ms(settings: Settings) -> int:
    """For how long an evaluation says what a group's status is."""
    return round(settings.collector.heartbeat * GAP_HEARTBEATS * 1000)


@dataclass(frozen=True, slots=True)
class Source:
    """A table that another one is made of, day by day."""

    table: Table
    before: int = 1
    """So many days before a day are read to make it."""
    after: int | None = 1
    """So many days after one that has changed may change; None: all after it on which there is
    something of the same groups."""
    ended: str | None = None
    """Of days before those, rows are read that ended as late as they, by this column."""


@dataclass(frozen=True, slots=True)
class Step:
    """Makes a table of others: `make` is a pure function of the settings and of their rows, in the
    order of `sources`."""

    table: Table
    sources: tuple[Source, ...]
    make: Callable[..., DataFrame]

    def made(self, frames: Frames, settings: Settings) -> DataFrame:
        return self.make(settings, *(frames[source.table.name] for source in self.sources))


def _objectives(
    settings: Settings, of_partitions: DataFrame, of_topics: DataFrame, unit: Unit
) -> DataFrame:
    asked = settings.objectives
    if not asked:
        return of_topics.sparkSession.createDataFrame([], gold.OBJECTIVE[unit].schema)
    one, other = (frame.select("cluster", "group", "topic") for frame in (of_partitions, of_topics))
    every = one.union(other).distinct()
    known = [tuple(row) for row in every.collect()]
    limits = limits_of(every.sparkSession, known, asked)
    return attainment(of_partitions, of_topics, limits, unit)


def _steps_of(unit: Unit) -> tuple[Step, ...]:
    of_minutes = Source(silver.PARTITION_MINUTES, 0, 0), Source(silver.LATENESS_MINUTES, 0, 0)
    return (
        Step(
            gold.STATUS[unit],
            (Source(silver.EVALUATIONS),),
            lambda settings, rows: status(rows, unit, most_ms(settings)),
        ),
        Step(gold.RATE[unit], (Source(silver.GROUP_MINUTES),), lambda _, rows: rates(rows, unit)),
        Step(gold.LATENESS[unit], of_minutes[1:], lambda _, rows: lateness(rows, unit)),
        Step(
            gold.INCIDENT[unit],
            (Source(silver.INCIDENTS, 1, None, "closed_at"), Source(silver.GROUP_MINUTES)),
            lambda _, found, minutes: incidents(found, minutes, unit),
        ),
        Step(
            gold.ALERT[unit],
            (
                Source(silver.NOTIFICATIONS, 0, 0),
                Source(silver.INCIDENTS, 2, None, "closed_at"),
            ),
            lambda _, attempts, about: alerts(attempts, about, unit),
        ),
        Step(
            gold.MEMBERSHIP[unit],
            (Source(silver.MEMBERSHIP_CHANGES),),
            lambda _, rows: memberships(rows, unit),
        ),
        Step(
            gold.OBJECTIVE[unit],
            of_minutes,
            lambda settings, one, other: _objectives(settings, one, other, unit),
        ),
    )


STEPS: tuple[Step, ...] = (
    *_steps_of(Unit.HOUR),
    *_steps_of(Unit.DAY),
    Step(
        gold.ERROR_BUDGETS,
        (Source(gold.OBJECTIVE[Unit.DAY], BUDGET_DAYS - 1, BUDGET_DAYS - 1),),
        lambda _, days: error_budgets(days),
    ),
    Step(
        gold.CAPACITY,
        (
            Source(gold.RATE[Unit.DAY], CAPACITY_DAYS - 1, CAPACITY_DAYS - 1),
            Source(gold.LATENESS[Unit.HOUR], 0, 0),
        ),
        lambda _, days, hours: capacity(days, hours),
    ),
)
"""In order: what is made of gold comes after that."""


def whole(frames: Frames, settings: Settings) -> dict[str, DataFrame]:
    """All tables from all rows at once: what they have to be, however they came about. `frames`:
    the tables of silver."""
    made = dict(frames)
    for step in STEPS:
        made[step.table.name] = step.made(made, settings)
    return {step.table.name: made[step.table.name] for step in STEPS}
