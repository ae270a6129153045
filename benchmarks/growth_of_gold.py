"""What one day's incidents cost in gold after 1, 10 and 60 days of history.

Each history is a lake of its own: 20 groups that are observed for four hours a day, ten incidents a
day, some of them over the next day, three deliveries of each. Gold is noted as made up to the last
day; then more of that day comes, four times, and a pass takes it in: hours and days of incidents
and of alerts. Prints one JSON line: the processors' seconds of Spark's JVM for the cheapest of
those passes, by days of history.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from archive import jvm
from pyspark.sql import SparkSession
from support.measuring import jars_of, usage
from warren.clock import ManualClock
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren_archiver.gold import catalogue as gold
from warren_archiver.gold import gold as gold_module
from warren_archiver.gold.gold import DEFINED, DEFINITIONS, Gold
from warren_archiver.gold.plan import STEPS
from warren_archiver.lake.events import EARLIEST
from warren_archiver.lake.lake import Lake, create, newest_version
from warren_archiver.lake.table import Field, Table
from warren_archiver.session import open_session
from warren_archiver.silver import catalogue as silver
from warren_local.jar_sets import SPARK_JARS

PASSES = 4
NOTHING = {
    "string": "''",
    "bigint": "0",
    "int": "0",
    "double": "0D",
    "boolean": "false",
    "date": "current_date()",
    "timestamp": "now()",
}
LAST = datetime(2026, 11, 21, tzinfo=UTC)
OWN = (*gold.INCIDENT.values(), *gold.ALERT.values())
GROUP = "'prod' AS cluster, concat('g', id % 20) AS `group`"
OPENED = "timestamp_micros(day + (id + 1) * 7200000000)"
ROWS: dict[Table, tuple[int, str]] = {
    silver.GROUP_MINUTES: (
        4800,
        "timestamp_micros(day + (id DIV 20) * 60000000) AS minute, "
        "10 AS produced, 10 AS consumed, 0 AS lag, to_date(timestamp_micros(day)) AS date",
    ),
    silver.INCIDENTS: (
        10,
        f"concat(day, '-', id) AS incident_id, {OPENED} AS opened_at, 'ERR' AS worst, "
        "timestamp_micros(day + (id + 1) * 10800000000) AS closed_at, id * 3600000 AS duration_ms, "
        f"2 AS deliveries, {OPENED} AS told_at, to_date({OPENED}) AS date",
    ),
    silver.NOTIFICATIONS: (
        30,
        "concat(day, '-', id % 10) AS incident_id, concat(day, '-', id) AS delivery_id, "
        "1 AS attempt, 'delivered' AS outcome, 'all' AS route, 'mail' AS channel, "
        "timestamp_micros(day + (id % 10 + 1) * 7200000000 + id) AS at, 7 AS duration_ms, "
        "to_date(timestamp_micros(day + (id % 10 + 1) * 7200000000)) AS date",
    ),
}
"""Of each table: how many a day, and their columns from `id` and `day`, its Unix microseconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, nargs="+", default=[1, 10, 60])
    arguments = parser.parse_args()
    configure(LogSettings(level="error"))  # the only line on standard output is the result
    steps = [step for step in STEPS if step.table in OWN]
    with tempfile.TemporaryDirectory() as directory, patch.object(gold_module, "STEPS", steps):
        settings = Settings.model_validate(
            {"archiver": {"path": directory, "jars_dir": str(jars_of(SPARK_JARS))}}
        )
        spark = open_session(settings.archiver, "warren-bench-growth-of-gold")
        found = {}
        for days in arguments.days:
            lake = Lake.at(f"{directory}/{days}")
            _make_history(spark, lake, days)
            taken = list(_passes(spark, settings, lake))
            print(json.dumps({"days": days, "cpu_s": taken}), file=sys.stderr, flush=True)
            found[days] = min(taken)
        spark.stop()
    print(json.dumps({"benchmark": "growth_of_gold", "cpu_s_of_a_pass": found}))


def _make_history(spark: SparkSession, lake: Lake, days: int) -> None:
    """And that gold has taken it in."""
    for table in ROWS:
        create(spark, lake.silver(table.name), table.schema, {}, "date")
        _append(spark, lake, table, -days, -1)
    for table in (*OWN, gold.PROGRESS):
        create(spark, lake.gold(table.name), table.schema, {}, "date")
    versions = {table.name: newest_version(spark, lake.silver(table.name)) for table in ROWS}
    rows = [
        (name, version, None, EARLIEST.date())
        for name, version in (versions | {DEFINED: DEFINITIONS}).items()
    ]
    noted = spark.createDataFrame(rows, gold.PROGRESS.schema)
    noted.write.format("delta").mode("append").save(lake.gold(gold.PROGRESS.name))


def _nothing(field: Field) -> str:
    """In SQL; nothing of its type where null may not be."""
    if field.null is not None:
        return "NULL"
    return NOTHING.get(field.type.simpleString(), "array()")


def _passes(spark: SparkSession, settings: Settings, lake: Lake) -> Iterator[float]:
    clock = ManualClock(round((LAST + timedelta(hours=23)).timestamp() * 1000))
    for number in range(PASSES):
        for table in ROWS:
            _append(spark, lake, table, 0, 0, number)
        before = usage(jvm()).cpu_s
        if not all(Gold(spark, lake, settings, clock).catch_up().values()):
            sys.exit("a day with incidents has rows in all of these tables")
        yield round(usage(jvm()).cpu_s - before, 1)


def _append(
    spark: SparkSession, lake: Lake, table: Table, first: int, last: int, number: int = 0
) -> None:
    """Rows of days, counted from the last one; each `number` has its own."""
    begin, end = (
        round((LAST + timedelta(days=day, minutes=number)).timestamp()) * 1_000_000
        for day in (first, last)
    )
    count, columns = ROWS[table]
    days = f"explode(sequence({begin}, {end}, 86400000000)) AS day"
    each = spark.range(count).selectExpr("*", days)
    rows = spark.sql(f"SELECT {GROUP}, {columns} FROM {{each}}", each=each)
    missing = [field for field in table.fields if field.name not in rows.columns]
    every = rows.selectExpr("*", *(f"{_nothing(field)} AS `{field.name}`" for field in missing))
    added = table.conform(every).coalesce(1)
    added.write.format("delta").mode("append").save(lake.silver(table.name))


if __name__ == "__main__":
    main()
