"""Where tables and checkpoints are, and making sure that the tables are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from warren.contracts.topics import Topic

from warren_archiver.lake.bronze import REJECTED_SCHEMA, table_schema
from warren_archiver.lake.gaps import GAPS_SCHEMA

# Off because readers other than Spark (pandas, DuckDB, Trino) do not all know them. Statistics are
# kept for the Kafka coordinates and the first columns of the contract: they prune files.
_PROPERTIES = {
    "delta.enableDeletionVectors": "false",
    "delta.enableTypeWidening": "false",
    "delta.dataSkippingNumIndexedCols": "10",
}


@dataclass(frozen=True, slots=True)
class Lake:
    """`root/bronze/<topic>`, `root/quarantine`, `root/gaps`, `root/checkpoints/<topic>`; names
    unprefixed.
    """

    root: str

    @classmethod
    def at(cls, path: str) -> Lake:
        """A path without a scheme is a local one, whatever Spark's default file system is."""
        return cls(path if "://" in path else f"file:{Path(path).resolve()}")

    def bronze(self, topic: Topic) -> str:
        return f"{self.root}/bronze/{topic.name}"

    @property
    def quarantine(self) -> str:
        return f"{self.root}/quarantine"

    @property
    def gaps(self) -> str:
        return f"{self.root}/gaps"

    def checkpoint(self, topic: Topic) -> str:
        return f"{self.root}/checkpoints/{topic.name}"

    def ensure(self, spark: SparkSession, topics: Sequence[Topic]) -> None:
        """Creates the tables that are missing."""
        for topic in topics:
            _ensure(spark, self.bronze(topic), table_schema(topic))
        _ensure(spark, self.quarantine, REJECTED_SCHEMA)
        _ensure(spark, self.gaps, GAPS_SCHEMA)

    def began(self, spark: SparkSession, topic: Topic) -> float:
        """When the topic's table was created, Unix seconds."""
        created = DeltaTable.forPath(spark, self.bronze(topic)).detail().select("createdAt").first()
        assert created is not None  # one row, of the table
        at: datetime = created["createdAt"]
        return at.timestamp()

    def read(self, spark: SparkSession, path: str) -> DataFrame | None:
        """A table, or None when it has not been created."""
        if not DeltaTable.isDeltaTable(spark, path):
            return None
        return spark.read.format("delta").load(path)


def _ensure(spark: SparkSession, path: str, schema: StructType) -> None:
    if DeltaTable.isDeltaTable(spark, path):
        return
    table = DeltaTable.createIfNotExists(spark).location(path).addColumns(schema)
    for name, value in _PROPERTIES.items():
        table = table.property(name, value)
    table.partitionedBy("date").execute()
