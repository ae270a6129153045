"""A report on a terminal."""

from rich.console import Group
from rich.text import Text
from warren.words import duration, grouped, rate, utc
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import SHOWN, GroupReport, Report
from warren_archiver.report.known import known_up_to
from warren_archiver.report.summary import summary

from warren_cli.resources.catalogue import Column, Resource, Row
from warren_cli.resources.output import resource_table

COLOURS = {"OK": "green", "WARN": "yellow", "ERR": "red", "NOTFOUND": "dim"}
MOST_ADVICE = 10
UNKNOWN = "\N{EN DASH}"


def minutes(ms: int) -> str:
    """Minutes with one decimal; a dash for none at all."""
    return f"{ms / 60_000:.1f}" if ms else "-"


def _status(row: Row, _: int) -> Text:
    status = _of(row).status or "-"
    return Text(status, style=COLOURS.get(status, "dim"))


def _of(row: Row) -> GroupReport:
    group: GroupReport = row["of"]
    return group


def _figure(value: int | None) -> str:
    return UNKNOWN if value is None else grouped(value)


def _lost(row: Row, _: int) -> str:
    of = _of(row)
    at_least = "≥ " if of.lost_records is not None and of.lost_at_least else ""
    return f"{at_least}{_figure(of.lost_records)}"


def _late(row: Row, _: int) -> str:
    late = _of(row).late_max_ms
    return UNKNOWN if late is None else duration(late)


def _consumed(row: Row, _: int) -> str:
    consumed = _of(row).consume_rate
    return UNKNOWN if consumed is None else rate(consumed)


def _held(status: str) -> Column:
    def cell(row: Row, _: int) -> Text:
        return Text(minutes(_of(row).held_ms[status]), style=COLOURS[status])

    return Column(status, cell, right=True, spare=status == "OK")


REPORT = Resource(
    "groups",
    (
        Column("cluster", lambda row, _: _of(row).cluster, name=True),
        Column("group", lambda row, _: _of(row).group, name=True),
        Column("status", _status, kept=True),
        Column("lost", _lost, right=True, kept=True),
        Column("late", _late, right=True, kept=True),
        Column("lag max", lambda row, _: _figure(_of(row).lag_max), right=True, kept=True),
        *map(_held, SHOWN),
        Column("unknown", lambda row, _: minutes(_of(row).other_ms), right=True, spare=True),
        Column("lag p95", lambda row, _: _figure(_of(row).lag_p95), right=True, spare=True),
        Column("p50", lambda row, _: _figure(_of(row).lag_p50), right=True, spare=True),
        Column("consumed", _consumed, right=True, spare=True),
        Column("judged", lambda row, _: str(_of(row).evaluations), right=True, spare=True),
    ),
    lambda row: f"{_of(row).cluster}/{_of(row).group}",
)
"""A row is `{"of": GroupReport}`."""


def render(report: Report, width: int | None = None) -> Group:
    """A line on the period, the summary, a table with a row per group, and what to do. `width`:
    columns of the terminal; None: nothing is left out.
    """
    period = report.period
    heading = Text.assemble(
        (f"{utc(period.start_ms)} to {utc(period.end_ms)}", "bold"),
    )
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
