"""What keeps the lake small and quick to read: days that are over are dropped when it is time for
that, and put in order before; files that nobody needs any more are removed.
"""

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import structlog
from delta.tables import DeltaTable
from pyspark.sql import (
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.clock import Clock
from warren.settings import ArchiverSettings
from warren.words import moment

from warren_archiver.gold import catalogue as gold
from warren_archiver.lake.lake import (
    Commits,
    Lake,
    as_of,
    exists,
    newest_version,
    properties_of,
    set_properties,
)
from warren_archiver.lake.table import Kept
from warren_archiver.layers import LAYERS
from warren_archiver.silver import catalogue as silver
from warren_archiver.steps import Step, Tell, untold

log = structlog.get_logger(__name__)
NOTED = "warren.upkeep"
"""A table's property: on which day it was put in order, and up to which version; of the table of
events: when upkeep was done with all."""
CLUSTERED = {
    table.name: "group" if "group" in table.names else "topic"
    for table in (*silver.TABLES, *gold.TABLES)
    if "cluster" in table.names
}
"""By what rows of a day lie together: who asks for one of these opens a part of the day's files."""


class _Noted(NamedTuple):
    day: date
    version: int


class Upkept(NamedTuple):
    """What was done to a table."""

    table: str
    files_before: int
    files: int
    days_in_order: int
    days_dropped: int


class Upkeep:
    """Small files are joined by Delta itself, with the batch that makes them too many. What was
    joined, and days that are over, go here; readers find each version of the last week.
    """

    def __init__(
        self, spark: SparkSession, lake: Lake, settings: ArchiverSettings, clock: Clock
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._kept_days = {
            Kept.AS_EVENTS: settings.keep_days,
            Kept.AS_MINUTES: settings.minutes_keep_days,
        }
        self._clock = clock

    def look(self) -> None:
        """Run unless the lake says that it was done today, or that the archive began today."""
        noted = self._noted(self._lake.events)
        began = datetime.fromtimestamp(self._lake.began(self._spark), UTC).date()
        if (began if noted is None else noted.day) < self._today():
            self.run()

    def run(self, tell: Tell = untold) -> list[Upkept]:
        """Removes rows of days that are no longer kept, puts days that are over in order, then
        removes files that no version of the last week has. What was done to each table."""
        there = [
            (path, table.kept)
            for layer, tables in LAYERS.items()
            for table in tables
            if exists(self._spark, path := f"{self._lake.root}/{layer}/{table.name}")
        ]
        done = []
        for number, (path, how) in enumerate(there):
            tell(Step("upkeep", _name(path), number, len(there)))
            done.append(self._keep(path, how))
        tell(Step("upkeep", "", len(there), len(there)))
        if exists(self._spark, self._lake.events):
            self._note(self._lake.events, 0)
        return done

    def _keep(self, path: str, how: Kept) -> Upkept:
        table = DeltaTable.forPath(self._spark, path)
        before = _files(table)
        name = _name(path)
        dropped = self._forget(table, name, how)
        ordered = self._put_in_order(path, CLUSTERED[name]) if name in CLUSTERED else 0
        if path == self._lake.replay(name):  # a file for each run
            table.optimize().executeCompaction()
        table.vacuum()
        now = _files(DeltaTable.forPath(self._spark, path))
        return Upkept(path.removeprefix(f"{self._lake.root}/"), before, now, ordered, dropped)

    def _forget(self, table: DeltaTable, name: str, how: Kept) -> int:
        """How many days were dropped."""
        kept = self._kept_days.get(how)
        if kept is None:
            return 0
        old = F.col("date") < F.lit(self._today() - timedelta(days=kept))
        days = [row["date"] for row in table.toDF().where(old).select("date").distinct().collect()]
        if days:
            table.delete(old)
            first, last = str(min(days)), str(max(days))
            log.info("days dropped", table=name, days=len(days), first=first, last=last, kept=kept)
        return len(days)

    def _put_in_order(self, path: str, by: str) -> int:
        """Days that are over and have changed since the day of the last time, and that day itself;
        how many there were. Once a day: today's change with each batch of silver."""
        today, noted = self._today(), self._noted(path)
        if noted is not None and noted.day >= today:
            return 0
        version = newest_version(self._spark, path)
        days = touched(self._spark, path, None if noted is None else noted.version, version)
        if noted is not None:
            days |= {noted.day}
        over = sorted(day for day in days if day < today)
        for day in over:
            rows = DeltaTable.forPath(self._spark, path).optimize().where(f"date = '{day}'")
            rows.executeZOrderBy(by)
        self._note(path, version)
        return len(over)

    def _noted(self, path: str) -> _Noted | None:
        noted = properties_of(self._spark, path).get(NOTED)
        if noted is None:
            return None
        day, version = noted.split()
        return _Noted(date.fromisoformat(day), int(version))

    def _note(self, path: str, version: int) -> None:
        """As done today."""
        set_properties(self._spark, path, {NOTED: f"{self._today()} {version}"})

    def _today(self) -> date:
        return moment(self._clock.now_ms()).date()


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _files(table: DeltaTable) -> int:
    found = table.detail().select("numFiles").first()
    return 0 if found is None else int(found["numFiles"])


def touched(spark: SparkSession, path: str, since: int | None, version: int) -> frozenset[date]:
    """Days with rows that were added, replaced or removed after version `since`, up to `version`.

    All days of the table when `since` is None, or when its log does not reach back so far. Joining
    of files changes no day.
    """
    commits = Commits(spark, path)
    if since is not None and {*range(since + 1, version + 1)} <= {*commits.versions()}:
        actions = [each for one in range(since + 1, version + 1) for each in commits.actions(one)]
        files = [each.get("add") or each.get("remove") or {} for each in actions]
        found = {each["partitionValues"].get("date") for each in files if each.get("dataChange")}
    else:
        rows = as_of(spark, path, version).select("date").distinct().collect()
        found = {row["date"] and str(row["date"]) for row in rows}
    return frozenset(date.fromisoformat(day) for day in found if day is not None)
