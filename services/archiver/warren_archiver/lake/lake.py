"""Where tables and checkpoints are, and making sure that the tables are there.

The log of a Delta table is read commit by commit, without a query.

The table of events has the records of all topics as Kafka has them. No contract is applied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import structlog
from delta.tables import DeltaTable
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import (
    Column,
    DataFrame,
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from pyspark.sql.types import StructType
from warren.history.delta_log import FIRST_COMMIT, LOG, commit_name, has_version

from warren_archiver.errors import LakeGone
from warren_archiver.lake.catalogue import EVENTS, GAPS
from warren_archiver.lake.small_files import SmallFiles
from warren_archiver.lake.table import Table

log = structlog.get_logger(__name__)


def text(value: str) -> str:
    """As a literal of Spark's SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def is_half_made(spark: SparkSession, table: str) -> bool:
    """Whether nothing but a log without a version is in the folder of a table. Files of rows say
    that there was one."""
    files, log = SmallFiles(spark, table), f"{table}/{LOG}"
    if files.names(table) != [LOG]:
        return False
    return not has_version(files.names(log), lambda: files.read(f"{log}/{FIRST_COMMIT}"))


def remove(spark: SparkSession, table: str) -> None:
    """Removes the log of such a table, piece by piece: what somebody else has written there
    meanwhile is in the way then, and stays."""
    files, log = SmallFiles(spark, table), f"{table}/{LOG}"
    for name in files.names(log):
        files.delete(f"{log}/{name}", whole=False)
    files.delete(log, whole=False)


HISTORY_DAYS = 7
"""So long readers find each version of a table: files and logs of before may be gone."""
DESCRIBED = "warren.described"
"""The table's property that says by which catalogue it was described."""
# Off because readers other than Spark (pandas, DuckDB, Trino) do not all know them.
_PROPERTIES = {
    "delta.enableDeletionVectors": "false",
    "delta.enableTypeWidening": "false",
    # Both are Delta's to remove.
    "delta.deletedFileRetentionDuration": f"interval {HISTORY_DAYS} days",
    "delta.logRetentionDuration": f"interval {HISTORY_DAYS} days",
    # Each checkpoint lists what was removed in that week; by default there is one for 10 commits.
    "delta.checkpointInterval": "100",
}
_EVENTS_PROPERTIES = {
    "delta.autoOptimize.autoCompact": "true",  # with a batch, once there are many small files
}


@dataclass(frozen=True, slots=True)
class Lake:
    """`root/bronze/events`, `root/bronze/gaps`, `root/silver/<table>`, `root/gold/<table>`,
    `root/replay/<table>` and `root/checkpoints/silver`.
    """

    root: str

    @classmethod
    def at(cls, path: str) -> Lake:
        """A path without a scheme is a local one, whatever Spark's default file system is; with
        `file:` it is one as well, with as many slashes as people write after that."""
        scheme, _, rest = path.partition(":")
        if scheme == "file" and rest.startswith("/"):
            return cls(f"file:{Path('/' + rest.lstrip('/')).resolve()}")
        return cls(path if "://" in path else f"file:{Path(path).resolve()}")

    @property
    def events(self) -> str:
        return f"{self.root}/bronze/events"

    @property
    def gaps(self) -> str:
        return f"{self.root}/bronze/gaps"

    def path(self, layer: str, name: str) -> str:
        """Of a table."""
        return f"{self.root}/{layer}/{name}"

    def silver(self, name: str) -> str:
        return self.path("silver", name)

    def gold(self, name: str) -> str:
        return self.path("gold", name)

    def replay(self, name: str) -> str:
        return self.path("replay", name)

    def ensure(self, spark: SparkSession) -> None:
        """Creates the tables of bronze that are missing."""
        ensure(spark, self.events, EVENTS, _EVENTS_PROPERTIES)
        ensure(spark, self.gaps, GAPS)

    def began(self, spark: SparkSession) -> float:
        """When the archive did: its table was created. Unix seconds."""
        created = DeltaTable.forPath(spark, self.events).detail().select("createdAt").first()
        assert created is not None  # one row, of the table
        at: datetime = created["createdAt"]
        return at.timestamp()

    def read(self, spark: SparkSession, path: str) -> DataFrame | None:
        """A table as it is now, however often it is read and whoever writes meanwhile; None when it
        has not been created."""
        return as_of(spark, path, newest_version(spark, path)) if exists(spark, path) else None

    def ensured(self, spark: SparkSession, path: str) -> DataFrame:
        """A table that `ensure` has created. Raises LakeGone."""
        table = self.read(spark, path)
        if table is None:
            raise LakeGone(path)
        return table


def exists(spark: SparkSession, path: str) -> bool:
    """Whether a table is there, which is so once it has a version. Each question after a table is
    asked here: the folder of its log comes before that."""
    try:
        return bool(DeltaTable.isDeltaTable(spark, path))
    except (PySparkException, Py4JError):
        if is_half_made(spark, path):  # its first commit cannot be read
            return False
        raise


def as_of(spark: SparkSession, path: str, version: int) -> DataFrame:
    """A table as it was at that version, however often it is read and whatever is written."""
    return spark.read.format("delta").option("versionAsOf", version).load(path)


def ensure(
    spark: SparkSession, path: str, table: Table, properties: Mapping[str, str] | None = None
) -> None:
    """Make a table be there as the catalogue has it.

    One that is there keeps its rows and whether its columns may be null: an earlier Warren may have
    written null. It gets the columns, comments and properties that the catalogue has by now, once:
    what somebody changes by hand stays until the catalogue changes.
    """
    wanted = _PROPERTIES | table.properties | dict(properties or {})
    told = f"{table.schema.json()} {sorted(wanted.items())}"
    wanted[DESCRIBED] = sha256(told.encode()).hexdigest()[:16]
    if not exists(spark, path):
        create(spark, path, table.schema, wanted, *table.partitioned_by)
        return
    if properties_of(spark, path).get(DESCRIBED) != wanted[DESCRIBED]:
        # Killed within, it is done again: that it is done is noted last.
        stored = spark.read.format("delta").load(path).schema
        comments = {field.name: field.metadata.get("comment") for field in stored}
        missing = [field for field in table.fields if field.name not in comments]
        other = [
            field
            for field in table.fields
            if comments.get(field.name, field.description) != field.description
        ]
        if missing:
            added = ", ".join(
                f"`{field.name}` {field.type.simpleString()} COMMENT {text(field.description)}"
                for field in missing
            )
            _alter(spark, path, f"ADD COLUMNS ({added})")
        if other:
            said = ", ".join(f"`{each.name}` COMMENT {text(each.description)}" for each in other)
            _alter(spark, path, f"ALTER COLUMN {said}")
        set_properties(spark, path, wanted)
        log.info("a table is described anew", table=path)


def properties_of(spark: SparkSession, path: str) -> dict[str, str]:
    """Of a table. Read from the log's metadata alone: `detail` counts the table's files."""
    rows = spark.sql(f"SHOW TBLPROPERTIES delta.`{path}`").collect()
    return {row["key"]: row["value"] for row in rows}


def set_properties(spark: SparkSession, path: str, wanted: Mapping[str, str]) -> None:
    pairs = ", ".join(f"{text(name)} = {text(value)}" for name, value in wanted.items())
    _alter(spark, path, f"SET TBLPROPERTIES ({pairs})")


def create(
    spark: SparkSession,
    path: str,
    schema: StructType,
    properties: Mapping[str, str] | None = None,
    *partitioned_by: str,
) -> None:
    """A table of Warren's, unless it is there."""
    if exists(spark, path):
        return
    if is_half_made(spark, path):
        remove(spark, path)
        log.warning("whoever created the table was killed at it: created again", table=path)
    wanted = _PROPERTIES | dict(properties or {})
    table = DeltaTable.createIfNotExists(spark).location(path).addColumns(schema)
    table = table.comment(wanted.pop("comment", ""))
    for name, value in wanted.items():
        table = table.property(name, value)
    if partitioned_by:
        table = table.partitionedBy(*partitioned_by)
    table.execute()


def _alter(spark: SparkSession, path: str, change: str) -> None:
    spark.sql(f"ALTER TABLE delta.`{path}` {change}")


LOOKED_BACK = 50
"""Commits: upkeep makes a few between two batches."""
_COMMIT = re.compile(r"([0-9]{20})[.]json")


class Commits:
    """Of a table; those whose files Delta has removed are not there."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._files = SmallFiles(spark, path)
        self._folder = f"{path}/{LOG}"

    def versions(self) -> list[int]:
        """Those that are there, in order."""
        names = self._files.names(self._folder)
        return sorted(int(found[1]) for name in names if (found := _COMMIT.fullmatch(name)))

    def actions(self, version: int) -> list[Any]:
        """None where it is not there."""
        path = f"{self._folder}/{commit_name(version)}"
        if not self._files.exists(path):
            return []
        return [json.loads(line) for line in self._files.read(path).split("\n") if line]

    def infos(self) -> Iterator[dict[str, Any]]:
        """What the last commits say of themselves, the newest first."""
        for version in reversed(self.versions()[-LOOKED_BACK:]):
            yield info(self.actions(version))


def info(actions: Sequence[Any]) -> dict[str, Any]:
    """What a commit says of itself."""
    return next((each["commitInfo"] for each in actions if "commitInfo" in each), {})


def newest_version(spark: SparkSession, path: str) -> int:
    """Of a table that is there."""
    return Commits(spark, path).versions()[-1]


def rows_written(spark: SparkSession, path: str) -> int:
    """By the last write to a table."""
    metrics = (each.get("operationMetrics", {}) for each in Commits(spark, path).infos())
    return next((int(each["numOutputRows"]) for each in metrics if "numOutputRows" in each), 0)


EVENTS_SCHEMA = EVENTS.schema
# What every reader of Parquet, and Python in every time zone, can show.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC)
LATEST_MS = (LATEST - EARLIEST) // timedelta(milliseconds=1)  # a float would be a day later
SINGLE_MS = 600_000
"""After so long without an observation, what happened since is not said of one moment."""


def moment(milliseconds: Column) -> Column:
    """Of Unix milliseconds; the nearest that all readers can show. Null for negative ones, which
    stand for unknown."""
    within = F.least(milliseconds, F.lit(LATEST_MS))
    return F.when(milliseconds >= 0, F.timestamp_millis(within))


def bounded(moment: Column) -> Column:
    """The moment, or the nearest that is within EARLIEST and LATEST; null where it is null."""
    nearest = F.least(F.greatest(moment, F.lit(EARLIEST)), F.lit(LATEST))
    return F.when(moment.isNotNull(), nearest)


def events(raw: DataFrame, ids: Mapping[str, str]) -> DataFrame:
    """Rows of the table from Kafka's columns, headers included. `ids`: of all topics, by name."""
    pairs = [F.lit(text) for pair in ids.items() for text in pair]
    timestamp = bounded(F.col("timestamp"))
    return raw.select(
        "topic",
        F.create_map(*pairs)[F.col("topic")].alias("topic_id"),
        "partition",
        "offset",
        timestamp.alias("timestamp"),
        "key",
        "value",
        "headers",
        F.to_date(timestamp).alias("date"),
    )
