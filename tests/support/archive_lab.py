"""A lake and topics of one's own, on a real broker and in a real Spark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import Row, SparkSession
from support.archive_events import key, offset_event
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts.topics import OFFSETS, Topic
from warren.settings import Settings
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.check.topic_check import TopicCheck, check
from warren_archiver.lake.lake import Lake
from warren_archiver.spark_failures import told_by_spark
from warren_archiver.streaming.archive import archive

BAD = (b"not an event", b'{"v":1}', b"\xff")


@dataclass
class Archive:
    """A lake of one's own, of one topic of one's own."""

    spark: SparkSession
    settings: Settings
    admin: AdminClient
    producer: Producer
    topic: Topic = OFFSETS

    def send(self, values: Sequence[bytes | None], partition: int = 0, group: str = "g") -> None:
        refused: list[KafkaError] = []

        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                refused.append(error)

        for value in values:
            self.producer.produce(
                self.name, value, key=key(group), partition=partition, on_delivery=delivered
            )
        assert self.producer.flush(60) == 0
        assert not refused

    def once(self, **changes: object) -> None:
        """Bring the table of events up to the topic."""
        settings = self.changed(**changes)
        with told_by_spark(settings.archiver.path):
            self.lake.ensure(self.spark)
            Bronze(self.spark, settings, self.lake, [self.topic], SystemClock()).take()

    def whole_pass(self, *more: Topic, **changes: object) -> None:
        """Bring all tables up to the topic, and to `more`."""
        topics = [self.topic, *more]
        archive(self.spark, self.changed(**changes), clock=SystemClock(), topics=topics)

    def changed(self, **changes: object) -> Settings:
        archiver = self.settings.archiver.model_copy(update=changes)
        return self.settings.model_copy(update={"archiver": archiver})

    def check(self) -> TopicCheck:
        (found,) = check(self.spark, self.settings, topics=[self.topic])
        return found

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

    def gaps(self) -> list[Any]:
        """Partition, first and last offset, cause."""
        table = self.lake.read(self.spark, self.lake.gaps)
        assert table is not None
        rows = table.select("partition", "from", "to", "cause").collect()
        return sorted((tuple(row) for row in rows), key=lambda gap: gap[:2])

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


def events_between(start: int, end: int) -> list[bytes]:
    return [offset_event("g", position).to_bytes() for position in range(start, end)]
