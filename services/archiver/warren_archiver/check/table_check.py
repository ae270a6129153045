"""A table's rows compared with those that it has to have."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.table import Table


@dataclass(frozen=True, slots=True)
class TableCheck:
    """One table. `differences` are sentences; there are none when it is right."""

    table: str
    rows: int
    """That were compared."""
    missing: int
    invented: int
    """Rows that nothing makes."""
    other: int
    """Rows with other values than they should have."""
    differences: list[str] = field(default_factory=list)
    to_make_again: date | None = None
    """The first day of those with rows missing, or other: a backfill writes them."""

    @property
    def correct(self) -> bool:
        return not self.differences


def compare_rows(
    table: Table,
    wanted: DataFrame,
    stored: DataFrame,
    since: date | None,
    *,
    layer: str = "silver",
    made_by: str = "event",
) -> TableCheck:
    """Of the days since `since`, or of all. `made_by`: what makes a row, in one word."""
    if since is not None:
        wanted, stored = (frame.where(F.col("date") >= since) for frame in (wanted, stored))
    values = F.struct(*table.names)
    # A row that is there twice differs from one: how often counts as well.
    one = wanted.groupBy(*table.key).agg(F.min(values).alias("w"), F.count("*").alias("wn"))
    other = stored.groupBy(*table.key).agg(F.min(values).alias("s"), F.count("*").alias("sn"))
    same_key = [F.col(f"one.{name}").eqNullSafe(F.col(f"other.{name}")) for name in table.key]
    both = one.alias("one").join(other.alias("other"), same_key, "full")
    differs = ~F.struct("w", "wn").eqNullSafe(F.struct("s", "sn"))
    found = both.agg(
        F.count("sn"),
        F.count(F.when(F.col("sn").isNull(), 1)),
        F.count(F.when(F.col("wn").isNull(), 1)),
        F.count(F.when(F.col("sn").isNotNull() & F.col("wn").isNotNull() & differs, 1)),
        F.min(F.when(differs, F.coalesce("w.date", "s.date"))),
        F.min(F.when(differs & F.col("wn").isNotNull(), F.col("w.date"))),
    ).first()
    assert found is not None  # an aggregate has a row
    rows, missing, invented, unlike, day, again = found
    said = [
        f"{count} {what}, the first on {day}"
        for count, what in (
            (missing, "missing"),
            (invented, f"that no {made_by} makes"),
            (unlike, f"unlike what the {made_by}s make"),
        )
        if count
    ]
    return TableCheck(f"{layer}/{table.name}", rows, missing, invented, unlike, said, again)
