"""The table of events brought up to the topics, batch by batch."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import structlog
from confluent_kafka.admin import AdminClient
from delta.tables import DeltaTable
from pyspark.sql import (
    DataFrame,
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.kafka.connection import connect
from warren.kafka.topics import HOME
from warren.metrics.archiver import (
    ARCHIVER_BEHIND,
    ARCHIVER_CAUGHT_UP,
    ARCHIVER_LOST,
    ARCHIVER_ROWS,
)
from warren.settings import Settings
from warren.words import moment

from warren_archiver.amount import FEW_EVENTS, fit
from warren_archiver.bronze.batch import (
    Batch,
    Offsets,
    batch_of_rows,
    begins,
    last_batch,
    next_batch,
)
from warren_archiver.bronze.source import records
from warren_archiver.errors import AnotherWrites, LakeGone
from warren_archiver.lake.gaps import (
    GAPS_SCHEMA,
    Cause,
    Gap,
    Place,
    at_ends,
    gaps,
    runs,
    unrecorded,
    within,
)
from warren_archiver.lake.lake import EVENTS_SCHEMA, Lake, events
from warren_archiver.topics import log_ends, log_starts, topic_ids

log = structlog.get_logger(__name__)
WRITER = "warren-bronze"
"""By this name Delta knows the batches' numbers: of two that write the same one, one does."""
ANSWER_SECONDS = 5.0


class Bronze:
    """Each step can be done again: whoever is killed amid it leaves nothing half done."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        lake: Lake,
        topics: Collection[Topic],
        clock: Clock,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._lake = lake
        self._topics = {topic.full_name(settings.home.topic_prefix): topic for topic in topics}
        self._clock = clock
        self._last: Batch | None = None
        self._counted = -1
        """Number of the batch whose rows were counted last."""
        for topic in topics:  # from 0 on: alerts see the first record that is lost
            ARCHIVER_LOST.labels(topic.name)

    def take(self) -> None:
        """Write all that is in the topics now.

        Raises KafkaError, also where a topic is missing, LakeGone, AnotherWrites or what Spark
        raises.
        """
        self._last = None  # whatever was done to the table since
        admin = connect(HOME, HOME, self._settings.home, ANSWER_SECONDS)
        of: Mapping[str, str] = {}
        goal: Offsets = {}
        while True:
            ids = topic_ids(admin, self._topics)
            last = self._known(admin, ids)
            if ids != of:
                of, goal = ids, _each(ids, log_ends, admin)
            since, starts = self._settle(last, admin), _each(ids, log_starts, admin)
            batch = next_batch(last, since, starts, goal, self._settings.archiver.batch_records)
            behind = Counter[str]()
            for place, end in goal.items():
                behind[place[0]] += max(0, end - last.ends.get(place, 0))
            for name, offsets in behind.items():
                ARCHIVER_BEHIND.labels(self._called(name)).set(offsets)
            if not any(behind.values()):
                ARCHIVER_CAUGHT_UP.set(self._clock.now_ms() / 1000)
            if batch.ends == last.ends:
                return
            self._write(batch, begins(last, starts))

    def _known(self, admin: AdminClient, ids: Mapping[str, str]) -> Batch:
        """The last batch; of topics that it does not know it says where they begin."""
        if self._last is None:
            table = self._table
            self._last = last_batch(self._spark, self._lake.events)
            if self._last is None:
                # A partition without rows begins where its log does.
                found = batch_of_rows(table, self._clock.now_ms())
                if found.ids:
                    log.warning(
                        "the log of the table of events does not say where they end: its rows do"
                    )
                same = [name for name, id_ in found.ids.items() if ids.get(name) == id_]
                ends = {**_each(same, log_starts, admin), **found.ends}
                self._last = Batch(found.number, found.ids, ends, ends)
            self._counted = self._last.number  # by whoever wrote it, a pass before this one
            ARCHIVER_CAUGHT_UP.set((self._last.at_ms or self._clock.now_ms()) / 1000)
        last = self._last
        if ids == {name: last.ids.get(name) for name in ids}:
            return last
        anew = {name: last.ids[name] for name, id_ in ids.items() if last.ids.get(name, id_) != id_}
        if anew:
            self._end(last.of(anew), admin)
        kept = last.of(ids)
        starts = _each(ids.keys() - kept.ids.keys(), log_starts, admin)
        since = {place: 0 if place[0] in anew else at for place, at in starts.items()}
        settled = self._settle(kept, admin)
        first = Batch(
            last.number + 1,
            ids,
            {place: settled.get(place, end) for place, end in kept.ends.items()} | since,
            {**kept.ends, **starts},
        )
        return self._write(first, first.ends)

    def _write(self, batch: Batch, starts: Offsets) -> Batch:
        """From `starts`. Raises AnotherWrites, LakeGone."""
        started = self._clock.monotonic()
        ends = {place: end for place, end in batch.ends.items() if starts.get(place, end) < end}
        fit(self._spark, little=sum(ends.values()) - sum(starts[p] for p in ends) <= FEW_EVENTS)
        if ends:
            raw = records(self._spark, self._settings, {p: starts[p] for p in ends}, ends)
            rows = events(raw, batch.ids).coalesce(self._settings.archiver.writers)
        else:
            rows = self._spark.createDataFrame([], EVENTS_SCHEMA)
        (
            rows.write.format("delta")
            .mode("append")
            .option("userMetadata", batch.text())
            .option("txnAppId", WRITER)
            .option("txnVersion", batch.number)
            .save(self._lake.events)
        )
        self._last = last_batch(self._spark, self._lake.events)
        if self._last is None:
            # The write has created the table: it has to begin where the topics do.
            DeltaTable.forPath(self._spark, self._lake.events).delete()
            raise LakeGone(self._lake.events)
        if self._last.text() != batch.text():
            raise AnotherWrites(self._settings.archiver.path)
        seconds = self._clock.monotonic() - started
        if ends:
            log.info("batch written", records=self._last.rows, seconds=round(seconds, 2))
        return self._last

    def _called(self, topic: str) -> str:
        """Without the prefix. A later Warren may have archived some that this one does not know."""
        return topic.removeprefix(self._settings.home.topic_prefix)

    def _settle(self, batch: Batch, admin: AdminClient, *, deleted: bool = False) -> Offsets:
        """Record the gaps of a batch that are not recorded yet: places that go on missing at its
        end, and from where. Those wait for the next record, which tells how old the gap is, unless
        retention took it. Of topics that are `deleted` nobody knows where their logs began.

        Raises KafkaError.
        """
        found: list[Gap] = []
        since: dict[Place, int] = {}
        if not batch.whole:
            there = runs(within(self._table, batch.ids, batch.since, batch.ends))
            began = self._lake.began(self._spark)
            found, since = gaps(there, batch.since, batch.ends, began)
        self._count(batch, found, since)
        topics = {place[0] for place in (*since, *(gap.place for gap in found))}
        logs = {} if deleted else _each(topics, log_starts, admin)
        gone = at_ends(since, batch.ends, logs)
        self._record([*found, *gone], logs, batch.ids)
        over = {gap.place for gap in gone}
        return {place: at for place, at in since.items() if place not in over}

    def _count(self, batch: Batch, found: Sequence[Gap], since: Offsets) -> None:
        """Rows, of a batch once."""
        if batch.number == self._counted or batch is not self._last:
            return
        self._counted = batch.number
        rows = Counter(dict.fromkeys(batch.ids, 0))
        for place, end in batch.ends.items():
            rows[place[0]] += since.get(place, end) - batch.since[place]
        for gap in found:
            rows[gap.place[0]] -= gap.records
        for name, count in rows.items():
            ARCHIVER_ROWS.labels(self._called(name)).inc(count)

    def _record(self, found: Sequence[Gap], logs: Offsets, ids: Mapping[str, str]) -> None:
        """`logs`: where they begin now."""
        recorded: dict[Place, list[tuple[int, int]]] = defaultdict(list)
        topics = {gap.place[0]: ids[gap.place[0]] for gap in found}
        for row in self._recorded(topics).where(F.col("to").isNotNull()).collect() if found else ():
            recorded[row["topic"], row["partition"]].append((row["from"], row["to"] + 1))
        new = unrecorded(found, recorded)
        causes = [gap.cause(logs.get(gap.place, 0)) for gap in new]
        self._append(
            (topic, ids[topic], partition, gap.first, gap.last, cause)
            for gap, cause in zip(new, causes, strict=True)
            for topic, partition in [gap.place]
        )
        lost = [gap for gap in new if not gap.before_archive]
        for gap in lost:
            ARCHIVER_LOST.labels(self._called(gap.place[0])).inc(gap.records)
        for topic in sorted({gap.place[0] for gap in lost}):
            of_topic = [gap for gap in lost if gap.place[0] == topic]
            log.error(
                "records were compacted or deleted before they were archived",
                topic=self._called(topic),
                records=sum(gap.records for gap in of_topic),
                partition=of_topic[0].place[1],
                first=of_topic[0].first,
                gaps=len(of_topic),
            )

    def _end(self, last: Batch, admin: AdminClient) -> None:
        """Of topics that were deleted: what followed is gone. `last` says what it does of them."""
        disowned = self._disown(last.ids, admin)
        ends = last.ends
        if disowned:
            rows = within(self._table, last.ids, {}, last.ends)
            ends = {**last.since, **batch_of_rows(rows, 0).ends}
        ended = Batch(last.number, last.ids, last.since, ends, -1 if disowned else last.rows)
        since = self._settle(ended, admin, deleted=True)
        told = self._recorded(last.ids).where(F.col("cause") == Cause.TOPIC_MADE_ANEW.value)
        known = {(row["topic"], row["partition"]) for row in told.collect()}
        self._append(
            (place[0], last.ids[place[0]], place[1], since.get(place, end), None, cause)
            for place, end in ends.items()
            if place not in known
            for cause in [Cause.TOPIC_MADE_ANEW]
        )
        for name in last.ids:
            log.warning(
                "topic was made anew, archived from its beginning",
                topic=self._called(name),
                archived_before=sum(end for place, end in ends.items() if place[0] == name),
            )

    def _disown(self, ids: Mapping[str, str], admin: AdminClient) -> bool:
        """Remove rows of the topics that are there now which were written under the ids of those
        before: between their making and our notice. Whether there were any.
        """
        starts, ends = _each(ids, log_starts, admin), _each(ids, log_ends, admin)
        columns = ("topic", "partition", "offset", "timestamp", "key", "value")
        same = [f"events.{name} <=> new.{name}" for name in columns]
        pairs = ", ".join(f"('{topic}', '{id_}')" for topic, id_ in ids.items())
        new = events(records(self._spark, self._settings, starts, ends), ids)
        table = DeltaTable.forPath(self._spark, self._lake.events)
        merged = (
            table.alias("events")
            .merge(
                new.alias("new"),
                " AND ".join([f"(events.topic, events.topic_id) IN ({pairs})", *same]),
            )
            .whenMatchedDelete()
            .execute()
        )
        row = merged.first()
        return bool(row and row["num_deleted_rows"])

    @property
    def _table(self) -> DataFrame:
        return self._lake.ensured(self._spark, self._lake.events)

    def _recorded(self, ids: Mapping[str, str]) -> DataFrame:
        """Gaps of topics that had these ids."""
        table = self._lake.ensured(self._spark, self._lake.gaps)
        pairs = [F.struct(F.lit(name), F.lit(id_)) for name, id_ in ids.items()]
        return table.where(F.struct("topic", "topic_id").isin(pairs))

    def _append(self, rows: Iterable[tuple[object, ...]]) -> None:
        found_at = moment(self._clock.now_ms())
        listed = [(*row[:-1], str(row[-1]), found_at) for row in rows]
        if listed:
            frame = self._spark.createDataFrame(listed, GAPS_SCHEMA)
            frame.coalesce(1).write.format("delta").mode("append").save(self._lake.gaps)


def _each(
    topics: Collection[str],
    ask: Callable[[AdminClient, str], Mapping[int, int]],
    admin: AdminClient,
) -> dict[Place, int]:
    """By topic and partition."""
    return {
        (topic, partition): offset
        for topic in topics
        for partition, offset in ask(admin, topic).items()
    }
