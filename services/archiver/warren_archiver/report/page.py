"""A report as an HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from warren.report_files import group_anchor
from warren.words import duration, grouped, rate, utc, visible

from warren_archiver.report import plots
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import GroupReport, Report
from warren_archiver.report.table import SHOWN, other_ms
from warren_archiver.report.words import known_up_to, summary, unknown

MOST_PLOTS = 6
MOST_INCIDENTS = 50


def render(report: Report) -> str:
    """The page; names are escaped."""
    environment = Environment(
        loader=PackageLoader("warren_archiver.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "duration": duration, "rate": rate}
    length = report.period.length_ms
    # What Vega has escaped itself.
    lags = [(group, Markup(plots.lag(report, group))) for group in _plotted(report)]
    return environment.get_template("report.html").render(
        report=report,
        summary=summary(report),
        advice=advice(report),
        known=known_up_to(report),
        unknown=lambda kind: unknown(report, kind),
        timeline=Markup(plots.timeline(report)),
        lags=lags,
        incidents=_longest(report),
        most_groups=plots.MOST_GROUPS,
        shown=SHOWN,
        grouped=grouped,
        utc=utc,
        duration=duration,
        other_ms=other_ms,
        group_anchor=group_anchor,
        total={name: sum(group.held_ms[name] for group in report.groups) for name in SHOWN},
        shares=lambda group: _shares(group, length),
        has_minutes=any(_has_minutes(group) for group in report.groups),
        outlooks=[group for group in report.groups if _has_outlook(group)],
    )


def _plotted(report: Report) -> list[GroupReport]:
    """Groups in trouble or, without any, the furthest behind."""
    bad = [each for each in report.groups if each.held_ms["ERR"] or each.held_ms["WARN"]]
    return [each for each in (bad or report.groups[:2])[:MOST_PLOTS] if each.lag_max]


def _longest(report: Report) -> list[object]:
    end = report.period.end_ms
    in_order = sorted(
        report.incidents,
        key=lambda each: (-((each.closed_ms or end) - each.opened_ms), each.incident_id),
    )
    return list(in_order[:MOST_INCIDENTS])


def _has_minutes(group: GroupReport) -> bool:
    return (
        group.late_max_ms is not None or group.consume_rate is not None or bool(group.lost_records)
    )


def _has_outlook(group: GroupReport) -> bool:
    found = group.outlook
    return found is not None and found.capacity is not None and found.level is not None


def _shares(group: GroupReport, length_ms: int) -> list[tuple[str, float]]:
    """Status and percent of the period, for the bar."""
    parts = [*((status, group.held_ms[status]) for status in SHOWN), ("unknown", other_ms(group))]
    return [(name, round(ms / length_ms * 100, 3)) for name, ms in parts if ms]
