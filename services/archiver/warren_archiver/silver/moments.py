"""Moments of time: milliseconds as timestamps."""

from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.events import EARLIEST, LATEST

SINGLE_MS = 600_000
"""After so long without an observation, what happened since is not said of one moment."""
LATEST_MS = (LATEST - EARLIEST) // timedelta(milliseconds=1)  # a float would be a day later


def moment(milliseconds: Column) -> Column:
    """Of Unix milliseconds; the nearest that all readers can show. Null for negative ones, which
    stand for unknown."""
    within = F.least(milliseconds, F.lit(LATEST_MS))
    return F.when(milliseconds >= int(EARLIEST.timestamp()), F.timestamp_millis(within))
