"""A batch of events parsed: what each topic's contract accepts, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import Topic

from warren_archiver.lake.contract_view import ContractView


class Batch:
    """Parsed once, however many tables are made of it."""

    def __init__(self, parsed: Mapping[Topic, DataFrame], views: Mapping[Topic, ContractView]):
        self._parsed = parsed
        self._views = views
        parts = [
            frame.select(F.lit(topic.name).alias("topic"), F.col("reason").isNull().alias("good"))
            for topic, frame in parsed.items()
        ]
        counted = reduce(DataFrame.unionAll, parts).groupBy("topic", "good").count().collect()
        self._there = {(row["topic"], row["good"]) for row in counted}

    def accepted(self, topic: Topic) -> DataFrame | None:
        """Rows with the contract's columns; None when there is none."""
        if (topic.name, True) not in self._there:
            return None
        return self._views[topic].accepted(self._parsed[topic])

    def refused(self) -> DataFrame | None:
        """Of all topics; None when there is none."""
        refused = [
            self._views[topic].refused(frame)
            for topic, frame in self._parsed.items()
            if (topic.name, False) in self._there
        ]
        return reduce(DataFrame.unionAll, refused) if refused else None


@contextmanager
def parsed(
    events: DataFrame, topics: Mapping[str, Topic], views: Mapping[Topic, ContractView]
) -> Iterator[Batch]:
    """Rows of bronze while they are at hand; `topics`, by name: those that they are of."""
    events.persist()
    frames: dict[Topic, DataFrame] = {}
    try:
        for name, topic in topics.items():
            of_topic = events.where(F.col("topic") == name)
            frames[topic] = views[topic].parse(of_topic).persist()
        yield Batch(frames, views)
    finally:
        for frame in (*frames.values(), events):
            frame.unpersist()
