"""What a replay has found, added to the tables of replays."""

import json
from collections.abc import Mapping
from datetime import date, datetime

from pyspark.sql import SparkSession
from warren.clock import Clock
from warren.words import moment

from warren_archiver.lake.lake import Lake, ensure
from warren_archiver.lake.table import Table
from warren_archiver.replay.incidents import Incident, Pair
from warren_archiver.replay.replay import Replay
from warren_archiver.replay_catalogue import REPLAYED_INCIDENTS, RUNS


def write(
    spark: SparkSession, lake: Lake, replay: Replay, changes: Mapping[str, object], clock: Clock
) -> str:
    """Adds a run to the tables; its name."""
    now = moment(clock.now_ms())
    run = now.strftime("%Y%m%dT%H%M%S.%fZ")
    flaps, replayed_flaps = replay.flaps
    period = replay.period
    told = (len(replay.published), len(replay.replayed), flaps, replayed_flaps)
    row = (run, now, _moment(period.start_ms), _moment(period.end_ms), json.dumps(changes))
    _append(spark, lake, RUNS, [(*row, replay.events, *told, now.date())])
    _append(
        spark, lake, REPLAYED_INCIDENTS, [row_of(run, pair, now.date()) for pair in replay.pairs]
    )
    return run


def row_of(run: str, pair: Pair, day: date) -> tuple[object, ...]:
    """Of the incidents of a run."""
    published, replayed = _times(pair.published), _times(pair.replayed)
    one = pair.replayed
    said = (one.worst, one.reason) if one is not None else (None, None)
    return (run, *pair.group, pair.kind, *replayed, *said, *published, pair.sooner_ms, day)


def _append(spark: SparkSession, lake: Lake, table: Table, rows: list[tuple[object, ...]]) -> None:
    path = lake.replay(table.name)
    ensure(spark, path, table)
    if rows:
        frame = spark.createDataFrame(rows, table.schema).coalesce(1)
        frame.write.format("delta").mode("append").save(path)


def _times(incident: Incident | None) -> tuple[object, ...]:
    if incident is None:
        return None, None, None
    return incident.incident_id, _moment(incident.opened_at), _moment(incident.closed_at)


def _moment(ms: int | None) -> datetime | None:
    return None if ms is None else moment(ms)
