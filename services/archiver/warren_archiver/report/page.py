"""A report as an HTML page that needs nothing else: no script, no font, no network."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from warren.report_files import group_anchor
from warren.words import counted, duration, grouped, rate, utc, visible

from warren_archiver.gold.conventions import AGAIN_MS, SHORT_MS
from warren_archiver.report import plots
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import SHOWN, GroupReport, Report
from warren_archiver.report.known import known_up_to, unknown, until
from warren_archiver.report.summary import summary

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
    environment.filters |= {"visible": visible, "duration": duration, "rate": rate, "utc": utc}
    environment.filters |= {"grouped": grouped, "counted": counted}
    # None: nobody knows of all groups that none was.
    counts = [each.lost_records for each in report.groups]
    found = sum(each or 0 for each in counts)
    end = report.period.end_ms
    in_order = sorted(
        report.incidents,
        key=lambda each: (-((each.closed_ms or end) - each.opened_ms), each.incident_id),
    )
    lengths = [each.length_ms for each in report.incidents if each.length_ms is not None]
    noise = {  # nobody was needed for it
        f"shorter than {duration(SHORT_MS)}": sum(length <= SHORT_MS for length in lengths),
        f"within {duration(AGAIN_MS)} of the one before": sum(
            each.flapped for each in report.incidents
        ),
    }
    return environment.get_template("report.html").render(
        report=report,
        summary=summary(report),
        advice=advice(report),
        known=known_up_to(report),
        unknown=unknown,
        until=until,
        lost=(None if not found and None in counts else found),
        lost_at_least=any(each.lost_at_least for each in report.groups),
        ticks=plots.ticks(report.period),
        timeline=plots.timeline(report),
        lags=plots.lags(report),
        incidents=in_order[:MOST_INCIDENTS],
        noise={what: number for what, number in noise.items() if number},
        group_anchor=group_anchor,
        total={name: sum(group.held_ms[name] for group in report.groups) for name in SHOWN},
        shares=lambda group: _shares(group, report.period.length_ms),
        has_minutes=any(
            each.late_max_ms is not None or each.consume_rate is not None or each.lost_records
            for each in report.groups
        ),
        outlooks=[
            group
            for group in report.groups
            if group.outlook and None not in (group.outlook.capacity, group.outlook.level)
        ],
    )


def _shares(group: GroupReport, length_ms: int) -> list[tuple[str, float]]:
    """Status and percent of the period, for the bar."""
    parts = [*((status, group.held_ms[status]) for status in SHOWN), ("unknown", group.other_ms)]
    return [(name, round(ms / length_ms * 100, 3)) for name, ms in parts if ms]
