"""The tables kept up with silver: what has changed there says which days are made anew.

It may be ended at any moment and begun again: how far it came is noted last, and what comes out as
it is stored is not written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.settings import ArchiverSettings, Settings

from warren_archiver.amount import FEW_ROWS, fit
from warren_archiver.gold.catalogue import PROGRESS, TABLES
from warren_archiver.gold.plan import STEPS, Source, Step
from warren_archiver.gold.snapshot import Snapshot, touched
from warren_archiver.lake.events import EARLIEST
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.lake import ensure as ensure_table
from warren_archiver.lake.table import Kept, Table
from warren_archiver.moments import moment
from warren_archiver.silver.catalogue import PARTITION_MINUTES
from warren_archiver.silver.upsert import ROWS_OF_A_FILE, differs, upsert, with_stored
from warren_archiver.steps import Tell, told, untold

log = structlog.get_logger(__name__)


def replace(path: str, table: Table, made: DataFrame, stored: DataFrame) -> int:
    """Makes the table's days have the rows that are made, all of these days; how many were new or
    others before. Done again, it writes none.

    `stored`: the rows that the table has of these days. Two that replace a day at once do not both
    succeed: Delta ends the second one.
    """
    rows = table.conform(made).persist()
    try:
        day = F.when(differs(table), F.col("date"))
        found = with_stored(table, rows, stored).agg(
            F.count(F.lit(1)).alias("rows"),
            F.count(day).alias("changed"),
            F.collect_set(day).alias("days"),
        )
        first = found.first()
        assert first is not None  # one row, of all
        if first["changed"]:
            kept = rows.where(F.col("date").isin(first["days"]))
            listed = ", ".join(f"DATE'{day}'" for day in first["days"])
            if first["rows"] <= ROWS_OF_A_FILE:
                kept = kept.coalesce(1)
            (
                kept.write.format("delta")
                .mode("overwrite")
                .option("replaceWhere", f"date IN ({listed})")
                .save(path)
            )
        return int(first["changed"])
    finally:
        rows.unpersist()


AT_ONCE = 7
"""Days that are made in one step: a first time may find all that are kept."""
LATE_MS = 60_000
"""What services tell of a moment has come by so much later, but for what makes its day anew."""
_PROPERTIES = {"delta.autoOptimize.autoCompact": "true"}
DEFINITIONS = 3
"""Raised where the same silver makes other figures: all days whose sources are kept are made anew
then."""
DEFINED = "definitions"


class _Noted(NamedTuple):
    """How far a table of silver was taken in: its version, and the time, Unix milliseconds."""

    version: int
    until: int | None

    def earlier(self, other: _Noted) -> _Noted:
        """What holds of both."""
        times = [each.until for each in (self, other) if each.until is not None]
        return _Noted(min(self.version, other.version), min(times) if len(times) == 2 else None)


def ensure(spark: SparkSession, lake: Lake) -> None:
    """Creates the tables, and adds the columns, that are missing."""
    for table in TABLES:
        ensure_table(spark, lake.gold(table.name), table, _PROPERTIES)


class Gold:
    """Needs the tables of silver and of gold."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        settings: Settings,
        clock: Clock,
        tell: Tell = untold,
        archived_ms: int | None = None,
    ) -> None:
        """`archived_ms`: what had come by then, Unix milliseconds, is archived, and in silver; None
        where nobody knows more than that silver takes it in each `archiver.silver_interval`."""
        self._archived_ms = archived_ms
        self._spark = spark
        self._lake = lake
        self._settings = settings
        self._clock = clock
        self._tell = tell
        self._held: dict[tuple[object, ...], DataFrame] | None = None
        """Rows that several steps read, where these are few."""

    def catch_up(self, again: Collection[date] = ()) -> dict[str, int]:
        """Takes in what has changed; how many rows of each table were written. `again`: days that
        are made though nothing has changed there."""
        sources = {each.table.name: each.table for step in STEPS for each in step.sources}
        pinned = Snapshot.take(
            self._spark,
            self._lake,
            [table for name, table in sources.items() if name not in _GOLD_NAMES],
            self._settled_ms(),
        )
        noted = self._noted()
        taken = {name: each.version for name, each in noted.items()}
        if noted and taken.pop(DEFINED, None) != DEFINITIONS:
            log.info("gold is made anew: figures are defined otherwise now")
            taken = {}
        changed = {
            name: touched(self._spark, self._lake.silver(name), taken.get(name), version)
            | frozenset(again)
            for name, version in pinned.versions.items()
        }
        little = self._rows(pinned, changed) <= FEW_ROWS
        fit(self._spark, little=little)
        self._held = {} if little else None
        try:
            written = self._make_all(pinned, changed)
        finally:
            for frame in (self._held or {}).values():
                frame.unpersist()
        self._note(pinned, changed, noted)
        return written

    def _settled_ms(self) -> int:
        if self._archived_ms is not None:
            return self._archived_ms - LATE_MS
        return self._clock.now_ms() - round(self._settings.archiver.silver_interval * 1000)

    def _rows(self, pinned: Snapshot, changed: Mapping[str, frozenset[date]]) -> int:
        """Of the largest source, of the days that have changed there; 0 where nothing is made of
        that."""
        days = changed.get(PARTITION_MINUTES.name)
        if not days:
            return 0
        return pinned.read(PARTITION_MINUTES.name).where(F.col("date").isin(sorted(days))).count()

    def _make_all(self, pinned: Snapshot, changed: Mapping[str, frozenset[date]]) -> dict[str, int]:
        """`changed`: days by the table of silver."""
        written: dict[str, int] = {}
        for step in told("gold", STEPS, self._tell, lambda each: each.table.name):
            # Days that may have become others, and whose sources are kept in full.
            days: set[date] = set()
            for source in step.sources:
                days |= self._reached(pinned, step, source, changed[source.table.name])
            tables = (source.table for source in step.sources)
            kept = (first_kept(table, self._settings.archiver, self._clock) for table in tables)
            first = max(kept, default=date.min)
            wanted = sorted(day for day in days if day >= first)
            written[step.table.name] = sum(
                self._make(pinned, step, part) for part in _parts(wanted)
            )
            changed = {**changed, step.table.name: frozenset(wanted)}
        return written

    def _reached(
        self, pinned: Snapshot, step: Step, source: Source, changed: frozenset[date]
    ) -> set[date]:
        if not changed or source.after == 0:
            return set(changed)
        if source.after is None:
            of_day = self._read(pinned, source.table).where(F.col("date").isin(sorted(changed)))
            groups = of_day.select("cluster", "group").distinct()
            rows = self._read(pinned, step.sources[0].table)
            since = rows.where(F.col("date") >= F.lit(min(changed)))
            same = since.join(groups, groups.columns, "left_semi").select("date").distinct()
            return {*changed, *(row["date"] for row in same.collect())}
        last = _next(max(changed | {moment(self._clock).date()}))
        return {
            day + timedelta(days=number)
            for day in changed
            for number in range(min(source.after, (last - day).days) + 1)
        }

    def _make(self, pinned: Snapshot, step: Step, days: Sequence[date]) -> int:
        frames = {source.table.name: self._near(pinned, source, days) for source in step.sources}
        on = F.col("date").isin(list(days))
        made = step.made(frames, self._settings).where(on)
        stored = self._stored(step.table).where(on)
        return replace(self._lake.gold(step.table.name), step.table, made, stored)

    def _near(self, pinned: Snapshot, source: Source, days: Sequence[date]) -> DataFrame:
        """Rows of these days and of those before each. A few of silver are read once for all steps
        that are made of them: to find the files takes longer than to read these."""
        if self._held is None or source.table.name not in pinned.versions:
            return self._around(pinned, source, days)
        of = source.table.name, source.before, source.ended, tuple(days)
        if of not in self._held:
            self._held[of] = self._around(pinned, source, days).persist()
        return self._held[of]

    def _around(self, pinned: Snapshot, source: Source, days: Sequence[date]) -> DataFrame:
        rows, before = self._read(pinned, source.table), source.before
        read = {day - timedelta(days=number) for day in days for number in range(before + 1)}
        of_days = F.col("date").isin(sorted(read))
        near = rows.where(of_days)
        if source.ended is None:
            return near
        # Apart, as Delta skips files by what is asked of all rows, and not by one of two choices.
        older = rows.where(~of_days & (F.col("date") <= F.lit(max(read))))
        return near.unionByName(older.where(F.col(source.ended) >= F.lit(min(read))))

    def _noted(self) -> dict[str, _Noted]:
        rows = self._stored(PROGRESS).select("source", "version", F.unix_millis("until"))
        return {source: _Noted(version, until) for source, version, until in rows.collect()}

    def _note(
        self,
        pinned: Snapshot,
        changed: Mapping[str, frozenset[date]],
        noted: Mapping[str, _Noted],
    ) -> None:
        """After all else."""
        meanwhile, rows = self._noted(), []
        for name, version in pinned.versions.items():
            before = noted[name].until if name in noted else None
            own = _Noted(version, pinned.until(name, changed[name], before))
            other = meanwhile.get(name)
            # Where another pass has ended meanwhile, a day has the rows of one of both.
            told = own if other is None or other == noted.get(name) else own.earlier(other)
            at = None if told.until is None else EARLIEST + timedelta(milliseconds=told.until)
            rows.append((name, told.version, at, EARLIEST.date()))
        rows.append((DEFINED, DEFINITIONS, None, EARLIEST.date()))
        frame = self._spark.createDataFrame(rows, PROGRESS.schema)
        upsert(self._spark, self._lake.gold(PROGRESS.name), PROGRESS, frame, self._stored(PROGRESS))

    def _stored(self, table: Table) -> DataFrame:
        """Rows of gold, as they are now."""
        return self._spark.read.format("delta").load(self._lake.gold(table.name))

    def _read(self, pinned: Snapshot, table: Table) -> DataFrame:
        """What a step is made of."""
        return pinned.read(table.name) if table.name in pinned.versions else self._stored(table)


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


def _parts(days: Sequence[date]) -> Iterator[Sequence[date]]:
    for first in range(0, len(days), AT_ONCE):
        yield days[first : first + AT_ONCE]
