"""Percentiles by nearest rank, of values that were counted and of gold's sketches."""

from warren_archiver.gold.conventions import GROWTH

SKETCH = "STRUCT(bucket INTEGER, count BIGINT)[]"


def of_sketch(column: str, rows: str) -> str:
    """A query for cluster, group, size and how often, by what sketches in these rows say."""
    return f"""SELECT cluster, "group", CASE WHEN entry.bucket = 0 THEN 0
    ELSE 2 * pow({GROWTH!r}, entry.bucket) / ({GROWTH!r} + 1) END, sum(entry.count)
  FROM (SELECT cluster, "group", unnest({column}) AS entry FROM {rows})
  GROUP BY cluster, "group", entry.bucket"""


def percentiles(**shares: float) -> str:
    """Tables of a WITH: `percentiles` of each group, made of `sizes` (size and number)."""
    listed = ", ".join(
        f"try_cast(round(min(size) FILTER (rank >= ceil({share} * total))) AS BIGINT) AS {name}"
        for name, share in shares.items()
    )
    return f"""ranked AS (
  SELECT cluster, "group", size, sum(number) OVER in_order AS rank,
    sum(number) OVER of_group AS total
  FROM sizes WINDOW of_group AS (PARTITION BY cluster, "group"),
    in_order AS (PARTITION BY cluster, "group" ORDER BY size)
), percentiles AS (SELECT cluster, "group", {listed} FROM ranked GROUP BY ALL)"""
