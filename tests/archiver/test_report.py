"""The report's figures against a recount in plain Python."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.archive_events import NOW, Record, event_frame, key, lag_event
from support.report_recount import LagRecord, recount
from warren.clock import ManualClock
from warren.settings import Settings
from warren_archiver.errors import NothingArchived
from warren_archiver.lake.lake import Lake
from warren_archiver.report.group_report import CLOCK_SKEW_MS, SETTLE_MS, report

HEARTBEAT = 10
MAX_GAP = 3 * HEARTBEAT * 1000
MINUTE = 60_000


AFTERWARDS = ManualClock(NOW + 10 * MINUTE)


def _settings(path: Path) -> Settings:
    return Settings.model_validate(
        {"archiver": {"path": str(path)}, "collector": {"heartbeat": HEARTBEAT}}
    )


def _archive(spark: SparkSession, path: Path, records: Sequence[Record]) -> Settings:
    lake = Lake.at(str(path))
    lake.ensure(spark)
    event_frame(spark, records).coalesce(1).write.format("delta").mode("append").save(lake.events)
    return _settings(path)


def _story(seed: int) -> list[Record]:
    """Groups with pauses, duplicates, tombstones, and evaluations that arrive out of order."""
    chance = random.Random(seed)
    records = []
    for number in range(12):
        group, at = f"group|{number}", NOW - 14 * MINUTE
        while at < NOW:
            at += chance.choice([1_000, 5_000, 5_000, 9_999, MAX_GAP - 1, MAX_GAP + 5_000])
            lag = chance.randrange(1000)
            event = lag_event(
                group, at, chance.choice(["OK", "WARN", "ERR", "NOTFOUND"]), lag, position=at
            )
            value = None if chance.random() < 0.05 else event.to_bytes()
            published = at if value is None else at + chance.randrange(400)
            copies = 2 if chance.random() < 0.1 else 1
            records += [Record(key(group), value, timestamp_ms=published)] * copies
    chance.shuffle(records)
    return records


def _plain(records: Sequence[Record]) -> list[LagRecord]:
    return [LagRecord(r.key or b"", r.value, r.timestamp_ms) for r in records]


def test_the_figures_are_those_of_a_recount(spark: SparkSession, tmp_path: Path) -> None:
    records = _story(seed=4)
    settings = _archive(spark, tmp_path, records)
    for until, length in [(NOW, 10 * MINUTE), (NOW - 3 * MINUTE - 7, 3 * MINUTE)]:
        made = report(spark, settings, length, until, clock=AFTERWARDS)
        expected = recount(_plain(records), until - length, until, MAX_GAP)
        assert {(g.cluster, g.group): dataclasses.asdict(g) for g in made.groups} == expected
        assert made.max_gap_ms == MAX_GAP
        troubles = [(-g.held_ms["ERR"], -g.held_ms["WARN"]) for g in made.groups]
        assert troubles == sorted(troubles)


def test_the_period_ends_shortly_before_what_is_archived(
    spark: SparkSession, tmp_path: Path
) -> None:
    events = [lag_event("billing", NOW + s * 1000, "OK", s) for s in range(100)]
    records = [
        Record(key("billing"), event.to_bytes(), timestamp_ms=event.evaluated_at + 50)
        for event in events
    ]
    made = report(spark, _archive(spark, tmp_path, records), MINUTE, clock=AFTERWARDS)
    assert made.archived_until_ms == NOW + 99_050
    assert made.period.end_ms == NOW + 99_050 - SETTLE_MS
    (group,) = made.groups
    assert (group.status, group.held_ms["OK"], group.unknown_ms) == ("OK", MINUTE, 0)
    assert (group.evaluations, group.lag_max) == (60, 94)


def test_a_fast_clock_does_not_hide_an_evaluation(spark: SparkSession, tmp_path: Path) -> None:
    """Dated half a day after it was published, so that its row is in an earlier day."""
    ahead = CLOCK_SKEW_MS // 2
    record = Record(key("g"), lag_event("g", NOW, "ERR", 1).to_bytes(), timestamp_ms=NOW - ahead)
    made = report(spark, _archive(spark, tmp_path, [record]), MINUTE, NOW + 1000, clock=AFTERWARDS)
    assert [group.held_ms["ERR"] for group in made.groups] == [1000]


def test_a_record_of_the_future_does_not_move_the_period(
    spark: SparkSession, tmp_path: Path
) -> None:
    records = [
        Record(key(group), lag_event(group, at, "OK", 1).to_bytes(), timestamp_ms=at)
        for group, at in (("now", NOW), ("now", NOW + 10_000), ("ahead", NOW + 50 * MINUTE))
    ]
    made = report(spark, _archive(spark, tmp_path, records), MINUTE, clock=AFTERWARDS)
    assert made.archived_until_ms == NOW + 10_000
    assert [group.group for group in made.groups] == ["now"]


def test_nothing_archived_says_what_to_do(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NothingArchived, match="warren archive run"):
        report(spark, _settings(tmp_path / "no table"), MINUTE, clock=AFTERWARDS)
    with pytest.raises(NothingArchived):
        report(spark, _archive(spark, tmp_path, []), MINUTE, clock=AFTERWARDS)
