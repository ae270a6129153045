"""Tables by name, for readers that have a catalog: Hive's metastore, Glue's or Unity's."""

from __future__ import annotations

from pyspark.sql import SparkSession

from warren_archiver.lake.lake import Lake, exists
from warren_archiver.layers import LAYERS, name_of


def register(spark: SparkSession, lake: Lake, schema: str) -> None:
    """Register the tables that are there and have no name yet, in the catalog that Spark is
    configured with. A name that is taken stays whose it is."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    known = {row["tableName"] for row in spark.sql(f"SHOW TABLES IN {schema}").collect()}
    for layer, tables in LAYERS.items():
        for table in tables:
            name, path = name_of(layer, table), f"{lake.root}/{layer}/{table.name}"
            if name not in known and exists(spark, path):
                spark.sql(
                    f"CREATE TABLE IF NOT EXISTS {schema}.{name} USING delta LOCATION '{path}'"
                )
