"""A batch of events: where each partition begins and ends in it.

The commit that writes its rows notes that, so that rows and positions cannot differ: whoever is
killed, sets the table back or restores a backup has both or neither.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import (
    DataFrame,
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)

from warren_archiver.lake.gaps import Place
from warren_archiver.lake.lake import LOOKED_BACK, Commits, info

Offsets = Mapping[Place, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """`ids`: of the topics, by name. `ends`, exclusive: the next batch begins there. `since`: what
    has no row from there to the end is a gap, or may become one. `rows` that the commit has, at
    `at_ms`, Unix milliseconds.
    """

    number: int
    ids: Mapping[str, str]
    since: Offsets
    ends: Offsets
    rows: int = 0
    at_ms: int = 0

    @property
    def whole(self) -> bool:
        """Whether each offset has a row."""
        return self.rows == sum(end - self.since[place] for place, end in self.ends.items())

    def of(self, topics: Mapping[str, str]) -> Batch:
        """What it says of topics with these ids."""
        ids = {name: id_ for name, id_ in self.ids.items() if topics.get(name) == id_}
        return replace(self, ids=ids, since=_of(self.since, ids), ends=_of(self.ends, ids))

    def text(self) -> str:
        """As a commit notes it: offsets in the order of partitions."""
        topics: dict[str, dict[str, object]] = {
            name: {"id": id_, "since": [], "ends": []} for name, id_ in self.ids.items()
        }
        for column, offsets in (("since", self.since), ("ends", self.ends)):
            for topic, of_topic in by_topic(offsets).items():
                topics[topic][column] = [*of_topic.values()]
        noted = {"warren_batch": self.number, "topics": topics}
        return json.dumps(noted, separators=(",", ":"))


def read(text: str | None, rows: int, at_ms: int) -> Batch | None:
    """The batch that a commit has noted; None where it notes something else, or nothing."""
    try:
        noted = json.loads(text or "")
        topics = noted["topics"]
        return Batch(
            noted["warren_batch"],
            {name: each["id"] for name, each in topics.items()},
            _places({name: each["since"] for name, each in topics.items()}),
            _places({name: each["ends"] for name, each in topics.items()}),
            rows,
            at_ms,
        )
    except (ValueError, TypeError, KeyError):
        return None


def last_batch(spark: SparkSession, path: str) -> Batch | None:
    """The one that the table has; None where its log does not say: it has none, was set back since,
    is of an earlier Warren, or a batch has created it."""
    commits = Commits(spark, path)
    for version in reversed(commits.versions()[-LOOKED_BACK:]):
        said = info(commits.actions(version))
        if said.get("operation") == "RESTORE" or version == 0:
            return None
        rows = int(said.get("operationMetrics", {}).get("numOutputRows", 0))
        if (found := read(said.get("userMetadata"), rows, said.get("timestamp", 0))) is not None:
            return found
    return None


def batch_of_rows(events: DataFrame, number: int) -> Batch:
    """Where the rows of each topic end, of the newest one of a name: rows are written a whole batch
    at a time, in the order of their offsets."""
    newest: dict[str, tuple[object, str]] = {}
    ends: dict[tuple[str, str], dict[Place, int]] = defaultdict(dict)
    rows = events.groupBy("topic", "topic_id", "partition").agg(
        F.max("offset").alias("last"), F.max("timestamp").alias("at")
    )
    for topic, id_, partition, last, at in rows.collect():
        ends[topic, id_][topic, partition] = last + 1
        newest[topic] = max(newest.get(topic, (at, id_)), (at, id_), key=lambda each: each[0])
    ids = {topic: id_ for topic, (_, id_) in newest.items()}
    found = {place: end for name in ids.items() for place, end in ends[name].items()}
    return Batch(number, ids, found, found)


def next_batch(last: Batch, since: Offsets, starts: Offsets, goal: Offsets, most: int) -> Batch:
    """What follows: up to the `goal`, of each partition its share of `most` records. `starts`:
    where its log begins now; `since`: as in Batch, of what the last one has settled."""
    firsts = begins(last, starts)
    behind = {place: max(0, goal.get(place, 0) - first) for place, first in firsts.items()}
    share = min(1.0, most / max(1, sum(behind.values())))
    ends = {
        place: firsts[place] + (min(count, max(1, round(count * share))) if count else 0)
        for place, count in behind.items()
    }
    gone = {place: end for place, end in last.ends.items() if place not in ends}
    return Batch(
        last.number + 1,
        last.ids,
        {place: since.get(place, last.ends.get(place, 0)) for place in (*ends, *gone)},
        ends | gone,
    )


def begins(last: Batch, starts: Offsets) -> dict[Place, int]:
    """Where what follows the last batch begins: not before the log does."""
    return {place: max(last.ends.get(place, 0), start) for place, start in starts.items()}


def by_topic(offsets: Offsets) -> dict[str, dict[int, int]]:
    """In the order of partitions."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for (topic, partition), offset in sorted(offsets.items()):
        found[topic][partition] = offset
    return found


def _of(offsets: Offsets, topics: Mapping[str, str]) -> dict[Place, int]:
    return {place: offset for place, offset in offsets.items() if place[0] in topics}


def _places(topics: Mapping[str, list[int]]) -> dict[Place, int]:
    return {
        (topic, partition): offset
        for topic, offsets in topics.items()
        for partition, offset in enumerate(offsets)
    }
