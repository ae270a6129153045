"""Tables by name, for readers that have a catalog: Hive's metastore, Glue's or Unity's."""

from __future__ import annotations

from pyspark.sql import SparkSession

from warren_archiver.lake.lake import Lake, exists
from warren_archiver.layers import LAYERS, name_of


def register(spark: SparkSession, lake: Lake, schema: str) -> None:
    """Registers the tables that are there, in the catalog that Spark is configured with. A name
    that is taken stays whose it is."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    for layer, tables in LAYERS.items():
        for table in tables:
            if exists(spark, path := f"{lake.root}/{layer}/{table.name}"):
                name = f"{schema}.{name_of(layer, table)}"
                spark.sql(f"CREATE TABLE IF NOT EXISTS {name} USING delta LOCATION '{path}'")
