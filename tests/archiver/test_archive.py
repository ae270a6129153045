"""Archiving from a real broker with a real Spark: every record once, whatever happens."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from delta.tables import DeltaTable
from structlog.testing import capture_logs
from support.archive_events import NOW, key, lag_event
from support.archive_lab import BAD, Archive, events_between
from warren.clock import SystemClock
from warren.contracts.topics import LAG, OFFSETS
from warren_archiver.errors import LakeGone
from warren_archiver.lake.contract_view import accepted, quarantine
from warren_archiver.streaming.gap_recorder import GapRecorder
from warren_archiver.streaming.known_topics import KnownTopics

BEGUN_AGAIN = "the checkpoint is not that of the table of events: it goes on where its rows end"
PARTS = ["checkpoints/events", "bronze/topic_ids"]
pytestmark = pytest.mark.timeout(900)


def test_every_record_is_archived_once_as_it_is_over_several_runs_and_batches(
    lab: Archive,
) -> None:
    newer = json.dumps(json.loads(events_between(7, 8)[0]) | {"yet_unknown": {"x": [1]}}).encode()
    lab.send([*events_between(0, 60), newer])
    lab.once()
    headers: list[tuple[str, str | bytes | None]] = [("a", b"\xff"), ("a", None)]
    lab.producer.produce(
        lab.name, events_between(60, 61)[0], key("g"), partition=1, headers=headers
    )
    lab.send([*events_between(61, 100), *BAD], partition=1)
    lab.once(batch_records=20)
    found = lab.check()
    assert found.equal, found.differences
    assert (found.retained, found.archived) == (104, 104)
    assert lab.values() == [*events_between(0, 60), newer, *events_between(60, 100), *BAD]
    row = next(row for row in lab.rows() if row["partition"] == 1)
    assert [(header["key"], header["value"]) for header in row["headers"]] == headers
    assert (row["topic"], row["offset"], bytes(row["key"])) == (lab.name, 0, key("g"))
    assert str(row["date"]) == str(row["timestamp"].date())
    events = lab.lake.read(lab.spark, lab.lake.events)
    assert events is not None
    refused = quarantine(events, {lab.name: OFFSETS}).orderBy("kafka_offset").collect()
    assert tuple(bytes(row["value"]) for row in refused) == BAD
    positions = {row["position"] for row in accepted(events, OFFSETS).collect()}
    assert positions == set(range(100))


def test_a_batch_that_comes_again_after_a_crash_changes_nothing(lab: Archive) -> None:
    lab.send([*events_between(0, 10), *BAD])
    lab.once()
    lab.forget_last_batch()
    lab.send(events_between(10, 20))
    lab.once()
    found = lab.check()
    assert found.equal, found.differences
    assert (found.archived, found.behind) == (23, 0)
    assert lab.gaps() == []


@pytest.mark.parametrize(
    "left",
    [
        "nothing",
        "no topic ids",
        "an earlier one",
        "commits",
        "empty offsets",
        "empty commits",
        "half of the metadata",
        "the newest batch",
    ],
)
def test_without_its_checkpoint_the_archive_goes_on_where_its_rows_end(
    lab: Archive, tmp_path: Path, left: str
) -> None:
    """Each record is there once: neither twice nor taken for a batch that is written already."""
    folder, earlier = Path(lab.lake.checkpoint.removeprefix("file:")), tmp_path / "earlier"
    lab.send(events_between(0, 5))
    lab.once()
    shutil.copytree(folder, earlier)
    for start in range(5, 20, 5):
        lab.send(events_between(start, start + 5))
        lab.once()
    leave(folder, left)
    if left == "no topic ids":
        shutil.rmtree(lab.lake.topic_ids.removeprefix("file:"))
    if left == "an earlier one":
        shutil.copytree(earlier, folder)
    lab.send(events_between(20, 25))
    lab.send(events_between(0, 3), partition=1)
    with capture_logs() as logs:
        lab.once()
    assert [row["offset"] for row in lab.rows()] == [*range(25), *range(3)]
    assert [line["event"] for line in logs].count(BEGUN_AGAIN) == 1
    lab.send(events_between(25, 30))
    with capture_logs() as logs:
        lab.once()
    assert BEGUN_AGAIN not in [line["event"] for line in logs]
    assert len(lab.rows()) == 33
    assert lab.check().equal
    assert lab.gaps() == []


def leave(folder: Path, left: str) -> None:
    """Of four batches, of which the last one is number 3."""
    match left:
        case "commits":  # as if killed while it was made again
            shutil.rmtree(folder / "offsets")
            (folder / "metadata").unlink()
        case "empty offsets" | "empty commits":  # as a full disk leaves them
            (folder / left.split()[-1] / "3").write_text("")
        case "half of the metadata":
            (folder / "metadata").write_text('{"id":')
        case "the newest batch":
            for number, part in product(range(3), ("offsets", "commits")):
                (folder / part / str(number)).unlink(missing_ok=True)
        case _:
            shutil.rmtree(folder)
    for checksum in folder.glob("**/.*.crc"):
        checksum.unlink()


def test_a_table_that_was_set_back_is_archived_anew_from_there(lab: Archive) -> None:
    for start in range(0, 20, 5):
        lab.send(events_between(start, start + 5))
        lab.once()
    table = DeltaTable.forPath(lab.spark, lab.lake.events)
    table.restoreToVersion(2)  # 0 made it
    assert len(lab.rows()) == 10
    lab.send(events_between(20, 25))
    lab.once()
    assert [row["offset"] for row in lab.rows()] == [*range(25)]
    assert lab.gaps() == []
    table.optimize().executeCompaction()
    with capture_logs() as logs:
        lab.once()
    assert BEGUN_AGAIN not in [line["event"] for line in logs]
    assert lab.check().equal


@pytest.mark.parametrize("kept", ["the table", "the checkpoint"])
def test_a_table_and_a_checkpoint_of_two_pasts_are_told_apart_though_their_batches_have_one_number(
    lab: Archive, tmp_path: Path, kept: str
) -> None:
    """Both were set back to a backup, and one of them once more."""
    root = Path(lab.settings.archiver.path)
    lab.send(events_between(0, 10))
    lab.once()
    shutil.copytree(root, tmp_path / "backup")
    lab.send(events_between(10, 20))
    lab.once()
    shutil.copytree(root, tmp_path / "one past")
    shutil.rmtree(root)
    shutil.copytree(tmp_path / "backup", root)
    lab.send(events_between(20, 25))
    lab.once()
    other = "checkpoints/events" if kept == "the table" else "bronze/events"
    shutil.rmtree(root / other)
    shutil.copytree(tmp_path / "one past" / other, root / other)
    lab.send(events_between(25, 30))
    lab.once()
    assert [row["offset"] for row in lab.rows()] == [*range(30)]
    assert lab.gaps() == []


def test_what_a_table_has_lost_that_the_checkpoint_knows_of_is_archived_anew(
    lab: Archive, tmp_path: Path
) -> None:
    table, earlier = Path(lab.lake.events.removeprefix("file:")), tmp_path / "earlier"
    lab.send(events_between(0, 10))
    lab.once()
    shutil.copytree(table, earlier)
    lab.send(events_between(10, 20))
    lab.once()
    shutil.rmtree(table)
    shutil.copytree(earlier, table)
    lab.once()
    assert [row["offset"] for row in lab.rows()] == [*range(20)]
    shutil.rmtree(table)
    lab.once()
    assert [row["offset"] for row in lab.rows()] == [*range(20)]
    assert lab.gaps() == []


def test_what_retention_took_while_there_was_no_checkpoint_is_a_gap(lab: Archive) -> None:
    lab.send(events_between(0, 10))
    lab.once()
    shutil.rmtree(lab.lake.checkpoint.removeprefix("file:"))
    lab.send(events_between(10, 30))
    for done in lab.admin.delete_records([TopicPartition(lab.name, 0, 20)]).values():
        done.result()
    lab.once()
    assert [row["offset"] for row in lab.rows()] == [*range(10), *range(20, 30)]
    assert lab.gaps() == [(0, 10, 19, "retention")]


@pytest.mark.parametrize("gone", [["checkpoints/events"], ["bronze/topic_ids"], PARTS])
def test_a_topic_made_anew_while_there_was_no_checkpoint_is_archived_as_well(
    lab: Archive, gone: list[str]
) -> None:
    lab.send(events_between(0, 10))
    lab.once()
    for part in gone:
        shutil.rmtree(Path(lab.settings.archiver.path) / part)
    lab.make_anew()
    lab.send(events_between(100, 104))
    lab.once()
    assert sorted(row["offset"] for row in lab.rows()) == sorted([*range(10), *range(4)])
    gaps = [(0, 10, None, "topic_made_anew")]
    if PARTS[0] not in gone:  # it knows of a partition that had no rows
        gaps.append((1, 0, None, "topic_made_anew"))
    assert lab.gaps() == gaps
    assert lab.check().equal


def test_a_lake_that_was_deleted_meanwhile_is_an_error_that_says_so(lab: Archive) -> None:
    known = KnownTopics(lab.spark, lab.lake, AdminClient({}), {}, SystemClock())
    recorder = GapRecorder(lab.spark, lab.lake, AdminClient({}), {}, SystemClock())
    with pytest.raises(LakeGone, match="was deleted while the archiver ran"):
        known.settle({}, lab.spark.createDataFrame([], "topic string"), recorder)
    with pytest.raises(LakeGone, match="was deleted while the archiver ran"):
        recorder.look_again({}, {}, {})


def test_check_sees_what_is_missing_and_what_is_there_twice(lab: Archive) -> None:
    lab.send(events_between(0, 30))
    lab.once()
    path = lab.lake.events
    table = lab.spark.read.format("delta").load(path)
    repeated = table.where("offset IN (3, 4)").coalesce(1)
    repeated.write.format("delta").mode("append").save(path)
    DeltaTable.forPath(lab.spark, path).delete("offset BETWEEN 20 AND 22")
    assert lab.check().differences == [
        "partition 0: 3 not archived: 20-22",
        "partition 0: 2 rows too many for their offsets",
    ]


def test_tombstones_of_a_compacted_topic_are_rows(lab: Archive) -> None:
    lab.topic = LAG
    lab.send([lag_event("g", NOW, "OK", 1).to_bytes(), None])
    lab.once()
    assert lab.check().equal
    events = lab.lake.read(lab.spark, lab.lake.events)
    assert events is not None
    rows = accepted(events, LAG).orderBy("kafka_offset").collect()
    assert [row["deleted"] for row in rows] == [False, True]
    assert rows[1]["cluster"] is None
    assert bytes(rows[1]["kafka_key"]) == key("g")
