"""Silver has what the events of a history tell; others read it. One lake for all tests."""

import random
import shutil
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from support.archive_events import Record, event_frame
from support.other_readers import assert_is_stored
from support.silver_events import SILENCE, START, history
from support.silver_rows import MINUTE, at, frame
from warren.contracts import FRESHNESS_CHANGED, STATUS_CHANGED
from warren.contracts.topics import CATALOGUE
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.table import Table
from warren_archiver.silver import catalogue
from warren_archiver.silver import silver as silver_module
from warren_archiver.silver.incidents import incidents
from warren_archiver.silver.models import MODELS
from warren_archiver.silver.silver import Silver, in_parts, whole

pytestmark = [pytest.mark.timeout(1800), pytest.mark.contract]
# Evaluations have a way of their own, and tests of their own.
TABLES = [table for table in catalogue.TABLES if not table.name.startswith("evaluation")]
TOPICS = {topic.full_name("warren."): topic for topic in CATALOGUE}


@dataclass(frozen=True)
class Filled:
    """A lake with all records of the history."""

    path: Path
    stored: dict[str, list[Row]]


@pytest.fixture(scope="module")
def filled(spark: SparkSession, prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    path = shutil.copytree(prepared, tmp_path_factory.mktemp("silver") / "lake")
    records = history()
    late = random.Random(15).sample(records, len(records))
    Silver(spark, Lake.at(str(path)), TOPICS).take(event_frame(spark, late))
    return Filled(path, _stored(spark, path))


def _stored(spark: SparkSession, path: Path) -> dict[str, list[Row]]:
    read = spark.read.format("delta")
    return {table.name: read.load(f"{path}/silver/{table.name}").collect() for table in TABLES}


def _killed(_: DataFrame) -> DataFrame:
    raise PySparkException("killed")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_are_stored_once_as_others_read_them(filled: Filled, table: Table) -> None:
    stored = filled.stored[table.name]
    assert stored
    assert len({tuple(str(row[name]) for name in table.key) for row in stored}) == len(stored)
    assert_is_stored(filled.path / "silver" / table.name, table.schema, stored)


@pytest.mark.heavy
def test_batches_of_which_one_is_killed_give_what_all_events_at_once_give(
    filled: Filled, spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    """What was written before the kill is not written again."""
    records = history()
    late = random.Random(15).sample(records, len(records))
    half = len(late) // 2
    first, second = event_frame(spark, late[:half]), event_frame(spark, late[half - 5 :])
    tables = Silver(spark, lake, TOPICS)
    with pytest.MonkeyPatch.context() as patch:
        size = sum(len(record.value or b"") for record in late[:half])
        patch.setattr(silver_module, "in_parts", partial(in_parts, most_bytes=size * 2 // 3))
        tables.take(first)
    with pytest.MonkeyPatch.context() as patch:
        killed = [
            replace(model, make=_killed) if model.table is catalogue.GROUP_MINUTES else model
            for model in MODELS
        ]
        patch.setattr(silver_module, "MODELS", killed)
        with pytest.raises(PySparkException):
            tables.take(second)
    written = tables.take(second)
    assert (written["positions"], written["partition_minutes"]) == (0, 0)
    assert written["group_minutes"] > 0
    frames = whole(event_frame(spark, records), TOPICS)
    for table in TABLES:
        expected = frames[table.name].collect()
        assert sorted(map(repr, filled.stored[table.name])) == sorted(map(repr, expected))
        assert_is_stored(tmp_path / "silver" / table.name, table.schema, expected)


@pytest.mark.heavy
def test_a_batch_is_taken_in_parts_of_a_size(spark: SparkSession) -> None:
    """A group's events in their order; those of all partitions come on together."""
    records = [Record(b"k", b"x" * 100, "a", n % 2, offset=10 + n) for n in range(20)]
    records.append(Record(b"k", None, "b", offset=7))
    frame = event_frame(spark, records)
    (whole_batch,) = in_parts(frame)
    assert whole_batch.events is frame
    assert whole_batch.topics == {"a", "b"}
    parts = [
        sorted((row["topic"], row["offset"]) for row in part.events.collect())
        for part in in_parts(frame, most_bytes=700)
    ]
    assert [len(part) for part in parts] == [9, 6, 6]
    assert sorted(place for part in parts for place in part) == sorted(
        [("b", 7), *(("a", 10 + n) for n in range(20))]
    )
    assert max(o for t, o in parts[0] if t == "a") < min(o for t, o in parts[2] if t == "a")


def _of(filled: Filled, table: Table, **where: Any) -> list[Row]:
    found = [
        row
        for row in filled.stored[table.name]
        if all(row[name] == value for name, value in where.items())
    ]
    return sorted(found, key=repr)


def test_moves_of_a_position_are_told_unless_it_was_silent_for_long(filled: Filled) -> None:
    rows = _of(filled, catalogue.POSITIONS, group="billing", partition=0, repeated=False)
    rows.sort(key=lambda row: row["at"])
    assert [row["consumed"] for row in rows] == [None, *[10] * 12, 0, *[10] * 7, None, 10, 10]
    assert [row["rewound"] for row in rows] == [None, *[0] * 12, 45, *[0] * 7, None, 0, 0]
    assert [row["produced"] for row in rows][12:15] == [10, None, 10]
    assert SILENCE > 600_000
    never = _of(filled, catalogue.POSITIONS, group="billing", partition=1)[0]
    assert (never["committed"], never["lag"]) == (None, None)


def test_minutes_are_sums_of_what_was_observed_once(filled: Filled) -> None:
    moves = ("produced", "consumed", "rewound")
    positions = _of(filled, catalogue.POSITIONS)
    for table in (catalogue.PARTITION_MINUTES, catalogue.GROUP_MINUTES):
        minutes = _of(filled, table)
        for name in moves:
            assert sum(row[name] or 0 for row in minutes) == sum(
                row[name] or 0 for row in positions
            )
    observed = sum(row["observations"] for row in _of(filled, catalogue.PARTITION_MINUTES))
    assert observed == sum(not row["repeated"] for row in positions) < len(positions)


def test_a_topic_has_what_was_appended_between_two_minutes(filled: Filled) -> None:
    """Unless the log end was unknown at one of both."""
    rows = _of(filled, catalogue.TOPIC_MINUTES, topic="orders")
    rows.sort(key=lambda row: row["minute"])
    assert [row["produced"] for row in rows][:3] == [None, 21, 21]
    assert [row["partitions"] for row in rows][:3] == [2, 1, 2]


def test_how_late_a_group_was_is_told_of_each_minute(filled: Filled) -> None:
    rows = _of(filled, catalogue.LATENESS_MINUTES, group="billing")
    rows.sort(key=lambda row: row["minute"])
    assert [(row["late_ms"], row["late_max_ms"]) for row in rows] == [
        (10_000, 12_000),
        (7_000, 9_000),
        (4_000, 6_000),
        (1_000, 3_000),
    ]
    assert {(row["unknown_partitions"], row["produce_rate"]) for row in rows} == {(1, 2.5)}
    assert [row["lost_records"] for row in rows] == [2, 5, 8, 11]


def test_an_incident_is_one_row(filled: Filled) -> None:
    (row,) = _of(filled, catalogue.INCIDENTS, group="billing")
    assert row["opened_at"].timestamp() * 1000 == START
    assert (row["worst"], row["closed_by"], row["reason"]) == ("ERR", "OK", "no_commit")
    assert (row["changes"], row["deliveries"], row["failures"]) == (3, 2, 1)
    assert row["duration_ms"] == 360_000
    assert [tuple(told) for told in row["told"]] == [("all", "mail")]


def test_an_incident_is_told_with_others_of_its_group(filled: Filled) -> None:
    rows = {row["incident_id"]: row for row in _of(filled, catalogue.INCIDENTS, group="settlement")}
    told = rows[f"{STATUS_CHANGED}-settlement"]
    assert [tuple(each) for each in told["told"]] == [("all", "mail")]
    assert told["told_at"].timestamp() * 1000 == START + 2 * MINUTE + 500
    assert told["deliveries"] == 1


@pytest.mark.heavy
def test_an_end_that_is_told_again_is_no_later_end(spark: SparkSession) -> None:
    """Unless there was trouble in between; a clock that was set back has ended it as well."""
    place = {"kafka_topic_id": "t", "kafka_partition": 0}
    told = {
        "again": [(0, "ERR"), (10, "OK"), (120, "NOTFOUND")],
        "trouble": [(0, "ERR"), (10, "OK"), (20, "WARN"), (30, "OK"), (40, "OK")],
        "set back": [(0, "ERR"), (-5, "OK")],
        "lasts": [(0, "ERR")],
        "end alone": [(3, "OK")],
    }
    rows = [
        {"cluster": "prod", "group": "g", "incident_id": name, "status": status}
        | place
        | {"from": at(START + minute * MINUTE), "kafka_offset": number}
        | {"event_id": f"{name} {number}", "reason": "no_commit" if status != "OK" else None}
        for name, changes in told.items()
        for number, (minute, status) in enumerate(changes)
    ]
    intervals = frame(spark, catalogue.STATUS_INTERVALS, rows)
    found = incidents(intervals, frame(spark, catalogue.NOTIFICATIONS, [])).collect()
    ends = {
        row["incident_id"]: row["closed_at"]
        and (round((row["closed_at"].timestamp() * 1000 - START) / MINUTE), row["closed_by"])
        for row in found
    }
    assert ends == {
        "again": (10, "OK"),
        "trouble": (30, "OK"),
        "set back": (-5, "OK"),
        "lasts": None,
        "end alone": (3, "OK"),
    }


def test_statuses_hold_until_the_next_one(filled: Filled) -> None:
    rows = _of(filled, catalogue.STATUS_INTERVALS, group="billing")
    rows.sort(key=lambda row: row["from"])
    assert [row["status"] for row in rows] == ["WARN", "ERR", "OK"]
    assert [row["until"] for row in rows] == [rows[1]["from"], rows[2]["from"], None]


def test_a_status_has_its_cause_and_what_follows(filled: Filled) -> None:
    """A cause that is unknown is none."""
    rows = _of(filled, catalogue.STATUS_INTERVALS, group="billing")
    rows.sort(key=lambda row: row["from"])
    told = [tuple(row[name] for name in ("cause", "cause_sentence", "action")) for row in rows]
    nothing = (None, None, None)
    assert told == [nothing, ("stuck_record", "orders/0 stands at 600", "look at it"), nothing]
    assert [row["also"] and [each.asDict() for each in row["also"]] for row in rows] == [
        None,
        [{"name": "records_lost", "sentence": "9 are gone", "action": None}],
        None,
    ]
    (incident,) = _of(filled, catalogue.INCIDENTS, group="billing")
    assert incident["cause"] == "stuck_record"


def test_statuses_of_other_types_do_not_end_one(filled: Filled) -> None:
    rows = _of(filled, catalogue.STATUS_INTERVALS, group="settlement")
    minutes = {
        (row["type"], row["status"]): [
            at and (at.timestamp() * 1000 - START) / 60_000 for at in (row["from"], row["until"])
        ]
        for row in rows
    }
    assert minutes == {
        (FRESHNESS_CHANGED, "WARN"): [1, 4],
        (STATUS_CHANGED, "ERR"): [2, 3],
        (STATUS_CHANGED, "OK"): [3, None],
        (FRESHNESS_CHANGED, "OK"): [4, None],
    }


def test_members_that_joined_and_left_are_told(filled: Filled) -> None:
    rows = _of(filled, catalogue.MEMBERSHIP_CHANGES, group="billing")
    rows.sort(key=lambda row: row["at"])
    assert [(row["joined"], row["left"]) for row in rows] == [
        (["x"], []),
        (["y"], []),
        ([], ["x"]),
        ([], ["y"]),
    ]
    assert [row["deleted"] for row in rows] == [False, False, False, True]


def test_what_is_no_event_is_in_quarantine(filled: Filled) -> None:
    (row,) = _of(filled, catalogue.QUARANTINE)
    assert (bytes(row["value"]), row["reason"]) == (b"not an event", "not a JSON object")
