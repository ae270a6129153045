"""The catalogue of gold tables: docs/tables.md is made from it."""

from pyspark.sql.types import ArrayType, StructField, StructType

from warren_archiver.lake.table import DAY, RATIO, SMALL, TEXT, TIME, WHOLE, Field, Table

_GROUP = (
    Field("cluster", TEXT, "The cluster's name"),
    Field("group", TEXT, "The consumer group"),
)
_SKETCH = ArrayType(StructType([StructField("bucket", SMALL), StructField("count", WHOLE)]))
_HOW = (
    "how often values of about each size occurred; sketches of any hours add up, and percentiles "
    "of that are off by at most 1 % (analytics.md)"
)


def _by(unit: str, noun: str, summary: str, by: tuple[Field, ...], *fields: Field) -> Table:
    """`unit`: hour or day."""
    return Table(
        f"{noun}_{unit}s",
        f"By the {unit}: {summary}",
        (*(field.name for field in by), unit),
        (
            *by,
            Field(unit, TIME, "Its beginning"),
            *fields,
            Field("date", DAY, f"UTC day of `{unit}`"),
        ),
    )


STATUS_HOURS = _by(
    "hour",
    "status",
    "how long a group had which status, and how far it was behind. A status holds from its "
    "evaluation until the next one, at most three heartbeats (`collector.heartbeat`); the rest of "
    "the time nobody has judged.",
    _GROUP,
    Field("evaluations", WHOLE, "How many there were"),
    Field("ok_ms", WHOLE, "Milliseconds OK"),
    Field("warn_ms", WHOLE, "Milliseconds WARN"),
    Field("err_ms", WHOLE, "Milliseconds ERR"),
    *(
        Field(f"lag_p{share}", WHOLE, f"{share}th percentile of total lag, exact", null="unknown")
        for share in (50, 95, 99)
    ),
    Field("lag_max", WHOLE, "Greatest total lag", null="unknown"),
    Field("lag_sketch", _SKETCH, f"Of total lag: {_HOW}", null="unknown"),
)

RATE_HOURS = _by(
    "hour",
    "rate",
    "what was produced to a group's topics and what it consumed, from the minutes in which it was "
    "observed.",
    _GROUP,
    Field("minutes", WHOLE, "In which it was observed"),
    Field("produced_minutes", WHOLE, "Of these, in which it is known what was produced"),
    Field("consumed_minutes", WHOLE, "The same, consumed"),
    Field("produced", WHOLE, "Records", null="unknown"),
    Field("consumed", WHOLE, "Records", null="unknown"),
    Field("rewound", WHOLE, "Records that it went back over", null="unknown"),
    Field(
        "produce_rate",
        RATIO,
        "Records a second, on average of the minutes that are known",
        null="unknown",
    ),
    Field("consume_rate", RATIO, "The same, consumed", null="unknown"),
    Field("produce_peak", RATIO, "Of the busiest minute, records a second", null="unknown"),
    Field("consume_peak", RATIO, "The same, consumed", null="unknown"),
    Field(
        "busiest_hour_rate",
        RATIO,
        "Produced in the busiest hour, records a second, of hours of which 30 min are known",
        null="without such an hour",
    ),
    Field("behind_minutes", WHOLE, "That began with as much left as was consumed in them"),
    Field(
        "pace_behind",
        RATIO,
        "Consumed a second over five minutes in a row, behind all the time: the best",
        null="when it was not behind for so long",
    ),
    Field("lag_end", WHOLE, "At its end", null="unknown"),
    Field("lag_max", WHOLE, "Greatest of its minutes' ends", null="unknown"),
    Field("partitions", WHOLE, "That were observed, most"),
)

LATENESS_HOURS = _by(
    "hour",
    "lateness",
    "how late a group was (its latest topic), as measured by the freshness service.",
    _GROUP,
    Field("minutes", WHOLE, "In which it was measured"),
    Field("known_minutes", WHOLE, "In which something was known"),
    *(
        Field(
            f"late_p{share}_ms",
            WHOLE,
            f"{share}th percentile of the minutes' lateness, exact",
            null="unknown",
        )
        for share in (50, 95, 99)
    ),
    Field("late_max_ms", WHOLE, "Greatest lateness that was measured", null="unknown"),
    Field(
        "late_sketch",
        _SKETCH,
        f"Of the minutes' lateness, milliseconds: {_HOW}",
        null="unknown",
    ),
    Field(
        "time_to_loss_ms",
        WHOLE,
        "Least time until retention may delete something",
        null="unknown, or never",
    ),
    Field("time_to_loss_end_ms", WHOLE, "The last one that was known", null="when none was"),
    Field("lost_records", WHOLE, "Lost at most at a time, as it was told", null="when too many"),
)

_LIMIT = (
    *_GROUP,
    Field("objective", TEXT, "The objective's name"),
    Field("limit", TEXT, "max_freshness, max_lag, min_produce_rate or min_time_to_loss"),
)
OBJECTIVE_DAYS = _by(
    "day",
    "objective",
    "in how many minutes a group kept a limit of an objective, by the archiver's settings. A "
    "minute of which nothing is known counts as kept.",
    _LIMIT,
    Field("wanted", RATIO, "What was asked for: milliseconds, records, or records a second"),
    Field("target", RATIO, "Share of the time that was asked for", null="for none"),
    Field("minutes", WHOLE, "In which the group was observed or measured"),
    Field("broken", WHOLE, "In which it did not keep the limit"),
    Field("attainment", RATIO, "Share in which it did"),
    Field("burn_rate", RATIO, "Broken, in times of what the target allows", null="without one"),
)

ERROR_BUDGETS = Table(
    "error_budgets",
    "What was left, at the end of a day, of what a target allows in 30 days.",
    (*(field.name for field in _LIMIT), "day"),
    (
        *_LIMIT,
        Field("day", TIME, "Its beginning"),
        Field("target", RATIO, "Share of the time that was asked for"),
        Field("minutes_30d", WHOLE, "In which the group was observed, in the 30 days up to it"),
        Field("broken_30d", WHOLE, "In which it did not keep the limit"),
        Field("attainment_30d", RATIO, "Share in which it did"),
        Field("allowed_minutes", RATIO, "That it might be broken in"),
        Field("budget_left", RATIO, "Share of these that is left; negative: overspent"),
        Field("date", DAY, "UTC day of `day`"),
    ),
)

CAPACITY = Table(
    "capacity",
    "Whether a group will keep up: the best rate that it has shown while it was behind against the "
    "trend of each day's busiest hour, from the 28 days up to it. That day counts once it was "
    "observed for as long as the others, but for a quarter. The trend is the median of the "
    "slopes between all pairs of days (Theil, Sen), its interval holds 90 %.",
    ("cluster", "group", "day"),
    (
        *_GROUP,
        Field("day", TIME, "Its beginning"),
        Field(
            "days", WHOLE, "On which it was observed", null="below three, which are no trend yet"
        ),
        Field(
            "capacity", RATIO, "Records a second, consumed for 5 min while behind", null="unknown"
        ),
        Field(
            "consume_peak_max", RATIO, "Consumed in its best minute, behind or not", null="unknown"
        ),
        Field(
            "busiest_hour_rate_max",
            RATIO,
            "Produced in the busiest hour, records a second",
            null="without such an hour",
        ),
        Field("produce_peak_max", RATIO, "Produced in the busiest minute", null="unknown"),
        Field(
            "level",
            RATIO,
            "Produced in the day's busiest hour, by the trend",
            null="without a trend",
        ),
        Field("slope", RATIO, "By how much that grows each day", null="without a trend"),
        Field("slope_low", RATIO, "Its interval's lower end", null="without a trend"),
        Field("slope_high", RATIO, "Its interval's upper end", null="without a trend"),
        Field(
            "crosses_in_days",
            RATIO,
            "Until the trend reaches the capacity; 0: it has",
            null="when not in ten years, or unknown",
        ),
        Field("earliest_in_days", RATIO, "The same with the upper end", null="likewise"),
        Field("latest_in_days", RATIO, "The same with the lower end", null="likewise"),
        Field("crosses_on", DAY, "The day of that", null="likewise"),
        Field("earliest_on", DAY, "The earliest", null="likewise"),
        Field("latest_on", DAY, "The latest", null="when perhaps never"),
        Field(
            "days_until_loss",
            RATIO,
            "Until retention deletes something, if what is left shrinks on as on that day",
            null="when it does not shrink, or that is unknown",
        ),
        Field("date", DAY, "UTC day of `day`"),
    ),
)

PROGRESS = Table(
    "gold_progress",
    "Internal: up to when gold is made of tables of silver. Hours that ended by then are whole.",
    ("source",),
    (
        Field("source", TEXT, "The table"),
        Field("until", TIME, "Up to when it had all of its rows"),
        Field("date", DAY, "Always the same"),
    ),
)

TABLES: tuple[Table, ...] = (STATUS_HOURS, RATE_HOURS, LATENESS_HOURS, OBJECTIVE_DAYS, PROGRESS)
VIEWS: tuple[Table, ...] = (ERROR_BUDGETS, CAPACITY)
"""Made by their SQL when they are read."""
VIEWED = {
    ERROR_BUDGETS.name: (OBJECTIVE_DAYS,),
    CAPACITY.name: (RATE_HOURS, LATENESS_HOURS),
}
"""Of what views are made."""
