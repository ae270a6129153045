"""Events parsed: new rows of each table that is made of events, and when they were.

Taken in parts that fit into memory: a file's size says little, as events that are alike take 20
bytes each, and 450 once they are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import StructField, StructType
from warren.contracts.topics import Topic

from warren_archiver.lake.contract_view import ContractView
from warren_archiver.lake.table import SMALL, TEXT, WHOLE
from warren_archiver.silver.models import MODELS, OF
from warren_archiver.silver.scope import Times

MOST_BYTES = 128 * 2**20
"""Of values. The default heap of 1 GB has room for them, and for what is made of them."""
_PLACE = ("topic", "topic_id", "partition")
_SPAN = StructType(
    [
        StructField("topic", TEXT),
        StructField("topic_id", TEXT),
        StructField("partition", SMALL),
        StructField("_first", WHOLE),
        StructField("_count", WHOLE),
    ]
)
Views = Mapping[Topic, ContractView]


class Part(NamedTuple):
    """Rows of bronze, the names of the topics that they may be of, about how many they are."""

    events: DataFrame
    topics: set[str]
    rows: int
    number: int = 0
    of: int = 1


def in_parts(events: DataFrame, most_bytes: int = MOST_BYTES) -> Iterator[Part]:
    """Each row once; of each partition the earlier ones in the first part, and so on."""
    first, last = F.min("offset"), F.max("offset")
    spans = (
        events.groupBy(*_PLACE)
        .agg(
            first.alias("first"),
            last.alias("last"),
            F.sum(F.length("value")).alias("bytes"),
            F.count(F.lit(1)).alias("rows"),
        )
        .collect()
    )
    parts = -(-sum(span["bytes"] or 0 for span in spans) // most_bytes)
    topics, counted = {span["topic"] for span in spans}, sum(span["rows"] for span in spans)
    if parts <= 1:
        yield Part(events, topics, counted)
        return
    rows = [(*span[:3], span["first"], span["last"] - span["first"] + 1) for span in spans]
    known = F.broadcast(events.sparkSession.createDataFrame(rows, _SPAN))
    part = F.expr(f"(offset - _first) * {parts} DIV _count")
    numbered = events.join(known, list(_PLACE)).withColumn("_part", part)
    for number in range(parts):
        of_part = numbered.where(F.col("_part") == number)
        yield Part(of_part.select(*events.columns), topics, counted // parts, number, parts)


class Batch(NamedTuple):
    """By the tables' names, only those that there is something new of."""

    rows: Mapping[str, DataFrame]
    times: Mapping[str, Times]


@contextmanager
def parsed(events: DataFrame, topics: Mapping[str, Topic], views: Views) -> Iterator[Batch]:
    """Rows of bronze while they are at hand, parsed once however many tables are made of them;
    `topics`, by name: those that they are of."""
    events.persist()
    frames = {topic: frame.persist() for topic, frame in _parsed(events, topics, views).items()}
    try:
        rows = _new_rows(frames, views)
        # Of each table that has rows: by the hour, so that what is dated far away stays apart.
        each = [
            frame.select(F.lit(name).alias("name"), F.col(OF[name].reach.at).alias("at"))
            for name, frame in rows.items()
        ]
        hours = (
            reduce(DataFrame.unionAll, each)
            .groupBy("name", F.date_trunc("hour", "at"))
            .agg(
                F.unix_micros(F.min("at")).alias("first"), F.unix_micros(F.max("at")).alias("last")
            )
            .collect()
        )
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row in hours:
            found[row["name"]].append((row["first"], row["last"]))
        times = {name: Times.of(ranges) for name, ranges in found.items()}
        yield Batch({name: rows[name] for name in times}, times)
    finally:
        for frame in (*frames.values(), events):
            frame.unpersist()


def all_rows(events: DataFrame, topics: Mapping[str, Topic]) -> dict[str, DataFrame]:
    """Rows of each table that is made of these topics' events."""
    views = {topic: ContractView(topic) for topic in topics.values()}
    return _new_rows(_parsed(events, topics, views), views)


def _parsed(events: DataFrame, topics: Mapping[str, Topic], views: Views) -> dict[Topic, DataFrame]:
    return {
        topic: views[topic].parse(events.where(F.col("topic") == name))
        for name, topic in topics.items()
    }


def _new_rows(frames: Mapping[Topic, DataFrame], views: Views) -> dict[str, DataFrame]:
    found = {}
    refused = [views[topic].refused(frame) for topic, frame in frames.items()]
    for model in MODELS:
        if model.rows is None:
            continue
        if model.topic is None:
            found[model.name] = model.rows(reduce(DataFrame.unionAll, refused))
        elif model.topic in frames:
            accepted = views[model.topic].accepted(frames[model.topic])
            found[model.name] = model.rows(accepted)
    return found
