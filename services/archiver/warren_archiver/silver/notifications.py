"""`notifications`: attempts to tell somebody."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.catalogue import NOTIFICATIONS
from warren_archiver.silver.moments import moment, once


def rows(events: DataFrame) -> DataFrame:
    """From accepted events."""
    at = moment(F.greatest("at", F.lit(0)))
    of_now = events.where(~F.col("deleted")).withColumns({"at": at, "date": F.to_date(at)})
    return NOTIFICATIONS.conform(of_now)


def fold(notifications: DataFrame) -> DataFrame:
    """Each once, as it was published first."""
    return NOTIFICATIONS.conform(once(notifications, NOTIFICATIONS.key))


def by_incident(notifications: DataFrame) -> DataFrame:
    """A row for each incident that one tells of: its own, and those of its conditions."""
    every = F.array_union(F.coalesce("conditions", F.array()), F.array("incident_id"))
    return notifications.withColumn("incident_id", F.explode(every))
