"""What has come into the table of events since tables were made of it, by Delta's log."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import unquote

import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock

from warren_archiver.bronze.batch import read
from warren_archiver.errors import LakeGone
from warren_archiver.lake.commits import Commits, info
from warren_archiver.lake.events import EVENTS_SCHEMA
from warren_archiver.lake.lake import HISTORY_DAYS, Lake, as_of

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
