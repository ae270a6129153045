"""Ranges of time that events touch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce

from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812  # Spark's own convention
)

from warren_archiver.lake.lake import EARLIEST, LATEST
from warren_archiver.refining.models import MINUTE_MS

MOST_RANGES = 24
LEAST_SKEW_MS, MOST_SKEW_MS = 600_000, 30 * 86_400_000
"""An event that happened near another may have been appended so much sooner or later than it says:
as far off as one of those that are new was, within these bounds."""
_HOUR = 3_600_000_000
_LATEST = (LATEST - EARLIEST) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Times:
    """Ranges of time, Unix microseconds, the ends included: in order, and apart."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> Times:
        """The nearest are joined until there are few; one that is dated far away stays apart."""
        found, gap = sorted(ranges), 0
        while len(joined := _joined(found, gap)) > MOST_RANGES:
            gap = gap * 2 + _HOUR
        return cls(tuple(joined))

    def widened(self, before_ms: int, after_ms: int, unit_ms: int = MINUTE_MS) -> Times:
        """With so much more at both sides, from the beginning of a unit to the end of one."""
        unit = unit_ms * 1000
        return Times.of(
            (
                max((first - before_ms * 1000) // unit * unit, 0),
                min((last + after_ms * 1000) // unit * unit + unit - 1, _LATEST),
            )
            for first, last in self.ranges
        )

    def since(self, day: date) -> Times:
        """Without what is before that day."""
        begin = (day - EARLIEST.date()) // timedelta(microseconds=1)
        return Times(tuple((max(a, begin), b) for a, b in self.ranges if b >= begin))

    @property
    def days(self) -> list[date]:
        """All that the ranges reach into."""
        return sorted(
            {
                begin + timedelta(days=number)
                for begin, end in ((_day(first), _day(last)) for first, last in self.ranges)
                for number in range((end - begin).days + 1)
            }
        )

    @property
    def on_days(self) -> str:
        """A condition in Spark's SQL: files of other days are not opened."""
        days = (f"DATE'{day}'" for day in self.days)
        return f"date IN ({', '.join(days)})"

    def condition(self, at: str) -> str:
        """In Spark's SQL; `date` is the day of `at`."""
        ranges = " OR ".join(
            f"`{at}` BETWEEN {_literal(first)} AND {_literal(last)}" for first, last in self.ranges
        )
        return f"{self.on_days} AND ({ranges})"


def _joined(ranges: Sequence[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if found and first - found[-1][1] <= gap + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def _literal(moment: int) -> str:
    return f"TIMESTAMP'{EARLIEST + timedelta(microseconds=moment):%Y-%m-%d %H:%M:%S.%f}'"


def _day(moment: int) -> date:
    return (EARLIEST + timedelta(microseconds=moment)).date()


def times_of(found: Mapping[str, DataFrame]) -> tuple[dict[str, Times], dict[str, Times]]:
    """When events happened, and when others that are near were appended, of each table that has
    any: by the hour, so that what is dated far away stays apart."""
    each = [
        frame.select(F.lit(name).alias("name"), "happened", "kafka_timestamp")
        for name, frame in found.items()
    ]
    at, appended = F.unix_micros("happened"), F.unix_micros("kafka_timestamp")
    hours = (
        reduce(DataFrame.unionAll, each)
        .groupBy("name", F.date_trunc("hour", "happened"))
        .agg(
            F.min(at).alias("first"),
            F.max(at).alias("last"),
            F.max(F.abs(at - appended)).alias("skew"),
        )
        .collect()
    )
    ranges: dict[str, list[tuple[int, int]]] = defaultdict(list)
    near: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in hours:
        skew = min(max(row["skew"], LEAST_SKEW_MS * 1000), MOST_SKEW_MS * 1000)
        ranges[row["name"]].append((row["first"], row["last"]))
        near[row["name"]].append((max(row["first"] - skew, 0), min(row["last"] + skew, _LATEST)))
    return _named(ranges), _named(near)


def _named(ranges: Mapping[str, list[tuple[int, int]]]) -> dict[str, Times]:
    return {name: Times.of(each) for name, each in ranges.items()}
