"""What new rows touch: which rows of a table have to be computed anew, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from operator import or_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.events import EARLIEST, LATEST

MOST_RANGES = 24
_MINUTE, _HOUR = 60_000_000, 3_600_000_000
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

    def widened(self, before_ms: int, after_ms: int) -> Times:
        """With so much more at both sides, from the beginning of a minute to the end of one."""
        return Times.of(
            (
                max((first - before_ms * 1000) // _MINUTE * _MINUTE, 0),
                min((last + after_ms * 1000) // _MINUTE * _MINUTE + _MINUTE - 1, _LATEST),
            )
            for first, last in self.ranges
        )

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

    def within(self, rows: DataFrame, at: str) -> DataFrame:
        """Rows of these times; `date` is the day of `at`: files of other days are not opened."""
        each = (
            F.col(at).between(*(F.timestamp_micros(F.lit(moment)) for moment in ends))
            for ends in self.ranges
        )
        return rows.where(F.col("date").isin(self.days) & reduce(or_, each))


def _joined(ranges: Sequence[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if found and first - found[-1][1] <= gap + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def _day(moment: int) -> date:
    return (EARLIEST + timedelta(microseconds=moment)).date()


def of_same(rows: DataFrame, keys: DataFrame) -> DataFrame:
    """Rows that belong to what new ones belong to; `keys`: that, perhaps several times."""
    return rows.join(F.broadcast(keys.distinct()), keys.columns, "left_semi")
