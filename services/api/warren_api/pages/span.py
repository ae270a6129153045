"""Which time a page's charts are of: a span up to now, or a part that somebody looks at closer."""

from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends, Query
from pydantic import Field

from warren_api.model.past import (
    DAY_MS,
    HOUR_MS,
    Period,
    before_a_day,
    in_whole_steps,
    shortest_step,
)

MOST_STEPS = 180
LONGEST_MS = 90 * DAY_MS
SHORTEST_MS = 10 * 60_000  # to look at still closer
LATEST = 2**53

SpanName = Literal["", "1h", "6h", "24h", "7d", "30d"]
_SPANS: dict[str, tuple[int, str]] = {
    "1h": (HOUR_MS, "last hour"),
    "6h": (6 * HOUR_MS, "last 6 hours"),
    "24h": (DAY_MS, "last 24 hours"),
    "7d": (7 * DAY_MS, "last 7 days"),
    "30d": (30 * DAY_MS, "last 30 days"),
}


class Link(NamedTuple):
    """To another time; `label` as it is written."""

    label: str
    url: str
    is_current: bool = False
    name: str = ""
    """Where the label is a sign."""


class Shown(NamedTuple):
    """`span`: empty where `period` is a part; `now`: Unix milliseconds."""

    period: Period
    span: str
    now: int

    @property
    def words(self) -> str:
        """Behind the name of what is charted."""
        if self.span:
            return _SPANS[self.span][1]
        return f"{moment(self.period.start)} to {moment(self.period.end)}"

    @property
    def older(self) -> Period | None:
        """What the archive is asked for: a span of a day begins in a step of which the model has
        most.
        """
        is_old = self.period.start < self.now - DAY_MS - self.period.step
        return before_a_day(self.period, self.now) if is_old else None

    def clock(self, at: int) -> str:
        """A moment within it."""
        is_long = self.period.end - self.period.start > DAY_MS  # a time of day says too little
        return moment(at) if is_long else f"{_time(at):%H:%M} UTC"

    def links(self, longest: int = LONGEST_MS) -> list[Link]:
        """To spans of at most `longest` milliseconds, and to what is near."""
        spans = [
            Link(name, f"?span={name}", name == self.span)
            for name, (length, _) in _SPANS.items()
            if length <= longest
        ]
        return spans + list(self._near())

    def _near(self) -> list[Link]:
        start, end, _ = self.period
        length = end - start
        found = [_part("◀", "Earlier", start - length, start)]
        if end < self.now - self.now % 60_000:
            found.append(_part("▶", "Later", end, end + length))
        if length // 2 >= SHORTEST_MS:
            found.append(_part("+", "Closer", start + length // 4, end - length // 4))
        if length < LONGEST_MS:
            until = min(end + length // 2, self.now - self.now % 60_000)
            found.append(_part("\N{MINUS SIGN}", "Wider", until - 2 * length, until))
        return found


def shown(now: int, span: str = "1h", start: int | None = None, end: int | None = None) -> Shown:
    """What is asked for, in whole steps; a part of which only the end is said is an hour, one whose
    end is before its beginning is what is between the two.
    """
    if start is not None and end is not None:
        start, end = sorted((start, end))
    newest = now - now % 60_000
    if start is None and end is None:
        length = _SPANS[span or "1h"][0]
        step = shortest_step(length, MOST_STEPS)
        until = newest + -newest % step
        return Shown(Period(until - length, until, step), span or "1h", now)
    until = max(min(newest if end is None else end, newest), HOUR_MS)
    since = until - HOUR_MS if start is None or start >= until else start
    since = max(since, until - LONGEST_MS, 0)
    step = shortest_step(until - since, MOST_STEPS)
    return Shown(in_whole_steps(since, until, step), "", now)


Time = Annotated[int, Field(ge=0, le=LATEST)]


class SpanQuery(NamedTuple):
    """As the URL has it."""

    span: str
    start: int | None
    end: int | None

    def at(self, now: int) -> Shown:
        return shown(now, self.span, self.start, self.end)


def _span(
    span: SpanName = "",
    from_: Annotated[Time | None, Query(alias="from")] = None,
    to: Time | None = None,
) -> SpanQuery:
    return SpanQuery(span, from_, to)


Span = Annotated[SpanQuery, Depends(_span)]


def moment(at: int) -> str:
    """With its date."""
    return f"{_time(at):%d %b %H:%M} UTC"


def _part(label: str, name: str, start: int, end: int) -> Link:
    return Link(label, f"?{urlencode({'from': max(start, 0), 'to': end})}", name=name)


def _time(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)
