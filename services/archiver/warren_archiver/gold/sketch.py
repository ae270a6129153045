"""Sketches: how often values of about this size occurred. Sketches of hours add up to those of any
longer time, and percentiles of that are off by at most 1 %.

Buckets grow by the same factor: bucket 0 has 0 and less, bucket k what is in (G^(k-1), G^k]; its
values are told as 2 G^k / (G + 1), the point from which both ends are as far.
"""

import math

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.conventions import GROWTH

_LOG = math.log(GROWTH)


def bucket(value: Column) -> Column:
    """Of a whole number; null for null."""
    above = F.ceil(F.log(value) / F.lit(_LOG) - F.lit(1e-9)).cast("int")
    return F.when(value > 0, above).when(value <= 0, 0)


def representative(number: int) -> float:
    """The value that a bucket stands for."""
    return 0.0 if number == 0 else 2 * GROWTH**number / (GROWTH + 1)


def sketches(rows: DataFrame, by: tuple[str, ...], value: str, name: str) -> DataFrame:
    """`by` and `name`: bucket and count, in order of buckets. Nulls do not count."""
    counted = (
        rows.where(F.col(value).isNotNull())
        .groupBy(*by, bucket(F.col(value)).alias("bucket"))
        .agg(F.count(F.lit(1)).alias("count"))
    )
    entries = F.sort_array(F.collect_list(F.struct("bucket", "count")))
    return counted.groupBy(*by).agg(entries.alias(name))


def percentile(column: str, share: float) -> Column:
    """The exact one, by nearest rank: a value that occurred. Null where there is none."""
    return F.expr(f"percentile_disc({share}) WITHIN GROUP (ORDER BY `{column}`)").cast("bigint")
