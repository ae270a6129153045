"""What has come into the table of events since tables were made of it, by Delta's log.

A note says how far tables are made of events; it follows all that it tells of.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import unquote

import structlog
from pyspark.sql import (
    DataFrame,
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.clock import Clock

from warren_archiver.bronze.batch import read
from warren_archiver.errors import LakeGone
from warren_archiver.gold.catalogue import PROGRESS
from warren_archiver.lake.lake import (
    EARLIEST,
    EVENTS_SCHEMA,
    HISTORY_DAYS,
    Commits,
    Lake,
    as_of,
    info,
)
from warren_archiver.silver import catalogue as silver

log = structlog.get_logger(__name__)
CHUNK_BYTES = 16 * 2**20
"""Compressed: with 40 bytes an event, some 400,000 of them."""
_KEPT_MS = timedelta(days=HISTORY_DAYS) // timedelta(milliseconds=1)


class Position(NamedTuple):
    """A version of the table, and when it was committed, Unix milliseconds: another table, or one
    that was set back, has another commit there."""

    version: int
    at_ms: int


class Chunk(NamedTuple):
    """Rows, None for none, and where the table stands once they are taken in; None: more of that
    is to come."""

    events: DataFrame | None
    position: Position | None


class NewEvents:
    """Each row once; where it is not known which are new, all that there are."""

    def __init__(self, spark: SparkSession, lake: Lake, clock: Clock) -> None:
        self._spark = spark
        self._path = lake.events
        self._clock = clock
        self._commits = Commits(spark, self._path)

    def since(self, known: Position | None) -> Iterator[Chunk]:
        """What follows a position, in chunks; all for None. Raises LakeGone."""
        versions = self._commits.versions()
        if not versions:
            raise LakeGone(self._path)
        new = {each: self._commits.actions(each) for each in versions if known and each > known[0]}
        if known is None or not self._goes_on(known, new):
            log.info("all events are taken in", version=versions[-1], known=known)
            yield from self._all(versions[-1])
            return
        paths: list[str] = []
        size, position = 0, known
        for version, actions in new.items():
            if actions:  # else somebody was killed at writing it
                position = Position(version, _at_ms(actions))
            # Other commits remove events, or join files.
            if read(info(actions).get("userMetadata"), 0, 0) is not None:
                added = [each["add"] for each in actions if "add" in each]
                paths += [f"{self._path}/{unquote(each['path'])}" for each in added]
                size += sum(each["size"] for each in added)
            if size >= CHUNK_BYTES or version == versions[-1]:
                yield Chunk(self._rows(paths), position)
                paths, size = [], 0

    def _goes_on(self, known: Position, new: Mapping[int, list[Any]]) -> bool:
        """Whether the log tells all that came after it, and the files of that are kept."""
        last = self._commits.actions(known.version)
        return (
            _at_ms(last) == known.at_ms
            and [*new] == [*range(known.version + 1, known.version + 1 + len(new))]
            and all(info(each).get("operation") != "RESTORE" for each in new.values())
            and (not new or self._clock.now_ms() - _at_ms(last) < _KEPT_MS)
        )

    def _all(self, version: int) -> Iterator[Chunk]:
        table = as_of(self._spark, self._path, version)
        days = sorted(row["date"] for row in table.select("date").distinct().collect())
        position = Position(version, _at_ms(self._commits.actions(version)))
        for day in days:
            of_day = table.where(F.col("date") == day)
            yield Chunk(of_day, position if day == days[-1] else None)

    def _rows(self, paths: list[str]) -> DataFrame | None:
        if not paths:
            return None
        reader = self._spark.read.schema(EVENTS_SCHEMA).option("basePath", self._path)
        return reader.parquet(*paths)


def _at_ms(actions: list[Any]) -> int:
    return int(info(actions).get("timestamp", -1))


LATE_MS = 60_000
"""What services tell of a moment has come by so much later, but for what makes its hour anew."""
_ENDS = {
    silver.EVALUATIONS.name: silver.EVALUATIONS.name,
    silver.PARTITION_MINUTES.name: silver.GROUP_MINUTES.name,
    silver.LATENESS_MINUTES.name: silver.LATENESS_MINUTES.name,
}
"""Tables of events, and those that say up to when gold is made of them."""


class Progress:
    """Of a lake, as it was noted last, in the commit that has the table's rows."""

    def __init__(self, spark: SparkSession, lake: Lake) -> None:
        self._spark = spark
        self._path = lake.gold(PROGRESS.name)
        self.position: Position | None = None
        """Of the table of events: up to there all is taken in."""
        self._until: dict[str, int] = {}
        for each in Commits(spark, self._path).infos():
            if each.get("operation") == "RESTORE":
                break
            if text := each.get("userMetadata"):
                noted = json.loads(text)
                self._until = noted["until"]
                self.position = Position(*noted["events"]) if noted["events"] else None
                break

    def note(self, position: Position | None, newest: Mapping[str, int], archived_ms: int) -> None:
        """`newest`: when what was taken in happened, by table of events. `archived_ms`: what had
        come by then is among that, or was before. Unix milliseconds."""
        self.position = position or self.position
        for name, at in newest.items():
            if of := _ENDS.get(name):
                self._until[of] = max(self._until.get(of, 0), min(at, archived_ms - LATE_MS))
        rows = [
            (of, EARLIEST + timedelta(milliseconds=at), EARLIEST.date())
            for of, at in self._until.items()
        ]
        frame = self._spark.createDataFrame(rows, PROGRESS.schema).coalesce(1)
        noted = json.dumps({"events": self.position, "until": self._until})
        writer = frame.write.format("delta").mode("overwrite").option("userMetadata", noted)
        writer.save(self._path)
