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
from warren_archiver.silver import catalogue as silver
from warren_archiver.silver.table import Table

Frames = Mapping[str, DataFrame]
"""Tables' rows, by name."""


def most_ms(settings: Settings) -> int:
    """For how long an evaluation says what a group's status is."""
    return round(settings.collector.heartbeat * GAP_HEARTBEATS * 1000)


@dataclass(frozen=True, slots=True)
class Step:
    """Makes a table of others. A day of theirs changes that day, and as many `after` it; None: all
    after it. To make a day, as many `before` it are read; None: all."""

    table: Table
    sources: tuple[Table, ...]
    make: Callable[[Frames, Settings], DataFrame]
    before: int | None = 1
    after: int | None = 1


def _steps_of(unit: Unit) -> tuple[Step, ...]:
    def objectives(frames: Frames, settings: Settings) -> DataFrame:
        of_partitions = frames[silver.PARTITION_MINUTES.name]
        of_topics = frames[silver.LATENESS_MINUTES.name]
        asked = settings.objectives
        topics = of_partitions.select("cluster", "group", "topic").union(
            of_topics.select("cluster", "group", "topic")
        )
        known = [tuple(row) for row in topics.distinct().collect()] if asked else []
        limits = limits_of(of_topics.sparkSession, known, asked)
        return attainment(of_partitions, of_topics, limits, unit)

    return (
        Step(
            gold.STATUS[unit],
            (silver.EVALUATIONS,),
            lambda frames, settings: status(
                frames[silver.EVALUATIONS.name], unit, most_ms(settings)
            ),
        ),
        Step(
            gold.RATE[unit],
            (silver.GROUP_MINUTES,),
            lambda frames, _: rates(frames[silver.GROUP_MINUTES.name], unit),
        ),
        Step(
            gold.LATENESS[unit],
            (silver.LATENESS_MINUTES,),
            lambda frames, _: lateness(frames[silver.LATENESS_MINUTES.name], unit),
            0,
            0,
        ),
        Step(
            gold.INCIDENT[unit],
            (silver.INCIDENTS, silver.GROUP_MINUTES),
            lambda frames, _: incidents(
                frames[silver.INCIDENTS.name], frames[silver.GROUP_MINUTES.name], unit
            ),
            before=None,
            after=None,
        ),
        Step(
            gold.ALERT[unit],
            (silver.NOTIFICATIONS, silver.INCIDENTS),
            lambda frames, _: alerts(
                frames[silver.NOTIFICATIONS.name], frames[silver.INCIDENTS.name], unit
            ),
            before=None,
            after=None,
        ),
        Step(
            gold.MEMBERSHIP[unit],
            (silver.MEMBERSHIP_CHANGES,),
            lambda frames, _: memberships(frames[silver.MEMBERSHIP_CHANGES.name], unit),
        ),
        Step(
            gold.OBJECTIVE[unit],
            (silver.PARTITION_MINUTES, silver.LATENESS_MINUTES),
            objectives,
            0,
            0,
        ),
    )


STEPS: tuple[Step, ...] = (
    *_steps_of(Unit.HOUR),
    *_steps_of(Unit.DAY),
    Step(
        gold.ERROR_BUDGETS,
        (gold.OBJECTIVE[Unit.DAY],),
        lambda frames, _: error_budgets(frames[gold.OBJECTIVE[Unit.DAY].name]),
        BUDGET_DAYS - 1,
        BUDGET_DAYS - 1,
    ),
    Step(
        gold.CAPACITY,
        (gold.RATE[Unit.DAY], gold.LATENESS[Unit.HOUR]),
        lambda frames, _: capacity(
            frames[gold.RATE[Unit.DAY].name], frames[gold.LATENESS[Unit.HOUR].name]
        ),
        CAPACITY_DAYS - 1,
        CAPACITY_DAYS - 1,
    ),
)
"""In order: what is made of gold comes after that."""


def whole(frames: Frames, settings: Settings) -> dict[str, DataFrame]:
    """All tables from all rows at once: what they have to be, however they came about. `frames`:
    the tables of silver."""
    made = dict(frames)
    for step in STEPS:
        made[step.table.name] = step.make(made, settings)
    return {step.table.name: made[step.table.name] for step in STEPS}
