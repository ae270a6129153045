"""A report on a terminal."""

from collections.abc import Callable
from typing import Any

from rich.console import Group
from rich.text import Text
from warren.words import duration, grouped, rate, utc
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import SHOWN, Report
from warren_archiver.report.known import known_up_to
from warren_archiver.report.summary import summary

from warren_cli.resources.catalogue import Column, Resource, Row
from warren_cli.resources.output import resource_table

COLOURS = {"OK": "green", "WARN": "yellow", "ERR": "red", "NOTFOUND": "dim"}
MOST_ADVICE = 10
UNKNOWN = "\N{EN DASH}"


def _cell(of: str, written: Callable[[Any], str | Text] = grouped) -> Callable[[Row, int], Any]:
    """Of that field of a GroupReport."""

    def cell(row: Row, _: int) -> str | Text:
        value = getattr(row["of"], of)
        return UNKNOWN if value is None else written(value)

    return cell


def _minutes(ms: int) -> str:
    """With one decimal; a dash for none at all."""
    return f"{ms / 60_000:.1f}" if ms else "-"


def _held(status: str) -> Column:
    cell = _cell("held_ms", lambda held: Text(_minutes(held[status]), style=COLOURS[status]))
    return Column(status, cell, right=True, spare=status == "OK")


def _lost(row: Row, now_ms: int) -> str:
    is_least = row["of"].lost_at_least and row["of"].lost_records is not None
    return f"{'≥ ' * is_least}{_cell('lost_records')(row, now_ms)}"


REPORT = Resource(
    "groups",
    (
        Column("cluster", _cell("cluster", str), name=True),
        Column("group", _cell("group", str), name=True),
        Column("status", _cell("status", lambda of: Text(of, style=COLOURS[of])), kept=True),
        Column("lost", _lost, right=True, kept=True),
        Column("late", _cell("late_max_ms", duration), right=True, kept=True),
        Column("lag max", _cell("lag_max"), right=True, kept=True),
        *map(_held, SHOWN),
        Column("unknown", _cell("other_ms", _minutes), right=True, spare=True),
        Column("lag p95", _cell("lag_p95"), right=True, spare=True),
        Column("p50", _cell("lag_p50"), right=True, spare=True),
        Column("consumed", _cell("consume_rate", rate), right=True, spare=True),
        Column("judged", _cell("evaluations", str), right=True, spare=True),
    ),
    lambda row: f"{row['of'].cluster}/{row['of'].group}",
)
"""A row is `{"of": GroupReport}`."""


def render(report: Report, width: int | None = None) -> Group:
    """A line on the period, the summary, a table with a row per group, and what to do. `width`:
    columns of the terminal; None: nothing is left out.
    """
    period = report.period
    heading = Text(f"{utc(period.start_ms)} to {utc(period.end_ms)}", "bold")
    known = known_up_to(report)
    rows = [{"of": group} for group in report.groups]
    table, left_out = resource_table(REPORT, rows, width)
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
        Text(left_out.replace("-o wide", "A wider terminal, or --html FILE,"), style="dim"),
        Text(note, style="dim"),
        *to_do,
    )
