"""A checkpoint that is gone, half-written, or not that of the table of events, made again from the
table.

So it is where one of both was deleted, set back or comes from a backup. Spark would archive again
what the table has, or take new records for a batch that Delta's sink has already, and leave them
out.

Rows are written a whole batch at a time, in the order of their offsets: what is archived of a
partition ends with its last row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.checkpoint import Checkpoint, Ends
from warren_archiver.lake.lake import STREAMED, Batch, Lake, last_batches
from warren_archiver.lake.small_files import SmallFiles

LOOKED_BACK = 500
"""Changes of the table: upkeep makes a few between two batches."""
LogStarts = Callable[[str], Mapping[int, int]]
"""Where the log of each partition of this topic begins."""


def is_lost(spark: SparkSession, lake: Lake, ids: Mapping[str, str]) -> bool:
    """Whether the checkpoint does not go with the table of events, or cannot be read. `ids`: those
    that the topics have had of late."""
    checkpoint = Checkpoint(spark, lake.checkpoint)
    if not checkpoint.is_whole():
        return True
    # Spark notes a batch, writes it and notes that it is done. Asked the other way round, that
    # holds while another archiver writes, too.
    done = checkpoint.newest("commits")
    last = _last_batch(spark, lake.events)
    begun = checkpoint.newest()
    if last is None:
        events = lake.read(spark, lake.events)
        return done >= 0 or (begun < 0 and events is not None and not events.isEmpty())
    if checkpoint.query() != last.query or not done <= last.number <= begun:
        return True
    # Of another past, in which a batch had the same number.
    is_earlier = (checkpoint.begun_ms(last.number) or 0) > last.at_ms
    if is_earlier or _was_restored(spark, lake):
        return True
    return _goes_beyond(spark, lake, ids, last, checkpoint.ends(last.number))


def _was_restored(spark: SparkSession, lake: Lake) -> bool:
    """Whether somebody has set the table back since the last batch."""
    history = DeltaTable.forPath(spark, lake.events).history(LOOKED_BACK).select("operation")
    operations = [row["operation"] for row in history.collect()]
    return "RESTORE" in operations[: _first(operations, STREAMED)]


def _first(operations: list[str], which: str) -> int:
    return operations.index(which) if which in operations else len(operations)


def _goes_beyond(
    spark: SparkSession, lake: Lake, ids: Mapping[str, str], last: Batch, ends: Ends
) -> bool:
    """Whether there are rows after the ends of the last batch: likewise, the other way round."""
    the_day_before = datetime.fromtimestamp(last.at_ms / 1000, UTC).date() - timedelta(days=1)
    rows = lake.ensured(spark, lake.events).where(F.col("date") >= F.lit(the_day_before))
    return any(
        topic in ends and newest >= ends[topic].get(partition, 0)
        for topic, partition, newest in _last_rows(rows, ids)
    )


def _last_rows(events: DataFrame, ids: Mapping[str, str]) -> list[tuple[str, int, int]]:
    """Topic, partition and offset, of the topics that have these ids."""
    found = events.groupBy("topic", "topic_id", "partition").agg(F.max("offset").alias("last"))
    return [
        (row["topic"], row["partition"], row["last"])
        for row in found.collect()
        if ids.get(row["topic"]) == row["topic_id"]
    ]


def make_again(
    spark: SparkSession, lake: Lake, ids: Mapping[str, str], log_starts: LogStarts
) -> Ends:
    """The query goes on where the rows of the topics that have these ids end, as a query that Delta
    knows: two that begin so cannot both write. Killed in between, it is lost still.

    Raises KafkaError or LakeGone.
    """
    last = _last_batch(spark, lake.events) or Batch(str(uuid4()), 0, 0)
    ends = _ends(spark, lake, ids, log_starts)
    files, path = SmallFiles(spark, lake.checkpoint), lake.checkpoint
    Checkpoint(spark, path).delete()
    about = {"batchWatermarkMs": 0, "batchTimestampMs": last.at_ms, "conf": {}}
    batch = "\n".join(["v1", json.dumps(about), json.dumps(ends)])
    files.replace(f"{path}/commits/{last.number}", 'v1\n{"nextBatchWatermarkMs":0}')
    for number in {max(0, last.number - 1), last.number}:  # Spark reads the one before, too
        files.replace(f"{path}/offsets/{number}", batch)
    files.replace(f"{path}/metadata", json.dumps({"id": last.query}))
    return ends


def _ends(spark: SparkSession, lake: Lake, ids: Mapping[str, str], log_starts: LogStarts) -> Ends:
    """A partition without rows begins where its log does; a topic of which nothing is known, where
    Spark finds that."""
    ends = {topic: dict(log_starts(topic)) for topic in ids}
    for topic, partition, newest in _last_rows(lake.ensured(spark, lake.events), ids):
        ends[topic][partition] = newest + 1
    return {topic: of_topic for topic, of_topic in ends.items() if of_topic}


def _last_batch(spark: SparkSession, table: str) -> Batch | None:
    """None where Delta has noted none."""
    return next(iter(last_batches(spark, table).values()), None)
