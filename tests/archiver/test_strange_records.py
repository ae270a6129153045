"""Records that other versions and other clocks write, through a real broker: archived as they are,
and no reader of the lake stumbles over them."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from pathlib import Path

import pytest
from support.archive_events import key, lag_event, offset_event, sample
from support.archive_lab import Archive, events_between
from support.few_tables import OF_OFFSETS, only_silver
from support.other_readers import assert_others_find_the_same
from warren.clock import SystemClock
from warren.contracts import OffsetEvent
from warren.contracts.topics import LAG, LAG_STATUS, OFFSETS, Topic
from warren.history.lake_tables import LakeTables
from warren.history.reader_options import reader_options
from warren_archiver.lake.contract_view import accepted
from warren_archiver.report.make import report
from warren_archiver.silver.catalogue import STATUS_INTERVALS
from warren_archiver.streaming.archive import archive

pytestmark = pytest.mark.timeout(1800)
YEAR_99999_MS = 3_093_527_980_800_000
AHEAD_MS = 50 * 60_000
"""A broker takes no record that is dated more than an hour ahead."""


class NewerOffsetEvent(OffsetEvent):
    """As a version to come may have it."""

    mood: str | None = None


def _archive(lab: Archive, topics: list[Topic], **changes: object) -> None:
    settings, clock = lab.changed(**changes), SystemClock()
    archive(lab.spark, settings, threading.Event(), once=True, clock=clock, topics=topics)


def test_a_field_that_is_not_known_yet_is_kept_for_the_version_that_knows_it(
    lab: Archive,
) -> None:
    newer = json.dumps(json.loads(offset_event("g", 1).to_bytes()) | {"mood": "well"}, indent=1)
    lab.send([*events_between(0, 1), newer.encode()])
    lab.once()
    assert lab.values() == [*events_between(0, 1), newer.encode()]
    events = lab.lake.read(lab.spark, lab.lake.events)
    assert events is not None
    known = accepted(events, dataclasses.replace(OFFSETS, event=NewerOffsetEvent))
    moods = known.orderBy("kafka_offset").select("group", "position", "mood").collect()
    assert [tuple(row) for row in moods] == [("g", 0, None), ("g", 1, "well")]
    older = accepted(events, OFFSETS).orderBy("kafka_offset").collect()
    assert [row["position"] for row in older] == [0, 1]


def test_what_is_dated_in_the_year_99999_is_archived_and_every_reader_opens_the_tables(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_silver(monkeypatch, *OF_OFFSETS, STATUS_INTERVALS)
    far = sample(LAG_STATUS.event, full=True) | {"time": "99999-01-01T00:00:00Z"}
    near = sample(LAG_STATUS.event, full=True) | {"time": "9999-12-30T23:59:59.999Z"}
    late = offset_event("g", 1).model_copy(update={"observed_at": YEAR_99999_MS})
    lab.send([*events_between(0, 1), late.to_bytes()])
    lab.topic = LAG_STATUS
    lab.create(LAG_STATUS)
    lab.send([json.dumps(event).encode() for event in (far, near)])
    _archive(lab, [OFFSETS, LAG_STATUS], silver_interval=600)
    expected = {
        "bronze/events": 4,
        "silver/quarantine": 1,
        "silver/status_intervals": 1,
        "silver/evaluations": 1,
        "silver/positions": 4,
    }
    lake = Path(lab.settings.archiver.path)
    rows = {name: assert_others_find_the_same(lab.spark, str(lake / name)) for name in expected}
    assert rows == expected


def test_a_record_that_is_dated_ahead_leaves_the_default_report_where_it_is(lab: Archive) -> None:
    lab.topic = LAG
    now = round(time.time() * 1000)
    for ago in (120_000, 60_000, 0):
        lab.send([lag_event("g", now - ago, "OK", 3).to_bytes()])
    ahead = lag_event("ahead", now + AHEAD_MS, "OK", 4).to_bytes()
    lab.producer.produce(lab.name, ahead, key("ahead"), 0, timestamp=now + AHEAD_MS)
    assert lab.producer.flush(60) == 0
    lab.once()
    assert max(row["timestamp"].timestamp() for row in lab.rows()) * 1000 > now + AHEAD_MS - 1000
    archiver = lab.settings.archiver
    with LakeTables(archiver.path, reader_options(archiver)) as tables:
        made = report(tables, lab.settings, 600_000, clock=SystemClock())
    assert made.period.end_ms <= round(time.time() * 1000)
    assert [group.group for group in made.groups] == ["g"]
