"""`alert_hours`, `alert_days`: what each channel was told, and how much of it was noise."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.gold.catalogue import ALERT
from warren_archiver.gold.incidents import with_noise
from warren_archiver.gold.units import Unit


def alerts(notifications: DataFrame, incidents: DataFrame, unit: Unit) -> DataFrame:
    """Attempts of a unit; what is known of their incidents is of whenever that was known. Noise is
    what began that day or the day before: what has lasted for longer is none, whatever it began as.
    """
    noise = with_noise(incidents).select("incident_id", "opened_at", "short", "flapped")
    began_late = F.col("opened_at") >= Unit.DAY.beginning(F.col("at")) - F.expr("INTERVAL 1 DAY")
    delivered = F.col("outcome") == "delivered"
    about = F.when(delivered, F.col("incident_id"))
    found = (
        notifications.join(noise, "incident_id", "left")
        .groupBy("route", "channel", unit.beginning(F.col("at")).alias(unit.column))
        .agg(
            F.count(F.when(delivered, 1)).alias("deliveries"),
            F.count(F.when(F.col("outcome") == "failed", 1)).alias("failures"),
            F.count(F.when(F.col("outcome").isin("refused", "given_up"), 1)).alias("undelivered"),
            F.count_distinct(F.when(delivered, F.struct("cluster", "group"))).alias("groups"),
            F.count_distinct(about).alias("incidents"),
            F.count_distinct(F.when(F.col("short") & began_late, about)).alias("short"),
            F.count_distinct(F.when(F.col("flapped") & began_late, about)).alias("flapped"),
            F.round(F.avg(F.when(delivered, F.col("duration_ms"))))
            .cast("bigint")
            .alias("mean_duration_ms"),
        )
    )
    return ALERT[unit].conform(found.withColumn("date", F.to_date(unit.column)))
