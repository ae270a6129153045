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
from support.archive_events import NOW, Record, event_frame, key, offset_event
from support.manual_clock import ManualClock
from support.other_readers import assert_others_find_the_same, rows_of
from support.silver_events import START, history
from support.silver_rows import MINUTE, at
from warren.contracts import (
    FRESHNESS_CHANGED,
    STATUS_CHANGED,
    FreshnessEvent,
    GroupEvent,
    GroupIncidentEvent,
)
from warren.contracts.topics import CATALOGUE, INCIDENTS
from warren.settings import Settings
from warren_archiver.lake.contract_view import ContractView
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.table import Table
from warren_archiver.refining.models import OF, happenings
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


def test_lag_of_minutes_is_what_can_be_read() -> None:
    """As the evaluator's: a log may start after the committed offset."""
    event = offset_event("billing", 100)
    (topic, positions), *_ = event.topics.items()
    found = []
    for log_start in (-1, 0, 102, 110):
        columns = positions.model_copy(update={"log_start": [log_start, 5]})
        value = event.model_copy(update={"topics": {topic: columns}}).to_bytes()
        tables = whole([Record(key("billing"), value, "warren.offsets", 0, 0, NOW)], SETTINGS)
        found += [row["lag"] for row in tables[catalogue.PARTITION_MINUTES.name]]
    assert found == [3, None, 3, None, 1, None, 0, None]


def test_a_generation_that_was_not_told_is_null() -> None:
    """Contracts write -1, and nothing for a state."""
    untold = GroupEvent(
        cluster="prod", group="billing", observed_at=NOW, position=-1, protocol="classic"
    )
    tables = whole(
        [Record(key("billing"), untold.to_bytes(), "warren.groups", 0, 0, NOW)], SETTINGS
    )
    (row,) = tables[catalogue.MEMBERSHIP_CHANGES.name]
    assert (row["generation"], row["state"]) == (None, "")


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


def test_where_a_record_is_gone_a_group_is_as_late_as_it_is_at_least() -> None:
    record = next(each for each in _events() if each.topic == "warren.freshness" and each.value)
    event = FreshnessEvent.from_bytes(record.value)
    (topic, known), *_ = event.topics.items()
    count = len(known.partition)
    gone = {"freshness_ms": [None] * count, "bound_ms": [70_000] * count}
    value = event.model_copy(update={"topics": {topic: known.model_copy(update=gone)}}).to_bytes()
    (row,) = whole([replace(record, value=value)], SETTINGS)[catalogue.LATENESS_MINUTES.name]
    assert (row["late_ms"], row["unknown_partitions"]) == (70_000, count)


def test_an_incident_is_one_row_as_its_newest_change_says(made: Made) -> None:
    (row,) = _of(made, catalogue.INCIDENTS, group="billing")
    assert row["opened_at"].timestamp() * 1000 == START
    assert (row["worst"], row["closed_by"], row["reason"]) == ("ERR", "OK", "no_commit")
    assert (row["changes"], row["deliveries"], row["failures"]) == (3, 2, 1)
    assert (row["duration_ms"], row["cause"]) == (360_000, "stuck_record")
    assert row["told"] == [{"route": "all", "channel": "mail"}]
    assert GroupIncidentEvent.from_bytes(row["event"]).data.revision == 3


def test_the_root_of_a_groups_conditions_says_what_is_wrong(made: Made) -> None:
    """It was late first, then stopped, then went on."""
    (row,) = _of(made, catalogue.INCIDENTS, group="settlement")
    assert row["incident_id"] == f"{FRESHNESS_CHANGED}-settlement"
    assert row["told_at"].timestamp() * 1000 == START + 2 * MINUTE + 500
    assert (row["worst"], row["changes"], row["deliveries"]) == ("ERR", 4, 1)
    changes = _of(made, catalogue.INCIDENT_CHANGES, group="settlement")
    changes.sort(key=lambda each: each["revision"])
    assert [
        (each["condition"], each["did"], each["status"], each["reason"]) for each in changes
    ] == [
        (FRESHNESS_CHANGED, "began", "WARN", "max_freshness"),
        (STATUS_CHANGED, "began", "ERR", "no_commit"),
        (STATUS_CHANGED, "ended", "WARN", "max_freshness"),
        (FRESHNESS_CHANGED, "ended", "OK", "no_commit"),
    ]
    assert [each["closed_at"] is None for each in changes] == [True, True, True, False]


def test_what_is_stored_of_an_incident_counts_until_a_newer_change_comes() -> None:
    """An older one that comes late changes nothing; who was told first stays so."""
    known = {"cluster": "prod", "group": "g", "incident_id": "i", "worst": "ERR"}
    change = known | {"at": at(START), "opened_at": at(START)}
    stored = change | {"changes": 2, "changed_at": at(START), "told_at": at(START)}
    sent = {"incident_id": "i", "at": at(START + MINUTE), "outcome": "delivered"}
    for revision, worst in ((1, "ERR"), (3, "WARN")):
        tables = SqlTables()
        tables.put_rows(
            catalogue.INCIDENT_CHANGES, [change | {"revision": revision, "worst": "WARN"}]
        )
        tables.put_rows(replace(catalogue.INCIDENTS, name="stored"), [stored])
        tables.put_rows(catalogue.NOTIFICATIONS, [sent])
        (row,) = tables.made("silver", catalogue.INCIDENTS, SETTINGS)
        assert (row["worst"], row["changes"], row["deliveries"]) == (worst, max(revision, 2), 1)
        assert row["told_at"] == at(START)


def test_a_tombstone_of_incidents_tells_of_nothing(spark: SparkSession) -> None:
    view = ContractView(INCIDENTS)
    parsed = view.parse(event_frame(spark, [Record(key("gone"), None)]))
    assert not happenings(INCIDENTS, view.accepted(parsed)).collect()


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
