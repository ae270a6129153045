"""Archiving from a real broker with a real Spark: every record once, whatever happens."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from confluent_kafka import KafkaError, Message, Producer, TopicPartition
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
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from support.archive_events import NOW, key, lag_event, offset_event
from support.waiting import eventually
from warren.clock import Clock, SystemClock
from warren.contracts.topics import LAG, OFFSETS, Topic
from warren.metrics.archiver import (
    ARCHIVER,
    ARCHIVER_BEHIND,
    ARCHIVER_CAUGHT_UP,
    ARCHIVER_FAILURES,
)
from warren.settings import Settings
from warren_archiver.check.recount import check
from warren_archiver.check.topic_check import TopicCheck
from warren_archiver.check.topic_offsets import read_offsets
from warren_archiver.lake.contract_view import accepted, quarantine
from warren_archiver.lake.lake import Lake
from warren_archiver.streaming import archive as archive_job
from warren_archiver.streaming.archive import archive
from warren_archiver.streaming.event_query import EventQuery
from warren_archiver.streaming.progress import Progress
from warren_archiver.streaming.upkeep import Upkeep

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
        refused: list[KafkaError] = []

        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                refused.append(error)

        for value in values:
            self.producer.produce(
                self.name, value, key=key("g"), partition=partition, on_delivery=delivered
            )
        assert self.producer.flush(60) == 0
        assert not refused

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

    @property
    def name(self) -> str:
        return self.topic.full_name(self.settings.home.topic_prefix)

    def rows(self) -> list[Row]:
        """In the order of their coordinates."""
        table = self.lake.read(self.spark, self.lake.events)
        rows = [] if table is None else table.collect()
        return sorted(rows, key=lambda row: (str(row["topic_id"]), row["partition"], row["offset"]))

    def values(self) -> list[bytes]:
        return [bytes(row["value"]) for row in self.rows()]

    def make_anew(self) -> None:
        """The topic is deleted and created again."""
        for deleted in self.admin.delete_topics([self.name]).values():
            deleted.result()
        eventually(
            lambda: self.name not in self.admin.list_topics(timeout=10).topics,
            message="the topic is gone",
        )
        self.create(self.topic)
        # The one of before knows the topic that is gone, and may send to that.
        self.producer = Producer({"bootstrap.servers": self.settings.home.bootstrap})

    def create(self, topic: Topic) -> None:
        name = topic.full_name(self.settings.home.topic_prefix)
        new = NewTopic(name, num_partitions=2, config=topic.config())
        eventually(lambda: self._is_created(new), message="the topic is there")

    def _is_created(self, new: NewTopic) -> bool:
        for created in self.admin.create_topics([new]).values():
            return created.exception() is None
        return False

    def forget_last_batch(self) -> None:
        """As if killed between the tables' commits and Spark's note that the batch is done."""
        commits = Path(self.settings.archiver.path) / "checkpoints" / "events" / "commits"
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
    producer = Producer({"bootstrap.servers": broker.bootstrap, "compression.type": "lz4"})
    lab = Archive(spark, settings, admin, producer)
    for topic in (OFFSETS, LAG):
        lab.create(topic)
    return lab


def _events(start: int, end: int) -> list[bytes]:
    return [offset_event("g", position).to_bytes() for position in range(start, end)]


def test_every_record_is_archived_once_as_it_is_over_several_runs_and_batches(
    lab: Archive,
) -> None:
    newer = json.dumps(json.loads(_events(7, 8)[0]) | {"yet_unknown": {"x": [1]}}).encode()
    lab.send([*_events(0, 60), newer])
    lab.once()
    headers: list[tuple[str, str | bytes | None]] = [("a", b"\xff"), ("a", None)]
    lab.producer.produce(lab.name, _events(60, 61)[0], key("g"), partition=1, headers=headers)
    lab.send([*_events(61, 100), *BAD], partition=1)
    lab.once(batch_records=20)
    found = lab.check()
    assert found.equal, found.differences
    assert (found.retained, found.archived) == (104, 104)
    assert lab.values() == [*_events(0, 60), newer, *_events(60, 100), *BAD]
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
    lab.send([*_events(0, 10), *BAD])
    lab.once()
    lab.forget_last_batch()
    lab.send(_events(10, 20))
    lab.once()
    found = lab.check()
    assert found.equal, found.differences
    assert (found.archived, found.behind) == (23, 0)
    assert gaps_in(lab) == []


def test_check_sees_what_is_missing_and_what_is_there_twice(lab: Archive) -> None:
    lab.send(_events(0, 30))
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


def test_a_topic_made_anew_is_archived_from_its_beginning(lab: Archive) -> None:
    """With more records than it had, then with fewer."""
    lab.send(_events(0, 10))
    lab.once()
    for values in (more := _events(100, 130), fewer := _events(200, 205)):
        lab.make_anew()
        lab.send(values)
        lab.once()
        found = lab.check()
        assert found.equal, found.differences
        assert found.archived == len(values)
    assert sorted(lab.values()) == sorted([*_events(0, 10), *more, *fewer])
    offsets = [row["offset"] for row in lab.rows()]
    assert sorted(offsets) == sorted([*range(10), *range(30), *range(5)])
    assert len({row["topic_id"] for row in lab.rows()}) == 3
    assert gaps_in(lab) == [
        (0, 10, None, "topic_made_anew"),
        (0, 30, None, "topic_made_anew"),
        (1, 0, None, "topic_made_anew"),
        (1, 0, None, "topic_made_anew"),
    ]


def test_what_retention_took_before_it_was_archived_is_told_and_the_rest_is_archived(
    lab: Archive,
) -> None:
    lost = _lost()
    lab.send(_events(0, 5))
    lab.once()
    lab.send(_events(5, 20))
    for deleted in lab.admin.delete_records([TopicPartition(lab.name, 0, 10)]).values():
        deleted.result()
    lab.once()
    assert lab.values() == [*_events(0, 5), *_events(10, 20)]
    found = lab.check()
    assert found.differences == ["partition 0: 5 gone before they were archived: 5-9"]
    assert (found.lost, found.equal) == (5, False)
    assert gaps_in(lab) == [(0, 5, 9, "retention")]
    assert _lost() - lost == 5


def test_records_that_compaction_took_before_they_were_archived_are_told(lab: Archive) -> None:
    """Of a topic as it was configured before: compaction may come at any time."""
    lab.topic = LAG
    values = [lag_event("g", NOW + at, "OK", 1).to_bytes() for at in range(400)]
    lab.send(values[:10])
    lab.once()
    assert lab.check().equal
    lost = _lost("lag")
    lab.compact(lab.name)
    lab.send(values[10:])
    lab.until_compacted(lab.name, below=400, kept=100)
    lab.once()
    archived = {int(row["offset"]) for row in lab.rows()}
    gone = set(range(max(archived))) - archived
    found = lab.check()
    assert gone
    assert (found.lost, found.missing, found.equal) == (len(gone), 0, False)
    recorded = gaps_in(lab)
    assert gone == {offset for gap in recorded for offset in range(gap[1], gap[2] + 1)}
    assert {cause for *_, cause in recorded} == {"compaction"}
    assert _lost("lag") - lost == len(gone)


def test_gaps_that_are_older_than_the_archive_are_no_loss(lab: Archive) -> None:
    lab.topic = LAG
    lab.compact(lab.name)
    lab.send([lag_event("g", NOW + at, "OK", 1).to_bytes() for at in range(400)])
    lab.until_compacted(lab.name, below=400, kept=100)
    lost = _lost("lag")
    lab.once(batch_records=50)
    assert {cause for *_, cause in gaps_in(lab)} == {"before_archive"}
    assert lab.check().equal
    assert _lost("lag") == lost


def gaps_in(lab: Archive) -> list[Any]:
    """Partition, first and last offset, cause."""
    table = lab.lake.read(lab.spark, lab.lake.gaps)
    assert table is not None
    rows = table.select("partition", "from", "to", "cause").collect()
    return sorted((tuple(row) for row in rows), key=lambda gap: gap[:2])


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


def test_a_running_archive_survives_a_failure_and_a_topic_made_anew_and_stops_when_told_to(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, failed = EventQuery._take, threading.Event()

    def fail_once(self: EventQuery, progress: Progress) -> None:
        if not failed.is_set():
            failed.set()
            raise PySparkException("once")
        take(self, progress)

    monkeypatch.setattr(EventQuery, "_take", fail_once)
    failures = _failures()
    behind = ARCHIVER_BEHIND.labels(OFFSETS.name)
    behind.set(-1)
    ARCHIVER_CAUGHT_UP.set(0)
    stop, clock = threading.Event(), QuickClock()
    started_ms = clock.now_ms()
    lab.send(_events(0, 10))
    running = _in_thread(lab, stop, clock)
    try:
        eventually(failed.is_set, timeout=120, message="the query has failed")
        lab.send(_events(10, 20))
        eventually(lambda: len(lab.rows()) == 20, timeout=120, message="all are archived")
        eventually(lambda: behind._value.get() == 0, timeout=120, message="none is behind")
        assert ARCHIVER_CAUGHT_UP._value.get() * 1000 >= started_ms
        lab.make_anew()
        lab.send(_events(100, 130))
        eventually(lambda: len(lab.rows()) == 50, timeout=120, message="and those of the new topic")
    finally:
        stop.set()
        running.join(60)
    assert not running.is_alive()
    assert _failures() > failures
    assert not lab.spark.streams.active
    assert lab.check().equal


def _failures() -> float:
    return float(ARCHIVER_FAILURES._value.get())


def _in_thread(lab: Archive, stop: threading.Event, clock: Clock) -> threading.Thread:
    running = threading.Thread(
        target=archive,
        args=(lab.spark, lab.settings, stop),
        kwargs={"once": False, "clock": clock, "topics": [OFFSETS]},
    )
    running.start()
    return running


SMALL_FILES = "spark.databricks.delta.autoCompact.minNumFiles"


@pytest.fixture
def few_small_files(spark: SparkSession) -> Iterator[None]:
    """Four are too many already."""
    usual = spark.conf.get(SMALL_FILES)
    assert usual is not None
    spark.conf.set(SMALL_FILES, "4")
    yield
    spark.conf.set(SMALL_FILES, usual)


@pytest.mark.usefixtures("few_small_files")
def test_small_files_are_joined_and_upkeep_removes_what_is_over(lab: Archive) -> None:
    for number in range(3):  # two files each
        lab.send(_events(2 * number, 2 * number + 1), partition=0)
        lab.send(_events(2 * number + 1, 2 * number + 2), partition=1)
        lab.once()
    folder = Path(lab.settings.archiver.path) / "bronze" / "events"
    assert len(list(folder.rglob("date=*/*.parquet"))) > len(_files(lab)) < 6
    events = DeltaTable.forPath(lab.spark, lab.lake.events)
    events.update("offset = 0", {"date": F.lit("2026-01-01").cast("date")})
    lab.spark.sql(
        f"ALTER TABLE delta.`{lab.lake.events}` "
        "SET TBLPROPERTIES (delta.deletedFileRetentionDuration = 'interval 0 hours')"
    )
    Upkeep(lab.spark, lab.lake, 30, SystemClock()).run()
    assert [row["offset"] for row in lab.rows()] == [1, 2, 1, 2]
    assert len(list(folder.rglob("date=*/*.parquet"))) == len(_files(lab))


def _files(lab: Archive) -> list[str]:
    table = lab.lake.read(lab.spark, lab.lake.events)
    assert table is not None
    return table.inputFiles()
