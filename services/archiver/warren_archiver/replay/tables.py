"""The tables of replays: what each run has found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from pyspark.sql import SparkSession
from warren.clock import Clock

from warren_archiver.lake.lake import Lake, create
from warren_archiver.replay.incidents import Incident, Pair
from warren_archiver.replay.replay import Replay
from warren_archiver.silver.table import DAY, TEXT, TIME, WHOLE, Field, Table

_RUN = Field("run", TEXT, "The run")
_DATE = Field("date", DAY, "UTC day of the run")

RUNS = Table(
    "runs",
    "Replays that were made.",
    ("run",),
    (
        _RUN,
        Field("made_at", TIME, "When"),
        Field("from", TIME, "Beginning of the period"),
        Field("to", TIME, "Its end"),
        Field("changes", TEXT, "Settings that were other ones, as JSON"),
        Field("events", WHOLE, "Offset events that were judged"),
        Field("published", WHOLE, "Incidents that were told"),
        Field("replayed", WHOLE, "Incidents that would have been"),
        Field("published_flaps", WHOLE, "Of those told, over within 5 min"),
        Field("replayed_flaps", WHOLE, "Likewise"),
        _DATE,
    ),
)

REPLAYED_INCIDENTS = Table(
    "incidents",
    "Incidents of a run: as published, and as they would have been.",
    ("run", "cluster", "group", "kind", "incident_id", "published_incident_id"),
    (
        _RUN,
        Field("cluster", TEXT, "The cluster's name"),
        Field("group", TEXT, "The consumer group"),
        Field("kind", TEXT, "raised, missed, sooner, later or same"),
        Field("incident_id", TEXT, "Its id; null when missed"),
        Field("opened_at", TIME, "When it would have begun; null when missed"),
        Field("closed_at", TIME, "When it would have ended; null while it lasts, or when missed"),
        Field("worst", TEXT, "WARN or ERR; null when missed"),
        Field("reason", TEXT, "The first reason; null when missed"),
        Field("published_incident_id", TEXT, "The id that was told; null when raised"),
        Field("published_opened_at", TIME, "When that began; null when raised"),
        Field("published_closed_at", TIME, "When it ended; null while it lasts, or when raised"),
        Field("sooner_ms", WHOLE, "How much sooner, negative for later; 0 for raised and missed"),
        _DATE,
    ),
)
TABLES = (RUNS, REPLAYED_INCIDENTS)


def write(
    spark: SparkSession, lake: Lake, replay: Replay, changes: Mapping[str, object], clock: Clock
) -> str:
    """Adds a run to the tables; its name."""
    now = _moment(clock.now_ms())
    assert now is not None
    run = now.strftime("%Y%m%dT%H%M%S.%fZ")
    flaps, replayed_flaps = replay.flaps
    period = replay.period
    told = (len(replay.published), len(replay.replayed), flaps, replayed_flaps)
    row = (run, now, _moment(period.start_ms), _moment(period.end_ms), json.dumps(changes))
    _append(spark, lake, RUNS, [(*row, replay.events, *told, now.date())])
    rows = [(run, *_pair(pair), now.date()) for pair in replay.pairs]
    _append(spark, lake, REPLAYED_INCIDENTS, rows)
    return run


def _append(spark: SparkSession, lake: Lake, table: Table, rows: list[tuple[object, ...]]) -> None:
    path = lake.replay(table.name)
    create(spark, path, table.schema, None, "date")
    if rows:
        frame = spark.createDataFrame(rows, table.schema).coalesce(1)
        frame.write.format("delta").mode("append").save(path)


def _pair(pair: Pair) -> tuple[object, ...]:
    published, replayed = _times(pair.published), _times(pair.replayed)
    one = pair.replayed
    said = (one.worst, one.reason) if one is not None else (None, None)
    return (*pair.group, pair.kind, *replayed, *said, *published, pair.sooner_ms)


def _times(incident: Incident | None) -> tuple[object, ...]:
    if incident is None:
        return None, None, None
    return incident.incident_id, _moment(incident.opened_at), _moment(incident.closed_at)


def _moment(ms: int | None) -> datetime | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)
