"""The tables kept up with silver: what has changed there says which days are made anew.

It may be ended at any moment and begun again: how far it came is noted last, and what comes out as
it is stored is not written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta

import structlog
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.settings import ArchiverSettings, Settings

from warren_archiver.gold.catalogue import PROGRESS, TABLES
from warren_archiver.gold.plan import STEPS, Step
from warren_archiver.gold.touched import Touched, touched
from warren_archiver.lake.events import EARLIEST
from warren_archiver.lake.lake import Lake, add_columns, create
from warren_archiver.moments import moment
from warren_archiver.silver import catalogue as silver
from warren_archiver.silver.table import Kept, Table
from warren_archiver.silver.upsert import upsert
from warren_archiver.steps import Tell, told, untold

log = structlog.get_logger(__name__)
AT_ONCE = 7
"""Days that are made in one step: a first time may find all that are kept."""
_PROPERTIES = {"delta.autoOptimize.autoCompact": "true"}
DEFINITIONS = 2
"""Raised where the same silver makes other figures: all days whose sources are kept are made anew
then."""
DEFINED = "definitions"
_ENDS = {
    silver.EVALUATIONS.name: "at",
    silver.GROUP_MINUTES.name: "minute",
    silver.LATENESS_MINUTES.name: "minute",
}
"""Columns that say up to when a table has rows."""


def ensure(spark: SparkSession, lake: Lake) -> None:
    """Creates the tables, and adds the columns, that are missing."""
    for table in TABLES:
        path = lake.gold(table.name)
        create(spark, path, table.schema, _PROPERTIES, "date")
        add_columns(spark, path, table.schema)


class Gold:
    """Needs the tables of silver and of gold."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        settings: Settings,
        clock: Clock,
        tell: Tell = untold,
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._settings = settings
        self._clock = clock
        self._tell = tell

    def catch_up(self) -> dict[str, int]:
        """Takes in what has changed; how many rows of each table were written."""
        progress = self._read(PROGRESS).withColumn("until_ms", F.unix_millis("until"))
        noted = {row["source"]: row for row in progress.collect()}
        taken = {name: row["version"] for name, row in noted.items()}
        if noted and taken.pop(DEFINED, None) != DEFINITIONS:
            log.info("gold is made anew: figures are defined otherwise now")
            taken = {}
        changed = {
            table.name: touched(self._spark, self._path(table), taken.get(table.name))
            for table in _silver_sources()
        }
        days = {name: found.days for name, found in changed.items()}
        written = self._make_all(days, "gold")
        self._note(changed, noted)
        return written

    def make_again(self, days: Collection[date]) -> dict[str, int]:
        """What these days of silver make, though nothing has changed there; how many rows of each
        table were written."""
        changed = {table.name: frozenset(days) for table in _silver_sources()}
        return self._make_all(changed, "gold again")

    def _make_all(self, changed: dict[str, frozenset[date]], phase: str) -> dict[str, int]:
        """`changed`: days by the table of silver."""
        written: dict[str, int] = {}
        for step in told(phase, STEPS, self._tell, lambda each: each.table.name):
            wanted = self._wanted(step, changed)
            written[step.table.name] = sum(self._make(step, part) for part in _parts(wanted))
            changed = {**changed, step.table.name: frozenset(wanted)}
        return written

    def _wanted(self, step: Step, changed: Mapping[str, frozenset[date]]) -> list[date]:
        """Days that may have become others, and whose sources are kept in full."""
        days = {day for table in step.sources for day in changed[table.name]}
        kept = (first_kept(table, self._settings.archiver, self._clock) for table in step.sources)
        first = max(kept, default=date.min)
        if days and step.after is None:
            days |= self._days_since(step, min(days))
        elif step.after:
            last = _next(max(days | {self._today()}))
            days |= {
                day + timedelta(days=number)
                for day in days
                for number in range(1, min(step.after, (last - day).days) + 1)
            }
        return sorted(day for day in days if day >= first)

    def _days_since(self, step: Step, first: date) -> set[date]:
        rows = self._read(step.sources[0]).where(F.col("date") >= F.lit(first))
        return {row["date"] for row in rows.select("date").distinct().collect()}

    def _make(self, step: Step, days: Sequence[date]) -> int:
        frames = {table.name: self._around(table, days, step.before) for table in step.sources}
        on = F.col("date").isin(list(days))
        made = step.make(frames, self._settings).where(on)
        stored = self._read(step.table).where(on)
        return upsert(self._spark, self._path(step.table), step.table, made, stored)

    def _around(self, table: Table, days: Sequence[date], before: int | None) -> DataFrame:
        """Rows of these days and of those before each."""
        last = _next(max(days))
        if before is None:
            first = EARLIEST.date()
            if table.kept is Kept.AS_MINUTES:  # an hour before an incident is asked for
                first = min(days) - timedelta(days=1)
            return self._read(table).where(F.col("date").between(first, last))
        read = {day - timedelta(days=number) for day in days for number in range(before + 1)}
        return self._read(table).where(F.col("date").isin(sorted(read)))

    def _today(self) -> date:
        return moment(self._clock).date()

    def _note(self, changed: Mapping[str, Touched], noted: Mapping[str, Row]) -> None:
        """After all else. What was not there when silver was last brought up may come yet."""
        settled = self._clock.now_ms() - round(self._settings.archiver.silver_interval * 1000)
        rows = []
        for name, found in changed.items():
            until = self._newest(name, found.days, settled)
            if name in noted and noted[name]["until"] is not None:
                before = noted[name]["until_ms"]
                until = before if until is None else max(until, before)
            moment = None if until is None else EARLIEST + timedelta(milliseconds=until)
            rows.append((name, found.version, moment, EARLIEST.date()))
        rows.append((DEFINED, DEFINITIONS, None, EARLIEST.date()))
        told = self._spark.createDataFrame(rows, PROGRESS.schema)
        upsert(self._spark, self._path(PROGRESS), PROGRESS, told, self._read(PROGRESS))

    def _newest(self, name: str, days: Collection[date], settled_ms: int) -> int | None:
        """Of the rows of these days, Unix milliseconds."""
        column = _ENDS.get(name)
        if column is None or not days:
            return None
        rows = self._spark.read.format("delta").load(self._lake.silver(name))
        recent = rows.where(F.col("date").isin(sorted(days)))
        found = recent.agg(F.unix_millis(F.max(column)).alias("newest")).first()
        newest = None if found is None else found["newest"]
        return None if newest is None else min(newest, settled_ms)

    def _read(self, table: Table) -> DataFrame:
        return self._spark.read.format("delta").load(self._path(table))

    def _path(self, table: Table) -> str:
        is_gold = table.name in _GOLD_NAMES
        return self._lake.gold(table.name) if is_gold else self._lake.silver(table.name)


def first_kept(table: Table, archiver: ArchiverSettings, clock: Clock) -> date:
    """The first day of which the table has all its rows."""
    days = {
        Kept.AS_EVENTS: archiver.keep_days,
        Kept.AS_MINUTES: archiver.minutes_keep_days,
    }.get(table.kept)
    return date.min if days is None else moment(clock).date() - timedelta(days=days)


def _next(day: date) -> date:
    """No event is dated later than a day before the last one that there is."""
    return day if day == date.max else day + timedelta(days=1)


_GOLD_NAMES = frozenset(table.name for table in TABLES)


def _silver_sources() -> list[Table]:
    """Each once."""
    sources = {table.name: table for step in STEPS for table in step.sources}
    return [table for name, table in sources.items() if name not in _GOLD_NAMES]


def _parts(days: Sequence[date]) -> Iterator[Sequence[date]]:
    for first in range(0, len(days), AT_ONCE):
        yield days[first : first + AT_ONCE]
