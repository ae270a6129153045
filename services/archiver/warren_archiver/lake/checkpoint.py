"""What Spark remembers of the query: the offsets at which its batches end, by topic.

Through Hadoop's file systems, as the checkpoint may be anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from pyspark.sql import SparkSession

Ends = dict[str, dict[int, int]]
"""Exclusive, by topic and partition."""


class Checkpoint:
    """Of a query that does not run now; what is done can be asked for while it runs."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        assert spark.sparkContext._jvm is not None  # a session is there
        self._jvm: Any = spark.sparkContext._jvm
        self._configuration = spark.sparkContext._jsc.hadoopConfiguration()
        self._path = path
        root = self._jvm.org.apache.hadoop.fs.Path(path)
        self._files = root.getFileSystem(self._configuration)

    def ends(self) -> Ends:
        """Of the batch that was begun last."""
        newest = self._newest()
        return {} if newest < 0 else ends_of(self._read(newest)[-1])

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
        newest = self._newest("commits")
        return None if newest < 0 else self._read(newest)[-1]

    def begun(self) -> bool:
        """Whether a batch was begun that is not done."""
        return self._newest() > self._newest("commits")

    def lately(self) -> tuple[Ends | None, Ends] | None:
        """Where the last batches begin that are done, two or more, and where they end. The first
        batch of all begins where nobody knows; None when there is no batch, or none before it."""
        done = self._numbers("commits")
        noted = [number for number in self._numbers("offsets") if done and number <= max(done)]
        if not noted or (noted[0] == noted[-1] > 0):
            return None
        ends = ends_of(self._read(noted[-1])[-1])
        return (None if noted[-1] == 0 else ends_of(self._read(noted[0])[-1])), ends

    def begun_ms(self) -> int | None:
        """When that batch was, Unix milliseconds; None when there was none."""
        newest = self._newest()
        return None if newest < 0 else json.loads(self._read(newest)[1])["batchTimestampMs"]

    def forget(self, topics: Collection[str]) -> None:
        """The query will read these topics from their beginnings, and the others where it was.

        A batch that was begun and is not done will be repeated without these topics.
        """
        newest = self._newest()
        if newest < 0:
            self._files.delete(self._hadoop_path("sources"), True)  # where the first batch begins
            return
        *head, source = self._read(newest)
        ends = {topic: ends for topic, ends in json.loads(source).items() if topic not in topics}
        self._replace(newest, "\n".join([*head, json.dumps(ends, separators=(",", ":"))]))

    def _newest(self, of: str = "offsets") -> int:
        return max(self._numbers(of), default=-1)

    def _numbers(self, of: str) -> list[int]:
        """Of batches, in order."""
        directory = self._hadoop_path(of)
        if not self._files.exists(directory):
            return []
        names = [status.getPath().getName() for status in self._files.listStatus(directory)]
        return sorted(int(name) for name in names if name.isdigit())

    def _read(self, batch: int) -> list[str]:
        stream = self._files.open(self._hadoop_path(f"offsets/{batch}"))
        try:
            return bytes(stream.readAllBytes()).decode().splitlines()
        finally:
            stream.close()

    def _replace(self, batch: int, text: str) -> None:
        """At once or not at all, as Spark itself writes there."""
        spark = self._jvm.org.apache.spark.sql.execution.streaming
        manager = spark.CheckpointFileManager.create(
            self._hadoop_path("offsets"), self._configuration
        )
        stream = manager.createAtomic(self._hadoop_path(f"offsets/{batch}"), True)
        stream.write(text.encode())
        stream.close()

    def _hadoop_path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self._path}/{name}")


def ends_of(source: str) -> Ends:
    """From Spark's {topic: {partition: offset}}."""
    return {
        topic: {int(partition): end for partition, end in ends.items()}
        for topic, ends in json.loads(source).items()
    }
