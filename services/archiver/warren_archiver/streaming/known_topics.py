"""Which topic of a name the archiver reads: one that was deleted and made anew is another one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import structlog
from confluent_kafka.admin import AdminClient
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.contracts.topics import Topic

from warren_archiver.lake.checkpoint import Checkpoint, Ends, places_of
from warren_archiver.lake.events import events
from warren_archiver.lake.gaps import Place
from warren_archiver.lake.lake import TOPIC_IDS_SCHEMA, Lake
from warren_archiver.lake.lost_checkpoint import LogStarts, is_lost, make_again
from warren_archiver.moments import moment
from warren_archiver.streaming.gap_recorder import GapRecorder
from warren_archiver.topics import log_starts

log = structlog.get_logger(__name__)


class KnownTopics:
    """The ids of topics when they were last archived, beside the events."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        admin: AdminClient,
        topics: Mapping[str, Topic],
        clock: Clock,
    ) -> None:
        self._spark = spark
        self._lake = lake
        self.admin = admin
        """Asks the home cluster; another one once this one has failed."""
        self._topics = topics
        self._clock = clock

    def settle(self, ids: Mapping[str, str], raw: DataFrame, recorder: GapRecorder) -> None:
        """Before the query starts. Topics that were made anew will be read from their beginnings.

        `ids` of the topics now, `raw`: their records. Killed in between, it is done again.
        Raises KafkaError or LakeGone.
        """
        before = self._read()
        anew = {name: before[name] for name, now in ids.items() if before.get(name, now) != now}
        if anew:
            checkpoint = Checkpoint(self._spark, self._lake.checkpoint)
            written = checkpoint.written(self._lake.events)
            ends = archived(
                anew,
                checkpoint.ends(),
                checkpoint.beginnings() if written is None else written,
                lambda topic: log_starts(self.admin, topic),
            )
            self._disown(anew, raw)
            lately = checkpoint.lately()
            starts = {} if lately is None else lately[0]
            recorder.made_anew(None if starts is None else places_of(starts), ends, anew)
            checkpoint.forget(anew)
            for name in anew:
                log.warning(
                    "topic was made anew, archived from its beginning",
                    topic=self._topics[name].name,
                    archived_before=sum(end for (topic, _), end in ends.items() if topic == name),
                )
        self._write({name: now for name, now in ids.items() if before.get(name) != now})

    def find_checkpoint(self, ids: Mapping[str, str]) -> None:
        """Before that: where the checkpoint does not go with the table of events, the query will
        go on where the rows end. `ids` of the topics now. Raises KafkaError or LakeGone."""
        before = self._read()
        known = {name: before.get(name, id_) for name, id_ in ids.items()}
        if not is_lost(self._spark, self._lake, known):
            return

        def starts(topic: str) -> Mapping[int, int]:
            return log_starts(self.admin, topic) if ids[topic] == known[topic] else {}

        ends = make_again(self._spark, self._lake, known, starts)
        log.warning(
            "the checkpoint is not that of the table of events: it goes on where its rows end",
            checkpoint=self._lake.checkpoint,
            partitions=sum(len(of_topic) for of_topic in ends.values()),
        )

    def _disown(self, ids: Mapping[str, str], raw: DataFrame) -> None:
        """Removes rows of the topic that is there now which were written under the id of the one
        before: between its making and our notice.
        """
        columns = ("topic", "partition", "offset", "timestamp", "key", "value")
        same = [f"events.{name} <=> new.{name}" for name in columns]
        of_one_before = " OR ".join(
            f"(events.topic = '{topic}' AND events.topic_id = '{id_}')"
            for topic, id_ in ids.items()
        )
        table = DeltaTable.forPath(self._spark, self._lake.events)
        new = events(raw.where(F.col("topic").isin(list(ids))), ids)
        table.alias("events").merge(
            new.alias("new"),
            " AND ".join([f"({of_one_before})", *same]),
        ).whenMatchedDelete().execute()

    def _read(self) -> dict[str, str]:
        table = self._lake.ensured(self._spark, self._lake.topic_ids)
        rows = table.groupBy("topic").agg(F.max_by("topic_id", "found_at").alias("id")).collect()
        found = {row["topic"]: row["id"] for row in rows}
        if found.keys() >= self._topics.keys():  # as mostly
            return found
        # Where the ids were deleted, events have them.
        table = self._lake.ensured(self._spark, self._lake.events)
        newest = F.max_by("topic_id", "timestamp").alias("id")
        return {
            row["topic"]: row["id"] for row in table.groupBy("topic").agg(newest).collect()
        } | found

    def _write(self, ids: Mapping[str, str]) -> None:
        if not ids:
            return
        found_at = moment(self._clock)
        rows = [(name, id_, found_at) for name, id_ in ids.items()]
        frame = self._spark.createDataFrame(rows, TOPIC_IDS_SCHEMA)
        frame.coalesce(1).write.format("delta").mode("append").save(self._lake.topic_ids)


def archived(
    topics: Collection[str], planned: Ends, written: Ends, partitions: LogStarts
) -> dict[Place, int]:
    """Where what is archived of them ends, exclusive. A batch that was `planned` may not have been
    `written`: nothing of it is archived then."""
    found = {}
    for topic in topics:
        if topic in planned:
            before = written.get(topic, {})
            found[topic] = {partition: before.get(partition, 0) for partition in planned[topic]}
        else:  # made anew before a batch had it: nobody knows how many partitions it had
            found[topic] = dict.fromkeys(partitions(topic), 0)
    return places_of(found)
