"""A report on a terminal."""

from rich.console import Group
from rich.text import Text
from warren.words import duration, grouped, rate, utc

from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import GroupReport, Report
from warren_archiver.report.known import known_up_to
from warren_archiver.report.summary import summary
from warren_archiver.text_table import TextTable

COLOURS = {"OK": "green", "WARN": "yellow", "ERR": "red", "NOTFOUND": "dim"}
SHOWN = ("OK", "WARN", "ERR")
MOST_ADVICE = 10
UNKNOWN = "\N{EN DASH}"


def minutes(ms: int) -> str:
    """Minutes with one decimal; empty for none at all."""
    return f"{ms / 60_000:.1f}" if ms else ""


def other_ms(group: GroupReport) -> int:
    """What has no column of its own: unknown, and NOTFOUND."""
    return group.unknown_ms + sum(ms for s, ms in group.held_ms.items() if s not in SHOWN)


def render(report: Report) -> Group:
    """A line on the period, the summary, a table with a row per group, and what to do."""
    period = report.period
    heading = Text.assemble(
        (f"{utc(period.start_ms)} to {utc(period.end_ms)}", "bold"),
    )
    known = known_up_to(report)
    figures = ("unknown", "LAG p50", "p95", "max", "late", "lost", "consumed", "judged")
    table = TextTable(("CLUSTER", "GROUP", "STATUS"), (*SHOWN, *figures))
    for group in report.groups:
        status = group.status or "-"
        table.row(
            group.cluster,
            group.group,
            Text(status, style=COLOURS.get(status, "dim")),
            *(Text(minutes(group.held_ms[s]), style=COLOURS[s]) for s in SHOWN),
            minutes(other_ms(group)),
            UNKNOWN if group.lag_p50 is None else grouped(group.lag_p50),
            UNKNOWN if group.lag_p95 is None else grouped(group.lag_p95),
            UNKNOWN if group.lag_max is None else grouped(group.lag_max),
            UNKNOWN if group.late_max_ms is None else duration(group.late_max_ms),
            UNKNOWN
            if group.lost_records is None
            else f"{'≥ ' * group.lost_at_least}{grouped(group.lost_records)}",
            UNKNOWN if group.consume_rate is None else rate(group.consume_rate),
            str(group.evaluations),
        )
    gap = f"{report.max_gap_ms / 1000:g}s"
    note = (
        f"Minutes per status; each counts until the next evaluation, at most {gap}. Lag in records."
        f" {UNKNOWN}: not known, or not yet."
    )
    found = advice(report)
    to_do = [
        Text.assemble((each.level, COLOURS[each.level]), f" {each.group}: {each.sentence}")
        for each in found[:MOST_ADVICE]
    ]
    if (more := len(found) - MOST_ADVICE) > 0:
        to_do.append(Text(f"… and {grouped(more)} more: --html FILE has them all", style="dim"))
    return Group(
        heading,
        *([Text(f"Known: {known}.", style="dim")] if known else []),
        *(Text(each, style="red") for each in report.damages),
        *(
            Text.assemble((f"{each.question}: ", "bold"), " ".join(each.sentences))
            for each in summary(report)
        ),
        table,
        Text(note, style="dim"),
        *to_do,
    )
