"""The table of groups: its words, its colours, and what it leaves out where there is no room."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from warren.words import visible
from warren_cli.display.screens import change_line
from warren_cli.display.status_table import status_table
from warren_cli.resources.catalogue import GROUPS

NOW = 1_800_000_000_000


def group(name: str = "demo-slow", **fields: Any) -> dict[str, Any]:
    return {
        "cluster": "demo",
        "group": name,
        "status": "WARN",
        "since": NOW - 65_000,
        "total_lag": 12_345,
        "complete": 1.0,
        "worst": {"topic": "demo.payments", "partition": 0, "status": "WARN", "lag": 12_345},
        "incident": {"id": "0123456789abcdef", "opened_at": NOW - 3_600_000},
        "evaluated_at": NOW,
        **fields,
    }


def drawn(
    *groups: dict[str, Any], width: int = 200, colour: bool = False, whole: bool = False
) -> list[str]:
    console = Console(width=width, color_system="standard" if colour else None)
    with console.capture() as capture:
        console.print(status_table(groups, NOW, whole=whole))
    table, _, _ = capture.get().partition("-o wide also has")
    return [line.rstrip() for line in table.splitlines()]


def test_a_group_in_trouble_is_one_row() -> None:
    title, row = drawn(group())
    assert " ".join(title.split()) == (
        "group status late loss in since lag worst partition incident"
    )
    assert " ".join(row.split()) == (
        "demo-slow WARN - - 1h 12,345 demo.payments/0 WARN, lag 12,345 01234567, 1h"
    )


def test_what_is_unknown_or_well_is_a_dash() -> None:
    well = group(status="OK", since=None, total_lag=0, worst=None, incident=None)
    assert drawn(well)[1].split() == ["demo-slow", "OK", "-", "-", "-", "0", "-", "-"]
    worst = {"topic": "t", "partition": 3, "status": "STOP", "lag": None}
    assert "t/3 STOP, lag unknown" in drawn(group(worst=worst))[1]


def test_lag_of_which_only_a_bound_is_known() -> None:
    row = {"total_lag": None, "total_lag_at_least": 300}
    assert "≥ 300" in drawn(group(**row))[1]
    assert "≥" not in drawn(group(**row | {"total_lag_at_least": 0}))[1]


def test_an_objective_that_an_ok_group_does_not_keep() -> None:
    broken = {"objective": "retention", "status": "ERR", "sentence": "40 records were deleted"}
    late = {"opened_at": NOW - 8 * 60_000, "id": "4f9c2f0e-6a53"}
    fine = group(status="OK", since=NOW - 2_000, worst=None, broken_objectives=[broken])
    row = drawn({**fine, "incident": late, "severity": "ERR"})[1]
    assert "ERR +retention" in row
    assert " 8m " in row
    assert "OK +retention" in drawn({**fine, "incident": late})[1]  # of an API that is older
    assert "  retention: 40 records were deleted  " in row


WHY = "no commit for 4m 12s, usual pause 5s; 2,101 records behind, log at rest"


def test_a_cause_says_more_than_what_is_wrong_with_a_partition() -> None:
    worst = {"topic": "t", "partition": 0, "status": "STOP", "lag": 2101, "explanation": WHY}
    cause = {"name": "no_members", "sentence": "nobody has been in the group for 4m 12s"}
    assert f"  {cause['sentence']}  " in drawn(group(worst=worst, cause=cause))[1]
    also = {**cause, "also": [{"name": "records_lost", "sentence": "9 are gone"}]}
    assert "4m 12s; also: 9 are gone  " in drawn(group(worst=worst, cause=also))[1]
    unknown = {"name": "unknown", "sentence": "nothing speaks clearly for one cause"}
    assert f"  {WHY}  " in drawn(group(worst=worst, cause=unknown))[1]


def test_why_the_worst_partition_is_not_ok_is_a_column_of_its_own() -> None:
    worst = {"topic": "t", "partition": 0, "status": "STOP", "lag": 2101, "explanation": WHY}
    title, row, other = drawn(group(worst=worst), group(explanation=None))
    assert title.split()[:3] == ["group", "status", "why"]
    begin, end = title.index("why"), title.index("late")
    assert row[begin:end].rstrip() == WHY
    assert other[begin:].split()[0] == "-"
    assert f"{WHY}  " in drawn(group(explanation=f"t/0 STOP: {WHY}"))[1]


def test_a_cause_in_a_few_words_where_there_are_some() -> None:
    cause = {"name": "no_members", "sentence": "nobody has been in it", "short": "no members"}
    row = drawn(group(cause=cause))[1]
    assert row.split()[2:4] == ["no", "members"]
    assert cause["sentence"] not in row
    assert cause["sentence"] in drawn(group(cause=cause), whole=True)[1]


def test_a_hundred_columns_have_the_name_and_why() -> None:
    """A name of 48 characters, the longest cause in a few words."""
    cause = {"name": "x", "sentence": "long", "short": "hanging transaction holds it up"}
    name = "n" * 48
    title, row = drawn(late_group(name, cause=cause, lost_records=1_204), width=100)
    assert title.split() == ["group", "status", "why", "late", "loss", "in"]
    assert row.startswith(f"{name}  ERR")
    assert len(row) <= 100
    short = drawn(late_group("n" * 30, cause=cause, lost_records=1_204), width=100)
    assert cause["short"] in short[1]
    assert "loss in" in short[0]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_column_vanishes_without_a_word(width: int) -> None:
    cause = {"name": "x", "sentence": "long", "short": "Too slow, falling behind"}
    console = Console(width=width)
    with console.capture() as capture:
        console.print(status_table([late_group("n" * 37, cause=cause)], NOW))
    titles, _, *rest = capture.get().splitlines()
    said = titles + " ".join(rest)
    for title in ("why", "late", "loss in", "since", "lag", "worst partition", "incident"):
        assert title in said
    assert bool(rest) == (width < 200)


def test_the_order_is_kept_and_clusters_are_named_when_there_are_several() -> None:
    rows = drawn(group("b"), group("a", cluster="prod"))[1:]
    assert [row.split()[0] for row in rows] == ["demo/b", "prod/a"]


def test_names_are_no_markup() -> None:
    assert "[red]x[/red]" in drawn(group("[red]x[/red]"))[1]


def test_nothing_in_a_name_acts_on_the_terminal() -> None:
    acting = "pay\x1b[2J\nroll\u202egpj"
    worst = {"topic": acting, "partition": 0, "status": "STOP", "lag": 1, "explanation": acting}
    lines = drawn(group(acting, worst=worst))
    assert len(lines) == 2
    assert lines[1].count("pay\u241b[2J\u240aroll\\u202egpj") == 3
    line = change_line(group(acting, worst=worst), None, NOW)
    assert line == visible(line)


HOUR = 3_600_000
LONG = "fraud-scoring.realtime.eu-west-1.customer-transactions.enriched.v2.consumer-group"


STOPPED = {"topic": "orders", "partition": 1, "status": "STOP", "lag": 12}


def late_group(name: str = "g", **fields: Any) -> dict[str, Any]:
    """What an API that knows freshness sends."""
    return {
        **group(name),
        "status": "ERR",
        "worst": STOPPED,
        "since": NOW - 11_520_000,
        "total_lag": 2_140_333,
        "incident": {"id": "5b6a77c1-0000", "opened_at": NOW - 11_520_000},
        "freshness_ms": 7_620_000,
        "freshness_at_least_ms": None,
        "freshness_reason": "exact",
        "lost_records": 0,
        "time_to_loss_ms": None,
        "freshness_measured_at": NOW,
        "freshness_stale": False,
        **fields,
    }


def cell(title: str, **fields: Any) -> str:
    """Of a group's only row."""
    titles, row = drawn(late_group(**fields))
    end = titles.index(title) + len(title)
    return row[:end].rpartition("  ")[2]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"freshness_ms": 0}, "0s"),
        ({"freshness_ms": 300}, "<1s"),
        ({"freshness_ms": 42_900}, "42s"),
        ({"freshness_ms": 190_000}, "3m 10s"),
        ({"freshness_ms": 7_200_000}, "2h"),
        ({"freshness_ms": None}, "-"),
        ({"freshness_ms": 5_000, "freshness_at_least_ms": 190_000}, "> 3m 10s"),
        ({"freshness_ms": None, "freshness_at_least_ms": 190_000}, "> 3m 10s"),
        ({"freshness_ms": 190_000, "freshness_stale": True}, "3m 10s old"),
        ({"freshness_ms": None, "freshness_stale": True}, "-"),
    ],
)
def test_how_late_a_group_is(fields: dict[str, Any], shown: str) -> None:
    assert cell("late", **fields) == shown


@pytest.mark.parametrize(
    ("left", "shown"), [(None, "unknown"), (7_200_000, "unknown"), (1_800_000, "30m")]
)
def test_no_time_until_loss_is_promised_where_size_deletes(left: int | None, shown: str) -> None:
    why = {
        "time_to_loss_reason": "size_unknown",
        "data_loss": "soon" if left == HOUR // 2 else None,
    }
    assert cell("loss in", time_to_loss_ms=left, **why) == shown


URGENT = "\x1b[1;31m"


@pytest.mark.parametrize(
    ("fields", "shown", "urgent"),
    [
        ({}, "-", False),
        ({"time_to_loss_ms": HOUR}, "1h", False),
        ({"time_to_loss_ms": HOUR - 1}, "59m 59s", False),
        ({"time_to_loss_ms": HOUR - 1, "data_loss": "soon"}, "59m 59s", True),
        ({"time_to_loss_ms": 0, "data_loss": "soon"}, "now", True),
        ({"time_to_loss_ms": HOUR, "freshness_measured_at": NOW - 60_000}, "59m", False),
        ({"lost_records": 1_204}, "lost 1,204", True),
        ({"lost_records": 1_204, "time_to_loss_ms": 9 * HOUR}, "lost 1,204", True),
        ({"time_to_loss_ms": 9 * HOUR, "freshness_stale": True}, "9h old", False),
        ({"lost_records": 3, "freshness_stale": True}, "lost 3 old", True),
    ],
)
def test_until_loss(fields: dict[str, Any], shown: str, urgent: bool) -> None:
    assert cell("loss in", **fields) == shown
    row = drawn(late_group(status="OK", **fields), colour=True)[1]
    assert (f"{URGENT}{shown.removesuffix(' old')}" in row) == urgent


LATE_GROUPS = (
    late_group(LONG, lost_records=1_204, worst=STOPPED | {"topic": f"{LONG}.topic"}),
    late_group("short", freshness_stale=True, time_to_loss_ms=123 * 24 * HOUR),
)
FIXED = ("ERR", "2h 7m", "lost 1,204", "2h 7m old", "123d old")


@pytest.mark.parametrize("width", [80, 100, 140, 160, 220])
def test_names_give_way_first_then_whole_columns(width: int) -> None:
    titles, long, short = drawn(*LATE_GROUPS, width=width)
    assert max(len(line) for line in (titles, long, short)) <= width
    for part in ("group", "status", "late", "loss in"):
        assert part in titles
    for part in FIXED:
        assert part in long + short
    if width < 160:
        assert "incident" not in titles
        assert long.split("…")[1].startswith("umer-group"), "names often differ at their end"
    else:
        assert "3h 12m" in long
        assert "5b6a77c1, 3h 12m" in long
        assert "/1 STOP, lag 12" in long
        assert long.startswith("fraud-scoring.")
    assert "…" in long
    assert "…" not in short


@pytest.mark.parametrize("width", [30, 40, 50, 80])
def test_group_and_status_are_the_last_that_go(width: int) -> None:
    """Whatever figures and names other groups have."""
    huge = group("huge", status="ERR", total_lag=2**63 - 1, lost_records=2**60)
    titles, *lines = drawn(huge, group("fine"), group("x" * 300, cluster="z" * 80), width=width)
    assert titles.split()[:2] == ["group", "status"]
    assert [line.split()[1] for line in lines] == ["ERR", "WARN", "WARN"]
    assert lines[0].startswith("demo/huge ")


def test_names_of_wide_characters_and_terminals_without_room() -> None:
    assert max(cell_len(line) for line in drawn(group("a" * 300), width=20)) <= 20
    _, long, short = drawn(*LATE_GROUPS, width=52)
    assert long.split() == ["fraud-scor…umer-group", "ERR", "2h", "7m", "lost", "1,204"]
    assert short.endswith("123d old")
    wide = drawn(group("漢字" * 60), width=80)[1]
    assert "…" in wide
    assert cell_len(wide) <= 80


def test_one_very_long_name_takes_nothing_from_the_other_rows() -> None:
    """Neither columns of a terminal of a hundred, nor room of lines in a pipe."""
    cause = {"name": "x", "sentence": "long", "short": "No members in the group"}
    rows = [group(f"billing-{n}", cause=cause) for n in range(5)]
    alike, with_long = drawn(*rows, width=100), drawn(*rows, group("n" * 200), width=100)
    assert with_long[0].split() == alike[0].split()
    assert "No members in the group" in with_long[1]
    piped = drawn(*rows, group("n" * 200), width=1000)
    assert [line.rstrip() for line in piped[:6]] == [
        line.rstrip() for line in drawn(*rows, width=1000)[:6]
    ]
    assert "n" * 200 in piped[6]


def test_a_group_without_a_clear_cause_has_its_reason_in_few_words() -> None:
    fields = {"status_reason": "lag_growing", "explanation": "a long sentence"}
    _, row = drawn(group(cause={"name": "unknown", "sentence": ""}, **fields))
    assert "Falling behind" in row
    assert "a long sentence" not in row


def test_both_lists_of_groups_have_the_same_order() -> None:
    titles = [column.title for column in GROUPS.columns]
    (shown, *_) = drawn(group(), width=1000)
    assert shown.index("late") < shown.index("loss in")
    assert titles.index("late") < titles.index("loss in")
