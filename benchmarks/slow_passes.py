"""Whether gold has what it says it has, though silver goes on while gold is made.

Offset events of some groups, a minute apart, are added to bronze all the time. The query of silver
takes them in, and gold is made beside it, pass after pass, in one JVM. Of gold it is the hours and
the days of statuses alone, but slowly: between the two a pass waits until silver has gone on.

After each pass the hours that reports take from gold as whole are recounted: evaluations that
silver has of them, and those that gold has. Prints one JSON line; exit 1 where gold has fewer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from archive import event
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from support.measuring import jars_of
from warren.clock import SystemClock
from warren.contracts import group_key
from warren.contracts.topics import OFFSETS
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren_archiver.gold import gold as gold_module
from warren_archiver.gold.catalogue import PROGRESS, STATUS
from warren_archiver.gold.gold import Gold
from warren_archiver.gold.gold import ensure as ensure_gold
from warren_archiver.gold.plan import STEPS
from warren_archiver.gold.units import Unit
from warren_archiver.lake.events import EVENTS_SCHEMA
from warren_archiver.lake.lake import Lake, newest_version
from warren_archiver.session import open_session
from warren_archiver.silver.catalogue import EVALUATIONS
from warren_archiver.streaming.silver_query import SilverQuery
from warren_local.jar_sets import SPARK_JARS

GROUPS = 20
MINUTES_AT_ONCE = 20
"""Of the groups' time, added to bronze in one commit."""
BEGAN_AGO_MS = 10 * 86_400_000
"""Events are dated from then on: long enough for all that is added to lie in the past."""
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=10)
    arguments = parser.parse_args()
    configure(LogSettings(level="error"))
    jars = jars_of(SPARK_JARS)
    with tempfile.TemporaryDirectory() as directory:
        archiver = {"path": f"{directory}/lake", "jars_dir": str(jars), "silver_interval": 1}
        settings = Settings.model_validate({"archiver": archiver})
        spark = open_session(settings.archiver, "warren-bench-passes")
        steps, tables = _slow_steps(spark, settings)
        with patch.multiple(gold_module, STEPS=steps, TABLES=tables):
            passes = _passes(spark, settings, arguments.passes)
        spark.stop()
    missing = [each["in_silver"] - each["in_gold"] for each in passes]
    figures = {
        "benchmark": "slow_passes",
        "passes": passes,
        "passes_amid_which_silver_went_on": sum(each["silver_went_on"] for each in passes),
        "evaluations_missing": sum(missing),
    }
    print(json.dumps(figures))
    sys.exit(any(missing))


def _slow_steps(spark: SparkSession, settings: Settings) -> tuple[Any, Any]:
    """And the tables that they make."""
    path = Lake.at(settings.archiver.path).silver(EVALUATIONS.name)
    hours, days = (step for step in STEPS if step.table in STATUS.values())

    def slow(settings: Settings, rows: DataFrame) -> DataFrame:
        before = newest_version(spark, path)
        while newest_version(spark, path) == before:
            time.sleep(0.2)
        return days.make(settings, rows)

    return (hours, replace(days, make=slow)), (hours.table, days.table, PROGRESS)


def _passes(spark: SparkSession, settings: Settings, count: int) -> list[dict[str, Any]]:
    lake, clock = Lake.at(settings.archiver.path), SystemClock()
    lake.ensure(spark)
    added, stop = Added(spark, lake, settings), threading.Event()
    silver = SilverQuery(spark, lake, settings, [OFFSETS], clock)
    silver.find_checkpoint()
    added.add()
    silver.take(stop)
    at_rest = threading.Lock()
    goes_on = threading.Thread(target=_go_on, args=(silver, added, at_rest, stop))
    goes_on.start()
    found = []
    try:
        ensure_gold(spark, lake)
        gold = Gold(spark, lake, settings, clock)
        for number in range(count):
            with at_rest:  # as the archiver does: gold begins there
                pass
            before, started = _evaluations(spark, lake, None), time.perf_counter()
            gold.catch_up()
            seconds = round(time.perf_counter() - started, 1)
            went_on = _evaluations(spark, lake, None) > before
            found.append({"seconds": seconds, "silver_went_on": went_on} | _recount(spark, lake))
            print(f"pass {number + 1}: {found[-1]}", file=sys.stderr)
    finally:
        stop.set()
        goes_on.join()
    return found


def _go_on(
    silver: SilverQuery, added: Added, at_rest: threading.Lock, stop: threading.Event
) -> None:
    while not stop.wait(0.2):
        added.add()
        with at_rest:
            silver.take(stop)


class Added:
    """To bronze, as the archiver's own query does it."""

    def __init__(self, spark: SparkSession, lake: Lake, settings: Settings) -> None:
        self._spark = spark
        self._lake = lake
        self._topic = OFFSETS.full_name(settings.home.topic_prefix)
        self._began = SystemClock().now_ms() - BEGAN_AGO_MS
        self._minutes = 0

    def add(self) -> None:
        rows = [
            self._row(minute, number)
            for minute in range(self._minutes, self._minutes + MINUTES_AT_ONCE)
            for number in range(GROUPS)
        ]
        self._minutes += MINUTES_AT_ONCE
        frame = self._spark.createDataFrame(rows, EVENTS_SCHEMA).coalesce(1)
        frame.write.format("delta").mode("append").save(self._lake.events)

    def _row(self, minute: int, number: int) -> tuple[Any, ...]:
        group, at = f"group-{number}", self._began + minute * 60_000
        value = event(group, minute, at, 2).to_bytes()
        moment, offset = datetime.fromtimestamp(at / 1000, UTC), minute * GROUPS + number
        key = group_key("bench", group)
        return self._topic, TOPIC_ID, 0, offset, moment, key, value, None, moment.date()


def _recount(spark: SparkSession, lake: Lake) -> dict[str, Any]:
    """Of hours that ended by the time until which gold says that it is whole."""
    progress = spark.read.format("delta").load(lake.gold(PROGRESS.name))
    until = progress.agg(F.date_trunc("hour", F.min("until")).alias("until")).collect()[0]["until"]
    hours = spark.read.format("delta").load(lake.gold(STATUS[Unit.HOUR].name))
    whole = hours.where(F.col("hour") < F.lit(until)).agg(F.sum("evaluations")).collect()[0][0]
    return {
        "whole_until": str(until),
        "in_silver": _evaluations(spark, lake, until),
        "in_gold": whole or 0,
    }


def _evaluations(spark: SparkSession, lake: Lake, until: datetime | None) -> int:
    """Before that time, or all."""
    rows = spark.read.format("delta").load(lake.silver(EVALUATIONS.name))
    return (rows if until is None else rows.where(F.col("at") < F.lit(until))).count()


if __name__ == "__main__":
    main()
