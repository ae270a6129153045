"""`warren archive check`: topics as a plain consumer finds them, the table as Spark counts it."""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import SystemClock
from warren.contracts.topics import ARCHIVED, Topic
from warren.kafka.connection import connect
from warren.kafka.topics import HOME
from warren.settings import Settings

from warren_archiver.check.topic_check import TableOffsets, TopicCheck, compare, read_offsets
from warren_archiver.lake.gaps import Cause, Place, runs
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.offset_ranges import OffsetRanges
from warren_archiver.steps import Step, Tell, untold
from warren_archiver.topics import log_ends, topic_ids

LOOK_EVERY = 2.0  # seconds, or as long as a look takes: the archiver may need the processors


def check(
    spark: SparkSession,
    settings: Settings,
    *,
    topics: Sequence[Topic] = ARCHIVED,
    wait: float,
    tell: Tell = untold,
) -> list[TopicCheck]:
    """Checks every topic. Raises KafkaError.

    A running archiver may take `wait` seconds to archive what is in the topics now.
    """
    home = settings.home
    admin = connect(HOME, "home", home)
    lake = Lake.at(settings.archiver.path)
    names = {topic.full_name(home.topic_prefix): topic for topic in topics}
    retained = {name: read_offsets(home, admin, name) for name in names}
    ids = topic_ids(admin, names)
    checks: dict[str, TopicCheck] = {}
    clock, pause = SystemClock(), threading.Event()
    deadline = clock.monotonic() + wait
    tell(Step("topics", "", 0, len(names)))
    while True:
        started = clock.monotonic()
        late = started >= deadline
        todo = [name for name in names if name not in checks or not checks[name].equal]
        events = _events(spark, lake, {name: ids[name] for name in todo})
        tables = {} if events is None else _archived(events)
        older = _older(spark, lake, ids)
        for name in todo:
            ends = log_ends(admin, name)  # after the table: its rows lie below it
            checks[name] = compare(
                names[name], name, retained[name], tables.get(name, {}), ends, older.get(name, {})
            )
        equal = sum(found.equal for found in checks.values())
        tell(Step("topics", "", len(names) if late else equal, len(names)))
        if late or all(found.equal for found in checks.values()):
            return [checks[name] for name in names]
        pause.wait(max(LOOK_EVERY, clock.monotonic() - started))


def _events(spark: SparkSession, lake: Lake, ids: Mapping[str, str]) -> DataFrame | None:
    """Of the topics that have these ids, not of those before them."""
    table = lake.read(spark, lake.events)
    if table is None:
        return None
    pairs = [F.struct(F.lit(name), F.lit(id_)) for name, id_ in ids.items()]
    return table.where(F.struct("topic", "topic_id").isin(pairs))


def _older(
    spark: SparkSession, lake: Lake, ids: Mapping[str, str]
) -> dict[str, dict[int, OffsetRanges]]:
    """Gaps from before the archive began, by topic and partition."""
    table = lake.read(spark, lake.gaps)
    if table is None:
        return {}
    gaps = table.where(F.col("cause") == Cause.BEFORE_ARCHIVE.value)
    ranges: dict[str, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for row in gaps.collect():
        if row["topic_id"] == ids.get(row["topic"]):
            ranges[row["topic"]][row["partition"]].append((row["from"], row["to"] + 1))
    return {
        topic: {partition: OffsetRanges.of(each) for partition, each in of.items()}
        for topic, of in ranges.items()
    }


def _archived(events: DataFrame) -> dict[str, dict[int, TableOffsets]]:
    """By topic and partition."""
    place = ("topic", "partition")
    ranges: dict[Place, list[tuple[int, int]]] = defaultdict(list)
    for run in runs(events.dropDuplicates([*place, "offset"])):
        ranges[run.place].append((run.first, run.last + 1))
    found: dict[str, dict[int, TableOffsets]] = defaultdict(dict)
    for topic, partition, rows in events.groupBy(*place).count().collect():
        offsets = OffsetRanges.of(ranges[topic, partition])
        found[topic][partition] = TableOffsets(offsets, rows)
    return found
