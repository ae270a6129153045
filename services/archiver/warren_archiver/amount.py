"""How Spark runs queries: of little rows, planning costs more than the work, and code that is
generated and compiled never pays off.
"""

from collections.abc import Mapping

from pyspark.sql import SparkSession

FEW_EVENTS = 50_000
"""Interpreted, so many take no longer than to compile what is made of them."""
_SHUFFLE, _SNAPSHOT = "spark.sql.shuffle.partitions", "spark.databricks.delta.snapshotPartitions"
LITTLE: Mapping[str, str] = {
    # The plan stays as it is, instead of being made again after each stage.
    "spark.sql.adaptive.enabled": "false",
    # Plans are interpreted.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # One task has all rows of a stage.
    _SHUFFLE: "1",
    _SNAPSHOT: "1",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
}
# By default 200 and 50: tasks for a handful of rows.
_LOCAL = {_SHUFFLE: "2", _SNAPSHOT: "2"}
_CLUSTER = {_SHUFFLE: "32", _SNAPSHOT: "8"}


def much(master: str) -> Mapping[str, str | None]:
    """Options for that master; None: as Spark has it by default."""
    return {**dict.fromkeys(LITTLE), **(_LOCAL if master.startswith("local") else _CLUSTER)}


def fit(spark: SparkSession, *, little: bool) -> None:
    """Have the session's next queries run as it is best for so many rows. What it was begun with,
    by `[archiver.spark]` or spark-submit, stays."""
    begun_with = spark.sparkContext.getConf()
    wanted = LITTLE if little else much(begun_with.get("spark.master") or "")
    for name, text in wanted.items():
        if begun_with.contains(name):
            continue
        if text is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, text)
