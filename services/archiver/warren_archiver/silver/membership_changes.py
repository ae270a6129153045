"""`membership_changes`: states of groups, and what differs from the one before."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.catalogue import MEMBERSHIP_CHANGES
from warren_archiver.silver.moments import moment, once

_DIFFERENCES = ("previous_state", "joined", "left")


def rows(events: DataFrame) -> DataFrame:
    """From accepted group events and tombstones; differences are null yet."""
    key = F.col("kafka_key").cast("string")
    at = F.coalesce(moment(F.col("observed_at")), "kafka_timestamp")
    members = F.array_sort(F.transform("members", lambda member: member["member_id"]))
    unowned = F.transform(F.map_values("unowned"), F.size)
    frame = events.withColumns(
        {
            "cluster": F.coalesce("cluster", F.substring_index(key, "|", 1)),
            "group": F.coalesce("group", F.substring(key, F.instr(key, "|") + 1, F.length(key))),
            "at": at,
            "position": F.coalesce("position", F.lit(-1)),
            "members": F.coalesce(members, F.array().cast("array<string>")),
            "unowned_partitions": F.aggregate(unowned, F.lit(0), F.try_add),
            **{name: F.lit(None) for name in _DIFFERENCES},
            "date": F.to_date(at),
        }
    )
    return MEMBERSHIP_CHANGES.conform(frame.where(F.col("group").isNotNull()))


def fold(states: DataFrame) -> DataFrame:
    """Each state once, as it was published first, with its differences."""
    in_order = Window.partitionBy("cluster", "group").orderBy("at", "position")
    each = once(states, MEMBERSHIP_CHANGES.key)
    before = F.lag(F.struct("state", "members")).over(in_order)
    known = F.coalesce("_before.members", F.array().cast("array<string>"))
    return MEMBERSHIP_CHANGES.conform(
        each.withColumn("_before", before).withColumns(
            {
                "previous_state": F.col("_before.state"),
                "joined": F.array_except("members", known),
                "left": F.array_except(known, "members"),
            }
        )
    )
