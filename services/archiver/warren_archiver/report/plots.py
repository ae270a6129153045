"""What the page draws: places as percents of a plot's width and height, and the same in words."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from warren.words import clock, counted, duration, moment, records

from warren_archiver.report.group_report import GroupReport, Incident, Report
from warren_archiver.report.period import DAY_MS, HOUR_MS, Period

MOST_GROUPS = 20
"""Rows of the timeline."""
MOST_PLOTS = 6
"""Plots of lag."""
MOST_TICKS = 9
_EDGE = 3.0
"""Percent: a tick nearer to an end than that has no room for its text."""
_MINUTE_MS = 60_000
_STEPS_MS = (
    *(seconds * 1000 for seconds in (10, 30, 60, 120, 300, 600, 900, 1800)),
    *(hours * HOUR_MS for hours in (1, 2, 3, 6, 12, 24, 48, 168, 744)),
)


class Tick(NamedTuple):
    """A moment on the axis of time."""

    left: float
    text: str


class Span(NamedTuple):
    """An incident within the period."""

    left: float
    width: float
    worst: str


class Plot(NamedTuple):
    """A group's row of the timeline, or its lag; `said` is the alt text."""

    name: str
    spans: list[Span]
    said: str
    area: str = ""
    """Path of the lag in a box of 100 x 100."""
    most: int = 0


def ticks(period: Period) -> list[Tick]:
    """Round moments, UTC."""
    length = period.length_ms
    step = next((each for each in _STEPS_MS if length <= each * MOST_TICKS), length // MOST_TICKS)
    if step >= DAY_MS:
        written = "%d %b"
    elif step < _MINUTE_MS:
        written = "%H:%M:%S"
    else:
        written = "%H:%M" if length <= DAY_MS else "%d %b %H:%M"
    first = -(-period.start_ms // step) * step
    every = (
        Tick(_percent(period, at), moment(at).strftime(written))
        for at in range(first, period.end_ms, step)
    )
    return [each for each in every if _EDGE <= each.left <= 100 - _EDGE]


def timeline(report: Report) -> list[Plot]:
    """When groups had incidents, the most troubled first."""
    rows = list(report.incidents_by_group.items())[:MOST_GROUPS]
    return [
        Plot(
            name := report.name(key),
            _spans(report.period, found),
            f"{name}: {_open_for(report.period, found)}",
        )
        for key, found in rows
    ]


def lags(report: Report) -> list[Plot]:
    """How far groups in trouble were behind or, without any, those that were furthest behind."""
    bad = [each for each in report.groups if each.in_trouble_ms]
    chosen = [each for each in (bad or report.groups[:2])[:MOST_PLOTS] if each.lag_max]
    return [_lag(report, each) for each in chosen if each.lag_over_time]


def _lag(report: Report, group: GroupReport) -> Plot:
    period, name = report.period, report.name(group.key)
    incidents = report.incidents_by_group.get(group.key, [])
    most = max(lag for _, lag in group.lag_over_time)
    reached = next(at for at, lag in group.lag_over_time if lag == most)
    _, last = group.lag_over_time[-1]
    median = "" if group.lag_p50 is None else f"median {records(group.lag_p50)}, "
    said = (
        f"Lag of {name}: {median}largest {records(most)}, reached after "
        f"{clock(max(reached, period.start_ms), period.end_ms)}; {records(last)} at the end. "
        f"{_open_for(period, incidents)}."
    )
    area = " ".join(_area(report, group, most or 1))
    return Plot(name, _spans(period, incidents), said, area, most)


def _area(report: Report, group: GroupReport, most: int) -> Iterator[str]:
    """Each figure holds until the next one; where nobody judged the group there is a gap."""
    holds = max(report.step_ms, report.max_gap_ms)
    ended: int | None = None
    points = (*group.lag_over_time, (report.period.end_ms, 0))
    for (at, lag), (following, _) in pairwise(points):
        if at != ended:
            yield f"{'' if ended is None else 'V100Z '}M{_percent(report.period, at):g} 100"
        ended = min(following, at + holds)
        yield f"V{100 - 100 * lag / most:.4g}H{_percent(report.period, ended):g}"
    yield "V100Z"


def _spans(period: Period, incidents: Sequence[Incident]) -> list[Span]:
    edges = [
        (_percent(period, each.opened_ms), _percent(period, each.closed_ms or period.end_ms))
        for each in incidents
    ]
    return [
        Span(left, round(right - left, 3), each.worst)
        for each, (left, right) in zip(incidents, edges, strict=True)
    ]


def _open_for(period: Period, incidents: Sequence[Incident]) -> str:
    """`no incident`, `1 incident, open for 8h`, `3 incidents, the longest open for 10m`."""
    if not incidents:
        return "No incident"
    longest = max((each.closed_ms or period.end_ms) - each.opened_ms for each in incidents)
    which = "open" if len(incidents) == 1 else "the longest open"
    return f"{counted(len(incidents), 'incident')}, {which} for {duration(longest)}"


def _percent(period: Period, at: int) -> float:
    within = min(max(at, period.start_ms), period.end_ms) - period.start_ms
    return round(100 * within / period.length_ms, 3)
