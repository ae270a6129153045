"""`warren.history`: what a group or a topic was like, minute by minute, from the archive's minutes.

Only the days that are asked for are opened. A file has a few of a day's groups after upkeep, and
its parts say which: a day of one group among a thousand takes some hundredths of a second.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Self

from warren.history.lake_tables import LakeTables

MINUTE_MS = 60_000
MOST_POINTS = 20_000
_WHO = {"cluster": "VARCHAR", "group": "VARCHAR"}
_TOPIC = {"topic": "VARCHAR"}
_MOVES = {"minute": "TIMESTAMPTZ", "lag": "BIGINT", "produced": "BIGINT", "consumed": "BIGINT"}
_LATENESS = {"minute": "TIMESTAMPTZ", "late_max_ms": "BIGINT", "time_to_loss_ms": "BIGINT"}
_PRODUCED = {"cluster": "VARCHAR", "minute": "TIMESTAMPTZ", "produced": "BIGINT"}


@dataclass(frozen=True, slots=True)
class Point:
    """What is known of [at, at + step). None: nobody knows, or it was not asked."""

    at: int
    """Unix milliseconds."""
    lag: int | None
    """Records, at its last minute's end."""
    lag_max: int | None
    """Of its minutes' ends."""
    produced: int | None
    """Records."""
    consumed: int | None
    late_ms: int | None
    """Age of the oldest record not consumed, the greatest."""
    time_to_loss_ms: int | None
    """Until retention deletes something, the least."""


class History:
    """Of one lake. Safe for several threads: they take turns."""

    def __init__(self, path: str, options: Mapping[str, str] | None = None) -> None:
        self._tables = LakeTables(path, options)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._tables.close()

    def group(
        self, cluster: str, group: str, start: int, end: int, step: int, topic: str | None = None
    ) -> list[Point]:
        """A group, or what it has to do with one topic, in [start, end), Unix milliseconds. `step`
        in milliseconds, whole minutes. Steps of which nothing is known are left out.

        Raises ValueError for a step or a period that cannot be, LakeUnreadable.
        """
        values = {**_bounds(start, end, step), "cluster": cluster, "group": group}
        days = _days(start, end)
        who = 'cluster = $cluster AND "group" = $group'
        if topic is not None:
            values["topic"] = topic
        of_topic = "" if topic is None else " AND topic = $topic"
        with self._lock:
            if topic is None:
                self._tables.view("minutes", "silver/group_minutes", days, _WHO | _MOVES)
            else:
                columns = _WHO | _TOPIC | _MOVES
                self._tables.view("minutes", "silver/partition_minutes", days, columns)
            columns = _WHO | _TOPIC | _LATENESS
            self._tables.view("lateness", "silver/lateness_minutes", days, columns)
            query = _GROUP_QUERY.format(where=f"{who}{of_topic}")
            return _points(self._tables.rows(query, values))

    def topic(self, cluster: str, topic: str, start: int, end: int, step: int) -> list[Point]:
        """A topic, whether anybody consumes it or not: only `produced` is known. As `group`."""
        values = {**_bounds(start, end, step), "cluster": cluster, "topic": topic}
        with self._lock:
            days, columns = _days(start, end), _TOPIC | _PRODUCED
            self._tables.view("minutes", "silver/topic_minutes", days, columns)
            return _points(self._tables.rows(_TOPIC_QUERY, values))


_FIGURES = ("lag", "lag_max", "produced", "consumed", "late_ms", "time_to_loss_ms")
_STEP = "epoch_ms(minute) - epoch_ms(minute) % $step"
_WITHIN = "epoch_ms(minute) >= $start AND epoch_ms(minute) < $end"
_GROUP_QUERY = f"""
WITH of_minute AS (
  SELECT minute, sum(lag) AS lag, sum(produced) AS produced, sum(consumed) AS consumed
  FROM minutes WHERE {{where}} AND {_WITHIN} GROUP BY minute
), moved AS (
  SELECT {_STEP} AS "at", arg_max(lag, minute) AS lag, max(lag) AS lag_max,
    sum(produced) AS produced, sum(consumed) AS consumed
  FROM of_minute GROUP BY 1
), late AS (
  SELECT {_STEP} AS "at", max(late_max_ms) AS late_ms, min(time_to_loss_ms) AS time_to_loss_ms
  FROM lateness WHERE {{where}} AND {_WITHIN} GROUP BY 1
)
SELECT coalesce(moved."at", late."at") AS "at", lag, lag_max, produced, consumed, late_ms,
  time_to_loss_ms
FROM moved FULL JOIN late ON moved."at" = late."at" ORDER BY 1
"""
_TOPIC_QUERY = f"""
SELECT {_STEP} AS "at", NULL AS lag, NULL AS lag_max, sum(produced) AS produced, NULL AS consumed,
  NULL AS late_ms, NULL AS time_to_loss_ms
FROM minutes WHERE cluster = $cluster AND topic = $topic AND {_WITHIN} GROUP BY 1 ORDER BY 1
"""


def _bounds(start: int, end: int, step: int) -> dict[str, Any]:
    if step < MINUTE_MS or step % MINUTE_MS:
        raise ValueError(f"a step of {step} ms is no whole number of minutes")
    if not 0 <= start < end:
        raise ValueError(f"{start} to {end} is no period")
    if (end - start) // step > MOST_POINTS:
        raise ValueError(f"more than {MOST_POINTS} points: ask for larger steps")
    return {"start": start, "end": end, "step": step}


def _days(start: int, end: int) -> list[date]:
    first, last = (datetime.fromtimestamp(at / 1000, UTC).date() for at in (start, end - 1))
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _points(rows: list[dict[str, Any]]) -> list[Point]:
    return [
        Point(row["at"], *(None if row[name] is None else int(row[name]) for name in _FIGURES))
        for row in rows
    ]
