"""Rows of the events table by their offsets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.gaps import Place


def within(
    events: DataFrame,
    ids: Mapping[str, str],
    starts: Mapping[Place, int],
    ends: Mapping[Place, int],
) -> DataFrame:
    """Rows of topics that had these ids, from `starts` (else 0) to `ends`, exclusive."""
    ranges = [
        (F.col("topic") == topic)
        & (F.col("topic_id") == ids[topic])
        & (F.col("partition") == partition)
        & F.col("offset").between(starts.get((topic, partition), 0), end - 1)
        for (topic, partition), end in ends.items()
        if starts.get((topic, partition), 0) < end
    ]
    return events.where(reduce(or_, ranges, F.lit(False)))
