"""Tables of the terminal: their words, their colours, and what a narrow one leaves out."""

from typing import Any

import pytest
from cli.asked_api import group_row
from rich.cells import cell_len
from rich.console import Console
from warren.words import visible
from warren_cli.resources.catalogue import GROUPS, INCIDENTS, SILENCES, STATUS, Resource
from warren_cli.resources.output import resource_table
from warren_cli.screens import change_line

NOW = 1_800_000_000_000
HOUR = 3_600_000
LONG = "fraud-scoring.realtime.eu-west-1.customer-transactions.enriched.v2.consumer-group"
CAUSE = {"name": "too_slow", "sentence": "reads 0.7/s of 11/s", "short": "Too slow"}
RETENTION = {"objective": "retention", "status": "ERR", "sentence": "40 were deleted"}


def row(**fields: Any) -> dict[str, Any]:
    opened = {"id": "0123456789abcdef", "opened_at": NOW - HOUR}
    return {**group_row("billing", "ERR", incident=opened, since=NOW - 65_000), **fields}


def drawn(
    *rows: dict[str, Any],
    of: Resource = STATUS,
    width: int | None = None,
    wide: bool = False,
    colour: bool = False,
) -> tuple[list[str], str]:
    """The lines, and what is left out."""
    made, said = resource_table(of, rows, width, wide=wide, now_ms=NOW)
    console = Console(width=width or 1000, color_system="standard" if colour else None)
    with console.capture() as capture:
        console.print(made)
    return [line.rstrip() for line in capture.get().splitlines()], said


def cell(title: str, *, wide: bool = False, **fields: Any) -> str:
    """Of a group's only row."""
    columns = [one for one in STATUS.columns if not (one.short if wide else one.wide)]
    (column,) = (one for one in columns if one.title == title)
    return str(column.cell(row(**fields), NOW))


@pytest.mark.parametrize(
    ("title", "fields", "shown"),
    [
        ("status", {}, "ERR"),
        ("status", {"silence": {"id": "1"}, "acknowledgement": {}}, "ERR silenced"),
        ("status", {"severity": "ERR", "broken_objectives": [RETENTION]}, "ERR +retention"),
        (
            "status",
            {"broken_objectives": [{**RETENTION, "limit": "lost_records"}]},
            "ERR +data loss",
        ),
        ("since", {}, "1h"),
        ("since", {"severity": "OK", "incident": None}, "1m 5s"),
        ("since", {"incident": None, "since": None}, "-"),
        ("lag", {"total_lag": 12_345}, "12,345"),
        ("lag", {"total_lag": None}, "-"),
        ("lag", {"total_lag": None, "total_lag_at_least": 300}, "≥ 300"),
        ("why", {"cause": CAUSE}, "Too slow"),
        (
            "why",
            {"status": "OK", "cause": None, "broken_objectives": [RETENTION]},
            "retention: 40 were deleted",
        ),
        ("why", {"cause": {**CAUSE, "name": "unknown"}, "status_reason": "lag_growing"}, "Falling"),
        ("why", {"status": "UNKNOWN", "explanation": "unreachable", "cause": CAUSE}, "unreachable"),
        ("late", {"freshness_ms": 300}, "<1s"),
        ("late", {"freshness_ms": 190_000, "freshness_stale": True}, "3m 10s old"),
        ("late", {"freshness_ms": 5_000, "freshness_at_least_ms": 190_000}, "> 3m 10s"),
        ("late", {"freshness_ms": None, "freshness_stale": True}, "-"),
        ("loss in", {}, "-"),
        ("loss in", {"time_to_loss_ms": HOUR}, "1h"),
        ("loss in", {"time_to_loss_ms": 0, "data_loss": "soon"}, "now"),
        ("loss in", {"time_to_loss_ms": HOUR, "freshness_measured_at": NOW - 60_000}, "59m"),
        ("loss in", {"lost_records": 1_204, "time_to_loss_ms": HOUR}, "lost 1,204"),
        ("loss in", {"lost_records": 3, "freshness_stale": True}, "lost 3 old"),
        ("loss in", {"time_to_loss_ms": HOUR, "time_to_loss_reason": "size_unknown"}, "unknown"),
        (
            "loss in",
            {"time_to_loss_ms": HOUR, "time_to_loss_reason": "size_unknown", "data_loss": "soon"},
            "1h",
        ),
    ],
)
def test_what_a_cell_says(title: str, fields: dict[str, Any], shown: str) -> None:
    assert cell(title, **fields).startswith(shown)


@pytest.mark.parametrize(
    ("title", "fields", "shown"),
    [
        ("incident", {}, "01234567, 1h"),
        ("why", {"cause": {**CAUSE, "also": [{"sentence": "9 are gone"}]}}, "reads 0.7/s of 11/s"),
        ("worst partition", {}, "orders/1 STOP, lag 12"),
        ("worst partition", {"worst": None}, "-"),
        (
            "worst partition",
            {"worst": {"topic": "t", "partition": 3, "status": "STOP", "lag": None}},
            "t/3 STOP, lag unknown",
        ),
    ],
)
def test_what_a_wide_cell_says(title: str, fields: dict[str, Any], shown: str) -> None:
    assert cell(title, wide=True, **fields).startswith(shown)


def test_a_group_that_is_not_judged_is_dashes() -> None:
    share = group_row("thumbnails", None, total_lag=None, worst=None)
    lines, _ = drawn(share)
    assert lines[1].split() == ["demo/thumbnails", *"------"]


@pytest.mark.parametrize(("lost", "is_urgent"), [(0, False), (3, True)])
def test_what_is_urgent_is_red(lost: int, is_urgent: bool) -> None:
    lines, _ = drawn(row(status="OK", severity="OK", lost_records=lost), colour=True)
    assert ("\x1b[1;31m" in lines[1]) == is_urgent


INCIDENT = {
    "id": "0ed55a2f-3f5a-5b0e-9f3a-0c1f7f4c3a52",
    "cluster": "prod-eu-core",
    "group": LONG,
    "worst": "ERR",
    "opened_at": NOW - 60_000,
    "closed_at": None,
    "acknowledgement": {"by": "anna", "why": ""},
    "max_total_lag": 12_345,
    "now": None,
    "short": "Too slow, falling behind",
    "changes": [],
}
SILENCE = {
    "id": "3f6c2b8e91d4",
    "cluster": "^(prod-eu-core|prod-us-core)$",
    "group": f"^({LONG}|audit|ledger)$",
    "begins_at": NOW,
    "ends_at": NOW + HOUR,
    "by": "anna",
    "why": "moving the ledger to the other cluster, as said in the ticket of last week",
}
ROWS = {
    "status": (STATUS, [row(cause=CAUSE), group_row(LONG, "WARN", lost_records=2**60)]),
    "groups": (GROUPS, [row(cause=CAUSE), group_row("漢字" * 60, "WARN", total_lag=2**62)]),
    "incidents": (INCIDENTS, [INCIDENT]),
    "silences": (SILENCES, [SILENCE]),
}


@pytest.mark.parametrize("width", [60, 80, 100, 140, 300])
@pytest.mark.parametrize("name", ROWS)
def test_a_table_fits_and_says_what_it_leaves_out(name: str, width: int) -> None:
    of, rows = ROWS[name]
    lines, said = drawn(*rows, of=of, width=width)
    assert len(lines) == 1 + len(rows)
    assert not said or width < 140
    assert max(map(cell_len, lines)) <= width
    for column in of.columns:
        assert column.wide or column.title in lines[0] + said
    kept = [column for column in of.columns if column.kept and not column.wide]
    for column in kept:
        for line, given in zip(lines[1:], rows, strict=True):
            assert str(column.cell(given, NOW)) in line, "it is whole"


def test_without_a_width_nothing_is_cut() -> None:
    lines, said = drawn(group_row(LONG, "ERR"))
    assert f"demo/{LONG}  ERR" in lines[1]
    assert not said


def test_nothing_in_a_name_acts_on_the_terminal() -> None:
    acting = "[red]pay\x1b[2J\nroll\u202egpj"
    worst = {"topic": acting, "partition": 0, "status": "STOP", "lag": 1, "explanation": acting}
    given = group_row(acting, "ERR", worst=worst)
    lines, _ = drawn(given, wide=True)
    assert len(lines) == 2
    assert lines[1].count("[red]pay\u241b[2J\u240aroll\\u202egpj") == 3
    line = change_line(given, None, NOW)
    assert line == visible(line)
