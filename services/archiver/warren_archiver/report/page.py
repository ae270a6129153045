"""A report as an HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from warren.words import grouped, utc

from warren_archiver.report.group_report import GroupReport, Report
from warren_archiver.report.table import SHOWN, minutes, other_ms


def render(report: Report) -> str:
    """The page; names are escaped."""
    environment = Environment(
        loader=PackageLoader("warren_archiver.report"), autoescape=True, undefined=StrictUndefined
    )
    template = environment.get_template("report.html")
    return template.render(
        report=report,
        shown=SHOWN,
        minutes=minutes,
        grouped=grouped,
        utc=utc,
        other_ms=other_ms,
        shares=lambda group: _shares(group, report.period.length_ms),
    )


def _shares(group: GroupReport, length_ms: int) -> list[tuple[str, float]]:
    """Status and percent of the period, for the bar."""
    parts = [*((status, group.held_ms[status]) for status in SHOWN), ("unknown", other_ms(group))]
    return [(name, round(ms / length_ms * 100, 3)) for name, ms in parts if ms]
