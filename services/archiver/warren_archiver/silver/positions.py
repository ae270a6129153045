"""`positions`: observations of groups, exploded, and what moved since the one before."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.silver.catalogue import POSITIONS
from warren_archiver.silver.moments import RECORD_ORDER, SINGLE_MS, elapsed_ms, known, moment

_COLUMNS = ("partition", "committed", "committed_at", "commits", "log_start", "log_end")
_MOVES = ("produced", "consumed", "rewound", "elapsed_ms", "repeated")


def rows(events: DataFrame) -> DataFrame:
    """From accepted offset events; moves are null yet. Events that only ask to forget have none."""
    topics = events.where(F.size("topics") > 0).select(
        "*", F.explode("topics").alias("topic", "columns")
    )
    zipped = F.arrays_zip(*(F.col(f"columns.{name}").alias(name) for name in _COLUMNS))
    single = topics.withColumn("row", F.explode(zipped)).where("row.partition IS NOT NULL")
    own = {name: F.col(f"row.{name}") for name in _COLUMNS}
    own |= {name: known(own[name]) for name in ("committed", "log_start", "log_end")}
    at = moment(F.greatest("observed_at", F.lit(0)))
    # `greatest` passes over nulls, which would make an unknown lag none.
    behind = F.try_subtract(own["log_end"], own["committed"])
    frame = single.withColumns(
        {
            **own,
            "at": at,
            "committed_at": moment(own["committed_at"]),
            "lag": F.when(behind.isNotNull(), F.greatest(behind, F.lit(0))),
            **{name: F.lit(None) for name in _MOVES},
            "date": F.to_date(at),
        }
    )
    return POSITIONS.conform(frame)


def fold(positions: DataFrame) -> DataFrame:
    """Each row once, with its moves. Rows that are there twice may have any moves before."""
    in_order = Window.partitionBy("cluster", "group", "topic", "partition").orderBy(
        "at", "position", *RECORD_ORDER
    )
    place = F.struct("kafka_topic_id", "kafka_partition", "kafka_offset")
    once = positions.withColumn("_before", F.lag(place).over(in_order)).where(
        ~place.eqNullSafe(F.col("_before"))
    )
    state = F.struct("at", "position", "committed", "log_end")
    return POSITIONS.conform(
        once.withColumn("_before", F.lag(state).over(in_order)).withColumns(_moves())
    )


def _moves() -> dict[str, Column]:
    def before(name: str) -> Column:
        return F.col(f"_before.{name}")

    elapsed = elapsed_ms(before("at"), F.col("at"))
    near = elapsed <= SINGLE_MS
    grown = F.try_subtract(F.col("log_end"), before("log_end"))
    advanced = F.when(near, F.try_subtract(F.col("committed"), before("committed")))
    same = [
        F.col(name).eqNullSafe(before(name)) for name in ("at", "position", "committed", "log_end")
    ]
    return {
        # A log end goes back only where the topic is another one, or its log was cut.
        "produced": F.when(near & (grown >= 0), grown),
        "consumed": F.when(advanced >= 0, advanced).when(advanced < 0, 0),
        "rewound": F.when(advanced < 0, -advanced).when(advanced >= 0, 0),
        "elapsed_ms": F.when(near, elapsed),
        "repeated": same[0] & same[1] & same[2] & same[3],
    }
