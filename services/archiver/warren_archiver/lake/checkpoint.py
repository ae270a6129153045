"""What Spark remembers of the query: the offsets at which its batches end, by topic."""

from __future__ import annotations

import json
from collections.abc import Collection

from pyspark.sql import SparkSession

from warren_archiver.lake.gaps import Place
from warren_archiver.lake.lake import last_batches
from warren_archiver.lake.small_files import SmallFiles

Ends = dict[str, dict[int, int]]
"""Exclusive, by topic and partition."""


class Checkpoint:
    """Of a query that does not run now; what is done can be asked for while it runs."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._path = path
        self._files = SmallFiles(spark, path)

    def ends(self, batch: int | None = None) -> Ends:
        """Of that batch, or the one that was begun last, whether or not it has written anything."""
        number = self.newest() if batch is None else batch
        return {} if number < 0 else ends_of(self._read(number)[-1])

    def written(self, table: str) -> Ends | None:
        """Of the last batch that is in the Delta table as well; None when none is."""
        newest = max(self.newest("commits"), self._newest_in(table))
        return None if newest < 0 else ends_of(self._read(newest)[-1])

    def beginnings(self) -> Ends:
        """Where the first batch of all begins: the logs did when it was planned. Empty where
        Spark has not noted it."""
        path = f"{self._path}/sources/0/0"
        if not self._files.exists(path):
            return {}
        return ends_of(self._files.read(path).splitlines()[-1])  # a version is before it

    def taken_in(self) -> int | None:
        """Of a query that reads a Delta table: its last version that was taken in as a whole; None
        when there is none."""
        text = self.committed()
        if text is None:
            return None
        offset = json.loads(text)
        # An index of -1 stands for all before the version.
        version = int(offset["reservoirVersion"]) - (1 if int(offset["index"]) == -1 else 0)
        return version if version >= 0 else None

    def committed(self) -> str | None:
        """What Spark says of its source's offset where the last batch ends that is done; None when
        there is none."""
        newest = self.newest("commits")
        return None if newest < 0 else self._read(newest)[-1]

    def begun(self) -> bool:
        """Whether a batch was begun that is not done."""
        return self.newest() > self.newest("commits")

    def lately(self) -> tuple[Ends | None, Ends] | None:
        """Where the last batches begin that are done, two or more, and where they end. The first
        batch of all begins where nobody knows; None when there is no batch, or none before it."""
        done = self._numbers("commits")
        noted = [number for number in self._numbers("offsets") if done and number <= max(done)]
        if not noted or (noted[0] == noted[-1] > 0):
            return None
        ends = ends_of(self._read(noted[-1])[-1])
        return (None if noted[-1] == 0 else ends_of(self._read(noted[0])[-1])), ends

    def begun_ms(self, batch: int | None = None) -> int | None:
        """When that batch was begun, or the newest one, Unix milliseconds; None for none."""
        number = self.newest() if batch is None else batch
        return None if number < 0 else json.loads(self._read(number)[1])["batchTimestampMs"]

    def forget(self, topics: Collection[str]) -> None:
        """The query will read these topics from their beginnings, and the others where it was.

        A batch that was begun and is not done will be repeated without these topics.
        """
        newest = self.newest()
        if newest < 0:
            self._files.delete(f"{self._path}/sources")  # where the first batch begins
            return
        *head, source = self._read(newest)
        ends = {topic: ends for topic, ends in json.loads(source).items() if topic not in topics}
        self._replace(newest, "\n".join([*head, json.dumps(ends, separators=(",", ":"))]))

    def query(self) -> str | None:
        """Spark's id of the query, which stays; None before it was started."""
        if not self._files.exists(metadata := f"{self._path}/metadata"):
            return None
        found: str = json.loads(self._files.read(metadata))["id"]
        return found

    def is_whole(self) -> bool:
        """Whether all can be read that Spark reads when the query starts: what is half-written, as
        by a backup or a full disk, would end it each time."""
        begun, done = self._numbers("offsets"), self.newest("commits")
        try:
            query = self.query()
            self.beginnings()
            if not begun:
                return done < 0
            for number in {max(begun[-1] - 1, 0), begun[-1]}:
                if number not in begun:
                    return False
                _, about, *sources = self._read(number)
                if len([json.loads(about)["batchTimestampMs"], *map(json.loads, sources)]) < 2:
                    return False
            if done >= 0:
                json.loads(self._files.read(f"{self._path}/commits/{done}").splitlines()[1])
            return query is not None
        except (ValueError, LookupError, TypeError):
            return False

    def has_read_another(self, table_id: str, newest: int) -> bool:
        """Of a query that reads a Delta table: whether that was one with another id, or one that
        has come further than its newest version."""
        if self.newest() < 0:
            return False
        offset = json.loads(self._read(self.newest())[-1])
        # Where all was read, the version that comes next is noted.
        return bool(offset["reservoirId"] != table_id or offset["reservoirVersion"] > newest + 1)

    def delete(self) -> None:
        """The query begins anew. What is left of it where that is killed is not whole."""
        self._files.delete(f"{self._path}/metadata")
        self._files.delete(self._path)

    def newest(self, of: str = "offsets") -> int:
        """Number of the last batch that was begun, or is done ("commits"); -1 for none."""
        return max(self._numbers(of), default=-1)

    def _newest_in(self, table: str) -> int:
        """Number of the last batch that the Delta table has, by Delta's own note; -1 for none."""
        if (query := self.query()) is None:
            return -1
        noted = last_batches(self._spark, table).get(query)
        return -1 if noted is None else noted.number

    def _numbers(self, of: str) -> list[int]:
        """Of batches, in order."""
        return self._files.numbers(f"{self._path}/{of}")

    def _read(self, batch: int) -> list[str]:
        return self._files.read(f"{self._path}/offsets/{batch}").splitlines()

    def _replace(self, batch: int, text: str) -> None:
        self._files.replace(f"{self._path}/offsets/{batch}", text)


def ends_of(source: str) -> Ends:
    """From Spark's {topic: {partition: offset}}."""
    return {
        topic: {int(partition): end for partition, end in ends.items()}
        for topic, ends in json.loads(source).items()
    }


def places_of(ends: Ends) -> dict[Place, int]:
    return {
        (topic, partition): end
        for topic, of_topic in ends.items()
        for partition, end in of_topic.items()
    }
