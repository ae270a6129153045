"""A report on a terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text
from warren.words import grouped, utc

from warren_archiver.report.group_report import GroupReport, Report

COLOURS = {"OK": "green", "WARN": "yellow", "ERR": "red", "NOTFOUND": "dim"}
SHOWN = ("OK", "WARN", "ERR")


def minutes(ms: int) -> str:
    """Minutes with one decimal; empty for none at all."""
    return f"{ms / 60_000:.1f}" if ms else ""


def other_ms(group: GroupReport) -> int:
    """What has no column of its own: unknown, and NOTFOUND."""
    return group.unknown_ms + sum(ms for s, ms in group.held_ms.items() if s not in SHOWN)


def render(report: Report) -> Group:
    """A line on the period, and a table with a row per group."""
    period = report.period
    heading = Text.assemble(
        (f"{utc(period.start_ms)} to {utc(period.end_ms)}", "bold"),
        f", archived up to {utc(report.archived_until_ms)}",
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("CLUSTER", "GROUP", "STATUS"):
        table.add_column(name, overflow="fold")
    for name in (*SHOWN, "unknown", "LAG p50", "p95", "max", "judged"):
        table.add_column(name, justify="right", no_wrap=True)
    for group in report.groups:
        table.add_row(*_row(group))
    gap = f"{report.max_gap_ms / 1000:g} s"
    note = (
        f"Minutes per status; each counts until the next evaluation, at most {gap}. Lag in records."
    )
    return Group(heading, table, Text(note, style="dim"))


def _row(group: GroupReport) -> list[Text | str]:
    status = group.status or "-"
    return [
        group.cluster,
        group.group,
        Text(status, style=COLOURS.get(status, "dim")),
        *(Text(minutes(group.held_ms[s]), style=COLOURS[s]) for s in SHOWN),
        minutes(other_ms(group)),
        grouped(group.lag_p50),
        grouped(group.lag_p95),
        grouped(group.lag_max),
        str(group.evaluations),
    ]
