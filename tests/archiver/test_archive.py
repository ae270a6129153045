"""Archiving from a real broker with a real Spark: every record once, whatever happens.

One lake lives through all that may happen to its table.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from delta.tables import DeltaTable
from structlog.testing import capture_logs
from support.archive_events import key
from support.archive_lab import BAD, Archive, events_between
from warren.clock import SystemClock
from warren.contracts.topics import OFFSETS
from warren.metrics.archiver import ARCHIVER_BEHIND, ARCHIVER_CAUGHT_UP
from warren_archiver.bronze import bronze
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.errors import AnotherWrites, LakeGone
from warren_archiver.lake.contract_view import ContractView, accepted

OF_ROWS = "the log of the table of events does not say where they end: its rows do"
pytestmark = pytest.mark.timeout(1800)


@pytest.mark.smoke
def test_every_record_is_archived_once_as_it_is_over_several_runs_and_batches(
    lab: Archive,
) -> None:
    newer = json.dumps(json.loads(events_between(7, 8)[0]) | {"yet_unknown": {"x": [1]}}).encode()
    lab.send([*events_between(0, 60), newer])
    behind, started_ms = ARCHIVER_BEHIND.labels(OFFSETS.name), SystemClock().now_ms()
    behind.set(-1)
    ARCHIVER_CAUGHT_UP.set(0)
    lab.once()
    assert behind._value.get() == 0
    assert ARCHIVER_CAUGHT_UP._value.get() * 1000 >= started_ms
    headers: list[tuple[str, str | bytes | None]] = [("a", b"\xff"), ("a", None)]
    lab.producer.produce(
        lab.name, events_between(60, 61)[0], key("g"), partition=1, headers=headers
    )
    lab.send([*events_between(61, 100), *BAD], partition=1)
    lab.once(batch_records=20)
    found = lab.check()
    assert found.equal, found.differences
    assert (found.retained, found.archived, found.behind) == (104, 104, 0)
    assert lab.values() == [*events_between(0, 60), newer, *events_between(60, 100), *BAD]
    row = next(row for row in lab.rows() if row["partition"] == 1)
    assert [(header["key"], header["value"]) for header in row["headers"]] == headers
    assert (row["topic"], row["offset"], bytes(row["key"])) == (lab.name, 0, key("g"))
    assert str(row["date"]) == str(row["timestamp"].date())
    events = lab.lake.read(lab.spark, lab.lake.events)
    assert events is not None
    view = ContractView(OFFSETS)
    refused = view.refused(view.parse(events)).orderBy("kafka_offset").collect()
    assert tuple(bytes(row["value"]) for row in refused) == BAD
    positions = {row["position"] for row in accepted(events, OFFSETS).collect()}
    assert positions == set(range(100))
    assert lab.gaps() == []

    # The check sees what is missing, and what is there twice.
    repeated = events.where("partition = 0 AND offset IN (3, 4)").coalesce(1)
    repeated.write.format("delta").mode("append").save(lab.lake.events)
    table = DeltaTable.forPath(lab.spark, lab.lake.events)
    table.delete("partition = 0 AND offset BETWEEN 20 AND 22")
    assert lab.check().differences == [
        "partition 0: 3 not archived: 20-22",
        "partition 0: 2 rows too many for their offsets",
    ]


@pytest.fixture
def put_back(lab: Archive, tmp_path: Path) -> Callable[..., None]:
    """Takes parts of the lake from a copy, or away where that has none."""

    def replace(copy: str, *parts: str) -> None:
        for part in parts:
            there, kept = Path(lab.settings.archiver.path) / part, tmp_path / copy / part
            shutil.rmtree(there, ignore_errors=True)
            if kept.exists():
                shutil.copytree(kept, there)

    return replace


def test_the_table_may_be_lost_or_set_back_and_every_record_is_there_once(
    lab: Archive, tmp_path: Path, put_back: Callable[..., None]
) -> None:
    """Neither twice nor left out."""
    root, table, sent = Path(lab.settings.archiver.path), "bronze/events", 0

    def archived() -> int:
        """Five more records; how often the rows said where they end."""
        nonlocal sent
        lab.send(events_between(sent, sent + 5))
        sent += 5
        with capture_logs() as logs:
            lab.once()
        assert [row["offset"] for row in lab.rows()] == [*range(sent)]
        return [line["event"] for line in logs].count(OF_ROWS)

    assert archived() == 0
    shutil.copytree(root, tmp_path / "earlier")
    assert archived() == 0
    put_back("earlier", table)
    assert archived() == 0
    put_back("nothing", table)
    assert archived() == 0
    events = DeltaTable.forPath(lab.spark, lab.lake.events)
    events.restoreToVersion(1)  # 0 made it, 1 noted where the topics begin
    assert archived() == 0
    events.restoreToVersion(2)
    assert archived() == 1
    events.optimize().executeCompaction()
    assert archived() == 0
    _written_without_notes(lab)
    assert archived() == 1
    assert lab.gaps() == []
    assert lab.check().equal

    # What retention took while nobody noted where the rows end is a gap; then the topic is made
    # anew, too.
    _written_without_notes(lab)
    lab.send(events_between(0, 20))
    gone = TopicPartition(lab.name, 0, sent + 10)
    for done in lab.admin.delete_records([gone]).values():
        done.result()
    lab.once()
    assert lab.gaps() == [(0, sent, sent + 9, "retention")]
    _written_without_notes(lab)
    lab.make_anew()
    lab.send(events_between(100, 104))
    lab.once()
    assert lab.gaps()[1:] == [(0, sent + 20, None, "topic_made_anew")]
    assert lab.check().equal


def _written_without_notes(lab: Archive) -> None:
    """The rows of the table anew, in a commit that notes nothing."""
    table = lab.lake.read(lab.spark, lab.lake.events)
    assert table is not None
    rows = table.collect()
    shutil.rmtree(lab.lake.events.removeprefix("file:"))
    lab.lake.ensure(lab.spark)
    frame = lab.spark.createDataFrame(rows, table.schema)
    frame.write.format("delta").mode("append").save(lab.lake.events)


def test_of_two_archivers_that_write_the_same_batch_one_does(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one says that there are two."""
    lab.send(events_between(0, 5))
    lab.once()
    lab.send(events_between(5, 10))
    records, met = bronze.records, False

    def met_by_another(*given: object) -> object:
        nonlocal met
        if not met:
            met = True
            lab.send(events_between(10, 15))
            lab.once()
        return records(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(bronze, "records", met_by_another)
    archiver = Bronze(lab.spark, lab.settings, lab.lake, [lab.topic], SystemClock())
    with pytest.raises(AnotherWrites, match="another archiver writes to"):
        archiver.take()
    assert [row["offset"] for row in lab.rows()] == [*range(15)]
    archiver.take()
    assert lab.check().equal


def test_a_lake_that_is_deleted_amid_a_batch_is_archived_anew(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch creates the table, and nothing of before would be in it."""
    lab.send(events_between(0, 5))
    lab.once()
    lab.send(events_between(5, 10))
    records = bronze.records

    def deleted(*given: object) -> object:
        shutil.rmtree(lab.settings.archiver.path)
        return records(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(bronze, "records", deleted)
        with pytest.raises(LakeGone):
            lab.once()
    lab.once()
    assert [row["offset"] for row in lab.rows()] == [*range(10)]
    assert lab.check().equal
