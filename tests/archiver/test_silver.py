"""Silver has what the events of a history tell: its SQL, run by DuckDB; and in Spark by batches, of
which some are killed, the same."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from archiver.sql_tables import Row, SqlTables, whole
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from support.archive_events import NOW, Record, event_frame
from support.manual_clock import ManualClock
from support.other_readers import assert_others_find_the_same, rows_of
from support.silver_events import START, history
from support.silver_rows import MINUTE, at
from warren.contracts import FRESHNESS_CHANGED, STATUS_CHANGED
from warren.contracts.topics import CATALOGUE
from warren.settings import Settings
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.table import Table
from warren_archiver.refining.models import OF
from warren_archiver.refining.parts import in_parts
from warren_archiver.refining.refine import Refinery
from warren_archiver.silver import catalogue

pytestmark = pytest.mark.timeout(1800)
SETTINGS = Settings()
TOPICS = {topic.full_name("warren."): topic for topic in CATALOGUE}
NO_EVENT = b"not an event"
Made = dict[str, list[Row]]


def _events() -> list[Record]:
    return [record for record in history() if record.value != NO_EVENT]


@pytest.fixture(scope="module")
def made() -> Made:
    return whole(_events(), SETTINGS)


def _of(made: Made, table: Table, **where: Any) -> list[Row]:
    return [
        row for row in made[table.name] if all(row[name] == value for name, value in where.items())
    ]


def test_rows_are_there_once_by_their_keys(made: Made) -> None:
    for name, rows in made.items():
        keys = [tuple(str(row[each]) for each in OF[name].table.key) for row in rows]
        assert len(set(keys)) == len(keys), name
        assert keys, name


def test_moves_of_a_partition_are_told_unless_it_was_silent_for_long(made: Made) -> None:
    """Three observations a minute at most, 10 records apart; it went back once, by 45."""
    rows = _of(made, catalogue.PARTITION_MINUTES, group="billing", partition=0)
    assert [row["observations"] for row in rows] == [3, 2, 3, 2, 2, 3, 2, 3, 1, 2, 1]
    assert sum(row["consumed"] or 0 for row in rows) == 210
    assert [row["rewound"] for row in rows] == [0, 0, 0, 0, 0, 45, 0, 0, 0, 0, 0]
    assert [row["consumed"] for row in rows][:2] == [20, 20]
    assert rows[0]["produced"] == 20
    never = _of(made, catalogue.PARTITION_MINUTES, group="billing", partition=1)[0]
    assert (never["committed"], never["lag"]) == (None, None)


def test_minutes_of_groups_are_sums_of_partitions(made: Made) -> None:
    for name in ("produced", "consumed", "rewound"):
        groups, partitions = (
            sum(row[name] or 0 for row in _of(made, table))
            for table in (catalogue.GROUP_MINUTES, catalogue.PARTITION_MINUTES)
        )
        assert groups == partitions


def test_a_topic_has_what_was_appended_between_two_minutes(made: Made) -> None:
    """Unless the log end was unknown at one of both."""
    rows = _of(made, catalogue.TOPIC_MINUTES, topic="orders")
    assert [row["produced"] for row in rows][:3] == [None, 21, 21]
    assert [row["partitions"] for row in rows][:3] == [2, 1, 2]


def test_how_late_a_group_was_is_told_of_each_minute(made: Made) -> None:
    rows = _of(made, catalogue.LATENESS_MINUTES, group="billing")
    assert [(row["late_ms"], row["late_max_ms"]) for row in rows] == [
        (10_000, 12_000),
        (7_000, 9_000),
        (4_000, 6_000),
        (1_000, 3_000),
    ]
    assert {(row["unknown_partitions"], row["produce_rate"]) for row in rows} == {(1, 2.5)}
    assert [row["lost_records"] for row in rows] == [2, 5, 8, 11]


def test_an_incident_is_one_row(made: Made) -> None:
    (row,) = _of(made, catalogue.INCIDENTS, group="billing")
    assert row["opened_at"].timestamp() * 1000 == START
    assert (row["worst"], row["closed_by"], row["reason"]) == ("ERR", "OK", "no_commit")
    assert (row["changes"], row["deliveries"], row["failures"]) == (3, 2, 1)
    assert (row["duration_ms"], row["cause"]) == (360_000, "stuck_record")
    assert row["told"] == [{"route": "all", "channel": "mail"}]


def test_an_incident_is_told_with_others_of_its_group(made: Made) -> None:
    rows = {row["incident_id"]: row for row in _of(made, catalogue.INCIDENTS, group="settlement")}
    told = rows[f"{STATUS_CHANGED}-settlement"]
    assert told["told"] == [{"route": "all", "channel": "mail"}]
    assert told["told_at"].timestamp() * 1000 == START + 2 * MINUTE + 500
    assert told["deliveries"] == 1


def test_an_end_that_is_told_again_is_no_later_end() -> None:
    """Unless there was trouble in between; a clock that was set back has ended it as well."""
    told = {
        "again": [(0, "ERR"), (10, "OK"), (120, "NOTFOUND")],
        "trouble": [(0, "ERR"), (10, "OK"), (20, "WARN"), (30, "OK"), (40, "OK")],
        "set back": [(0, "ERR"), (-5, "OK")],
        "lasts": [(0, "ERR")],
        "end alone": [(3, "OK")],
    }
    rows = [
        {"cluster": "prod", "group": "g", "incident_id": name, "status": status}
        | {"from": at(START + minute * MINUTE), "kafka_offset": number}
        | {"event_id": f"{name} {number}", "reason": "no_commit" if status != "OK" else None}
        for name, changes in told.items()
        for number, (minute, status) in enumerate(changes)
    ]
    tables = SqlTables()
    tables.put_rows(catalogue.STATUS_CHANGES, rows)
    tables.put_rows(catalogue.NOTIFICATIONS, [])
    found = tables.made("silver", catalogue.INCIDENTS, SETTINGS)
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


def test_a_status_has_its_cause_and_what_follows(made: Made) -> None:
    """A cause that is unknown is none."""
    rows = sorted(_of(made, catalogue.STATUS_CHANGES, group="billing"), key=lambda row: row["from"])
    assert [row["status"] for row in rows] == ["WARN", "ERR", "OK"]
    told = [tuple(row[name] for name in ("cause", "cause_sentence", "action")) for row in rows]
    nothing = (None, None, None)
    assert told == [nothing, ("stuck_record", "orders/0 stands at 600", "look at it"), nothing]
    assert [row["also"] for row in rows] == [
        None,
        [{"name": "records_lost", "sentence": "9 are gone", "action": None}],
        None,
    ]


def test_changes_of_all_types_are_told(made: Made) -> None:
    rows = _of(made, catalogue.STATUS_CHANGES, group="settlement")
    found = {
        (row["type"], row["status"]): (row["from"].timestamp() * 1000 - START) / 60_000
        for row in rows
    }
    assert found == {
        (FRESHNESS_CHANGED, "WARN"): 1,
        (STATUS_CHANGED, "ERR"): 2,
        (STATUS_CHANGED, "OK"): 3,
        (FRESHNESS_CHANGED, "OK"): 4,
    }


def test_members_that_joined_and_left_are_told(made: Made) -> None:
    rows = _of(made, catalogue.MEMBERSHIP_CHANGES, group="billing")
    assert [(row["joined"], row["left"]) for row in rows] == [
        (["x"], []),
        (["y"], []),
        ([], ["x"]),
        ([], ["y"]),
    ]
    assert [row["deleted"] for row in rows] == [False, False, False, True]
    assert [row["unowned_partitions"] for row in rows] == [2, 2, 2, None]


def test_evaluations_are_as_they_were_published(made: Made) -> None:
    """Of a huge group the first part alone; a tombstone is none."""
    rows = _of(made, catalogue.EVALUATIONS)
    assert [(row["position"], row["status"], row["is_known"]) for row in rows] == [
        (1, "OK", True),
        (2, "ERR", False),
    ]
    assert [(row["cause"], row["incident_id"]) for row in rows] == [
        (None, None),
        ("stuck_record", "i"),
    ]
    assert rows[1]["opened_at"].timestamp() * 1000 == START


def _late() -> list[Record]:
    """In any order: as it is in the logs."""
    records = history()
    late = random.Random(15).sample(records, len(records))
    return [replace(record, offset=number) for number, record in enumerate(late)]


def _take(spark: SparkSession, lake: Lake, records: list[Record], *kills: int) -> None:
    """Killed after so many tables, once for each, then not any more. Records may be archived
    already."""
    refinery = Refinery(spark, lake, SETTINGS, TOPICS, ManualClock(NOW))
    frame = event_frame(spark, records)
    stored = spark.read.format("delta").load(lake.events)
    new = frame.join(stored, ["topic", "partition", "offset"], "left_anti").select(frame.columns)
    new.coalesce(1).write.format("delta").mode("append").save(lake.events)
    put = Refinery._replace
    for tables in kills:
        left = iter(range(tables))

        def killed(self: Refinery, *given: Any, left: Iterator[int] = left) -> int:
            if next(left, None) is None:
                raise PySparkException("killed")
            return put(self, *given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Refinery, "_replace", killed)
            with pytest.raises(PySparkException, match="killed"):
                refinery.take(frame)
    refinery.take(frame)


def _assert_are_made(path: Path) -> None:
    expected = whole([each for each in _late() if each.value != NO_EVENT], SETTINGS)
    for name, rows in expected.items():
        model = OF[name]
        listed = ", ".join(f'"{each}"' for each in model.table.names)
        found = rows_of(path / model.layer / name, listed)
        wanted = [tuple(row.values()) for row in rows]
        assert sorted(map(repr, found)) == sorted(map(repr, wanted)), name
    (quarantined,) = rows_of(path / "silver" / "quarantine", "value, reason")
    assert quarantined == (NO_EVENT, "not a JSON object")


@pytest.mark.contract
def test_two_batches_of_which_one_is_killed_give_what_all_events_at_once_give(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    """Late ones and repeats are among them, and what is no event."""
    records = _late()
    half = len(records) // 2
    _take(spark, lake, records[:half])
    _take(spark, lake, records[half - 5 :], 5)
    _assert_are_made(tmp_path)
    for table in (catalogue.INCIDENTS, catalogue.MEMBERSHIP_CHANGES):
        assert assert_others_find_the_same(spark, lake.silver(table.name))


@pytest.mark.heavy
def test_ten_kills_change_nothing(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    records, chance = _late(), random.Random(7)
    for number in range(5):
        first, last = (len(records) * each // 5 for each in (number, number + 1))
        _take(spark, lake, records[first:last], *(chance.randrange(5) for _ in range(2)))
    _assert_are_made(tmp_path)


@pytest.mark.heavy
def test_a_batch_is_taken_in_parts_of_a_size(spark: SparkSession) -> None:
    """A group's events in their order; those of all partitions come on together."""
    records = [Record(b"k", b"x" * 100, "a", n % 2, offset=10 + n) for n in range(20)]
    records.append(Record(b"k", None, "it's", offset=7))
    frame = event_frame(spark, records)
    (whole_batch,) = in_parts(frame)
    assert whole_batch.events is frame
    assert {each.topic for each in whole_batch.spans} == {"a", "it's"}
    parts = [
        sorted((row["topic"], row["offset"]) for row in part.events.collect())
        for part in in_parts(frame, most_bytes=700)
    ]
    assert sorted(place for part in parts for place in part) == sorted(
        [("it's", 7), *(("a", 10 + n) for n in range(20))]
    )
    assert len(parts) == 3
    assert max(o for t, o in parts[0] if t == "a") < min(o for t, o in parts[2] if t == "a")
