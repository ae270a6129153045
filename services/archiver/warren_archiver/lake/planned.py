"""What Spark has planned for a batch: the offsets at which it ends, from the query's checkpoint."""

from __future__ import annotations

import json
from typing import NamedTuple

from pyspark.sql import SparkSession


class Planned(NamedTuple):
    """`ends`: exclusive, by partition."""

    topic: str
    ends: dict[int, int]


def planned(spark: SparkSession, checkpoint: str, batch: int) -> Planned | None:
    """None when Spark does not remember that batch (any more).

    Through Hadoop's file systems, as the checkpoint may be anywhere.
    """
    jvm = spark.sparkContext._jvm
    context = spark.sparkContext._jsc
    assert jvm is not None  # a session is there
    path = jvm.org.apache.hadoop.fs.Path(f"{checkpoint}/offsets/{batch}")
    files = path.getFileSystem(context.hadoopConfiguration())
    if batch < 0 or not files.exists(path):
        return None
    stream = files.open(path)
    try:
        text = bytes(stream.readAllBytes()).decode()
    finally:
        stream.close()
    ((topic, offsets),) = json.loads(text.splitlines()[-1]).items()
    return Planned(topic, {int(partition): end for partition, end in offsets.items()})
