"""Tables of the terminal: their words, their colours, and what a narrow one leaves out."""

from typing import Any

import pytest
from cli.asked_api import group_row
from rich.cells import cell_len
from rich.console import Console
from warren.words import visible
from warren_cli.commands.up import change_line
from warren_cli.resources.catalogue import GROUPS, INCIDENTS, SILENCES, STATUS, Resource
from warren_cli.resources.output import resource_table

NOW = 1_800_000_000_000
HOUR = 3_600_000
LONG = "fraud-scoring.realtime.eu-west-1.customer-transactions.enriched.v2.consumer-group"
SHORT = "Too slow"
WORDS = {"short": SHORT, "why": "reads 0.7/s of 11/s", "late": "> 3m 10s", "loss": "now"}


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
        ("since", {}, "1h"),
        ("since", {"severity": "OK", "incident": None}, "1m 5s"),
        ("since", {"incident": None, "since": None}, "-"),
        ("lag", {"total_lag": 12_345}, "12,345"),
        ("lag", {"total_lag": None}, "-"),
        ("lag", {"total_lag": None, "total_lag_at_least": 300}, "≥ 300"),
        ("why", {"words": WORDS}, "Too slow"),
        ("why", {"status": "UNKNOWN", "explanation": "dark", "words": WORDS}, f"{SHORT}; dark"),
        ("since", {"status": "UNKNOWN", "severity": "UNKNOWN"}, "1h"),
        ("late", {"words": WORDS}, "> 3m 10s"),
        ("late", {"words": WORDS, "freshness_stale": True}, "> 3m 10s old"),
        ("late", {"freshness_stale": True}, "-"),
        ("loss in", {}, "-"),
        ("loss in", {"words": WORDS}, "now"),
        ("loss in", {"words": WORDS, "freshness_stale": True}, "now old"),
    ],
)
def test_what_a_cell_says(title: str, fields: dict[str, Any], shown: str) -> None:
    assert cell(title, **fields).startswith(shown)


@pytest.mark.parametrize(
    ("title", "fields", "shown"),
    [
        ("incident", {}, "01234567, 1h"),
        ("why", {"words": WORDS}, "reads 0.7/s of 11/s"),
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


@pytest.mark.parametrize(("data_loss", "is_urgent"), [(None, False), ("now", True)])
def test_what_is_urgent_is_red(data_loss: str | None, is_urgent: bool) -> None:
    about = row(status="OK", severity="OK", data_loss=data_loss, words=WORDS)
    lines, _ = drawn(about, colour=True)
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
    "why": "reads 0.7/s of 11/s",
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
    "status": (STATUS, [row(words=WORDS), group_row(LONG, "WARN", words=WORDS)]),
    "groups": (GROUPS, [row(words=WORDS), group_row("漢字" * 60, "WARN", total_lag=2**62)]),
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


def test_at_100_columns_a_group_is_whole_and_since_and_lag_stay() -> None:
    name = "fraud-scoring.eu-west-1.transactions-v2"
    why = {**WORDS, "short": "Reads slower than is written, losing data, no members"}
    (heads, line), said = drawn(group_row(name, "ERR", words=why), width=100)
    assert f"demo/{name}" in line
    assert {"late", "since", "lag"} <= set(heads.split())
    assert said == "-o wide also has loss in"


def test_without_a_width_nothing_is_cut() -> None:
    lines, said = drawn(group_row(LONG, "ERR"))
    assert f"demo/{LONG}  ERR" in lines[1]
    assert not said


def test_nothing_in_a_name_acts_on_the_terminal() -> None:
    acting = "[red]pay\x1b[2J\nroll\u202egpj"
    worst = {"topic": acting, "partition": 0, "status": "STOP", "lag": 1, "explanation": acting}
    given = group_row(acting, "ERR", worst=worst, words={**WORDS, "why": acting})
    lines, _ = drawn(given, wide=True)
    assert len(lines) == 2
    assert lines[1].count("[red]pay\u241b[2J\u240aroll\\u202egpj") == 3
    line = change_line(given, None, NOW)
    assert line == visible(line)
