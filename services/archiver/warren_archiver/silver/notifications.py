"""`notifications`: attempts to tell somebody."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.catalogue import NOTIFICATIONS
from warren_archiver.silver.moments import RECORD_ORDER, moment


def rows(events: DataFrame) -> DataFrame:
    """From accepted events."""
    at = moment(F.greatest("at", F.lit(0)))
    of_now = events.where(~F.col("deleted")).withColumns({"at": at, "date": F.to_date(at)})
    return NOTIFICATIONS.conform(of_now)


def fold(notifications: DataFrame) -> DataFrame:
    """Each once, as it was published first."""
    first = Window.partitionBy(*NOTIFICATIONS.key).orderBy(*RECORD_ORDER)
    once = notifications.withColumn("_number", F.row_number().over(first)).where("_number = 1")
    return NOTIFICATIONS.conform(once)
