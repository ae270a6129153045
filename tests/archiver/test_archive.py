"""Archiving from a real broker with a real Spark: every record once, whatever happens."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from support.archive_events import NOW, key, lag_event, offset_event
from support.waiting import eventually
from warren.clock import Clock, SystemClock
from warren.contracts.topics import LAG, OFFSETS, Topic
from warren.metrics.archiver import ARCHIVER, ARCHIVER_BEHIND, ARCHIVER_FAILURES
from warren.settings import Settings
from warren_archiver.check.recount import check
from warren_archiver.check.topic_check import TopicCheck
from warren_archiver.check.topic_offsets import read_offsets
from warren_archiver.errors import ArchiveFailed
from warren_archiver.lake.lake import Lake
from warren_archiver.streaming import archive as archive_job
from warren_archiver.streaming.archive import archive
from warren_archiver.streaming.batch_writer import BatchWriter

pytestmark = pytest.mark.integration
BAD = (b"not an event", b'{"v":1}', b"\xff")


class HasBootstrap(Protocol):
    """What the fixture `broker` is."""

    bootstrap: str


@dataclass
class Archive:
    """A lake of one's own, of one topic of one's own."""

    spark: SparkSession
    settings: Settings
    admin: AdminClient
    producer: Producer
    topic: Topic = OFFSETS

    def send(self, values: Sequence[bytes | None], partition: int = 0) -> None:
        name = self.topic.full_name(self.settings.home.topic_prefix)
        for value in values:
            self.producer.produce(name, value, key=key("g"), partition=partition)
        assert self.producer.flush(30) == 0

    def once(self, **changes: object) -> None:
        settings = self.changed(**changes)
        archive(
            self.spark,
            settings,
            threading.Event(),
            once=True,
            clock=SystemClock(),
            topics=[self.topic],
        )

    def changed(self, **changes: object) -> Settings:
        archiver = self.settings.archiver.model_copy(update=changes)
        return self.settings.model_copy(update={"archiver": archiver})

    def check(self) -> TopicCheck:
        (found,) = check(self.spark, self.settings, topics=[self.topic], wait=0)
        return found

    def compact(self, name: str) -> None:
        """From now on the topic is compacted as soon as the broker can."""
        resource = ConfigResource(
            ResourceType.TOPIC,
            name,
            incremental_configs=[
                ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
                for key, value in EAGER.items()
            ],
        )
        self.admin.incremental_alter_configs([resource])[resource].result(30)

    def until_compacted(self, name: str, *, below: int, kept: int) -> None:
        """Waits until at most `kept` of the first records are left; more of them close segments."""

        def is_compacted() -> bool:
            self.send([lag_event("g", NOW, "OK", 1).to_bytes()])
            retained = read_offsets(self.settings.home, self.admin, name)[0].retained
            return len(retained.clip(0, below)) <= kept

        eventually(is_compacted, timeout=120, message="the topic is compacted")

    @property
    def lake(self) -> Lake:
        return Lake.at(self.settings.archiver.path)

    def rows(self) -> list[Row]:
        table = self.lake.read(self.spark, self.lake.bronze(self.topic))
        return [] if table is None else table.collect()

    def forget_last_batch(self) -> None:
        """As if killed between the tables' commits and Spark's note that the batch is done."""
        commits = Path(self.settings.archiver.path) / "checkpoints" / self.topic.name / "commits"
        last = max((file for file in commits.iterdir() if file.name.isdigit()), key=_number)
        last.unlink()
        last.with_name(f".{last.name}.crc").unlink()


EAGER = {
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.01",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "1000",
}


def _number(file: Path) -> int:
    return int(file.name)


@pytest.fixture
def lab(
    spark: SparkSession,
    broker: HasBootstrap,
    unique: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Archive:
    monkeypatch.setattr(archive_job, "LOOK_EVERY", 0.1)
    settings = Settings.model_validate(
        {
            "home": {"bootstrap": broker.bootstrap, "topic_prefix": f"{unique}."},
            "archiver": {"path": str(tmp_path / "a lake"), "interval": 0.5},
        }
    )
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for topic in (OFFSETS, LAG):
        new = NewTopic(topic.full_name(f"{unique}."), num_partitions=2, config=topic.config())
        for created in admin.create_topics([new]).values():
            created.result()
    producer = Producer({"bootstrap.servers": broker.bootstrap, "compression.type": "lz4"})
    return Archive(spark, settings, admin, producer)


def _events(start: int, end: int) -> list[bytes]:
    return [offset_event("g", position).to_bytes() for position in range(start, end)]


def test_every_record_is_archived_once_over_several_runs_and_batches(lab: Archive) -> None:
    lab.send(_events(0, 60))
    lab.once()
    lab.send([*_events(60, 100), *BAD], partition=1)
    lab.once(batch_records=20)
    found = lab.check()
    assert found.equal, found.differences
    assert (found.retained, found.archived, found.quarantined) == (103, 100, 3)
    assert found.behind == 0
    assert sorted(row["position"] for row in lab.rows()) == list(range(100))
    quarantine = lab.lake.read(lab.spark, lab.lake.quarantine)
    assert quarantine is not None
    rows = quarantine.orderBy("kafka_offset").collect()
    assert tuple(bytes(row["value"]) for row in rows) == BAD
    assert {row["kafka_partition"] for row in rows} == {1}


def test_a_batch_that_comes_again_after_a_crash_changes_nothing(lab: Archive) -> None:
    lab.send([*_events(0, 10), *BAD])
    lab.once()
    lab.forget_last_batch()
    lab.send(_events(10, 20))
    lab.once()
    found = lab.check()
    assert found.equal, found.differences
    assert (found.archived, found.quarantined, found.behind) == (20, 3, 0)


def test_a_crash_between_table_and_quarantine_loses_nothing(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = BatchWriter._append

    def die(self: BatchWriter, rows: DataFrame, table: str, transaction: dict[str, str]) -> None:
        if table.endswith("quarantine"):
            raise PySparkException("the disk is full")
        append(self, rows, table, transaction)

    lab.send([*_events(0, 5), *BAD, *_events(5, 10)])
    with monkeypatch.context() as patch:
        patch.setattr(BatchWriter, "_append", die)
        with pytest.raises(ArchiveFailed, match="offsets could not be archived: the disk is full"):
            lab.once()
    assert lab.check().differences == ["partition 0: 3 not archived: 5-7"]
    lab.once()
    found = lab.check()
    assert found.equal, found.differences
    assert (found.archived, found.quarantined) == (10, 3)


def test_check_sees_what_is_missing_and_what_is_there_twice(lab: Archive) -> None:
    lab.send(_events(0, 30))
    lab.once()
    path = lab.lake.bronze(OFFSETS)
    table = lab.spark.read.format("delta").load(path)
    repeated = table.where("kafka_offset IN (3, 4)").coalesce(1)
    repeated.write.format("delta").mode("append").save(path)
    DeltaTable.forPath(lab.spark, path).delete("kafka_offset BETWEEN 20 AND 22")
    assert lab.check().differences == [
        "partition 0: 3 not archived: 20-22",
        "partition 0: 2 rows too many for their offsets",
    ]


def test_tombstones_of_a_compacted_topic_are_rows(lab: Archive) -> None:
    lab.topic = LAG
    lab.send([lag_event("g", NOW, "OK", 1).to_bytes(), None])
    lab.once()
    assert lab.check().equal
    rows = sorted(lab.rows(), key=lambda row: int(row["kafka_offset"]))
    assert [row["deleted"] for row in rows] == [False, True]
    assert rows[1]["cluster"] is None
    assert bytes(rows[1]["kafka_key"]) == key("g")


def test_records_lost_before_they_were_archived_stop_the_topic_unless_allowed(
    lab: Archive,
) -> None:
    lost = _lost()
    lab.send(_events(0, 5))
    lab.once()
    lab.send(_events(5, 20))
    place = TopicPartition(OFFSETS.full_name(lab.settings.home.topic_prefix), 0, 10)
    for deleted in lab.admin.delete_records([place]).values():
        deleted.result()
    with pytest.raises(ArchiveFailed, match=r"offsets could not be archived: .*lost"):
        lab.once()
    lab.once(fail_on_data_loss=False)
    assert sorted(row["position"] for row in lab.rows()) == [*range(5), *range(10, 20)]
    found = lab.check()
    assert found.differences == ["partition 0: 5 gone before they were archived: 5-9"]
    assert (found.lost, found.equal) == (5, False)
    assert gaps_in(lab) == [(0, 5, 9, False)]
    assert _lost() - lost == 5


def test_records_that_compaction_took_before_they_were_archived_are_told(lab: Archive) -> None:
    """Of a topic as it was configured before: compaction may come at any time."""
    lab.topic = LAG
    name = LAG.full_name(lab.settings.home.topic_prefix)
    values = [lag_event("g", NOW + at, "OK", 1).to_bytes() for at in range(400)]
    lab.send(values[:10])
    lab.once()
    assert lab.check().equal
    lost = _lost("lag")
    lab.compact(name)
    lab.send(values[10:])
    lab.until_compacted(name, below=400, kept=100)
    lab.once()
    archived = {int(row["kafka_offset"]) for row in lab.rows()}
    gone = set(range(max(archived))) - archived
    found = lab.check()
    assert gone
    assert (found.lost, found.missing, found.equal) == (len(gone), 0, False)
    assert gone == {offset for gap in gaps_in(lab) for offset in range(gap[1], gap[2] + 1)}
    assert _lost("lag") - lost == len(gone)


def test_gaps_that_are_older_than_the_archive_are_no_loss(lab: Archive) -> None:
    lab.topic = LAG
    name = LAG.full_name(lab.settings.home.topic_prefix)
    lab.compact(name)
    lab.send([lag_event("g", NOW + at, "OK", 1).to_bytes() for at in range(400)])
    lab.until_compacted(name, below=400, kept=100)
    lost = _lost("lag")
    lab.once(batch_records=50)
    assert gaps_in(lab)
    assert all(before_archive for _, _, _, before_archive in gaps_in(lab))
    assert lab.check().equal
    assert _lost("lag") == lost


def gaps_in(lab: Archive) -> list[tuple[int, int, int, bool]]:
    table = lab.lake.read(lab.spark, lab.lake.gaps)
    assert table is not None
    return sorted(
        tuple(row)
        for row in table.select(
            "kafka_partition", "first_offset", "last_offset", "before_archive"
        ).collect()
    )


def _lost(topic: str = "offsets") -> float:
    return ARCHIVER.get_sample_value("warren_archiver_lost_records_total", {"topic": topic}) or 0


class QuickClock:
    """A clock on which pauses are short."""

    def __init__(self) -> None:
        self._real = SystemClock()

    def now_ms(self) -> int:
        return self._real.now_ms()

    def monotonic(self) -> float:
        return self._real.monotonic() * 20


def test_a_running_archive_survives_a_failure_and_stops_when_told_to(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, failed = BatchWriter._append, threading.Event()

    def fail_once(
        self: BatchWriter, rows: DataFrame, table: str, transaction: dict[str, str]
    ) -> None:
        if not failed.is_set():
            failed.set()
            raise PySparkException("once")
        append(self, rows, table, transaction)

    monkeypatch.setattr(BatchWriter, "_append", fail_once)
    failures = _failures()
    behind = ARCHIVER_BEHIND.labels(OFFSETS.name)
    behind.set(-1)
    stop, clock = threading.Event(), QuickClock()
    lab.send(_events(0, 10))
    running = _in_thread(lab, stop, clock)
    try:
        eventually(lambda: len(lab.rows()) == 10, message="the first are archived")
        lab.send(_events(10, 20))
        eventually(lambda: len(lab.rows()) == 20, message="the others are archived")
        eventually(lambda: behind._value.get() == 0, message="none is behind")
    finally:
        stop.set()
        running.join(60)
    assert not running.is_alive()
    assert _failures() == failures + 1
    assert not lab.spark.streams.active
    assert lab.check().equal


def _failures() -> float:
    return float(ARCHIVER_FAILURES.labels(OFFSETS.name)._value.get())


def _in_thread(lab: Archive, stop: threading.Event, clock: Clock) -> threading.Thread:
    running = threading.Thread(
        target=archive,
        args=(lab.spark, lab.settings, stop),
        kwargs={"once": False, "clock": clock, "topics": [OFFSETS]},
    )
    running.start()
    return running
