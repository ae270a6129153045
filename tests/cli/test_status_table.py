from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from warren_cli.display.status_table import duration, status_table

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


def shown(*groups: dict[str, Any]) -> list[str]:
    console = Console(width=200, no_color=True)
    with console.capture() as capture:
        console.print(status_table(groups, NOW))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_group_in_trouble_is_one_row() -> None:
    title, row = shown(group())
    assert " ".join(title.split()) == (
        "group status since lag late until loss worst partition incident"
    )
    assert " ".join(row.split()) == (
        "demo-slow WARN 1m 05s 12,345 - - demo.payments/0 WARN, lag 12,345 01234567, 1h 00m"
    )


def test_what_is_unknown_or_well_is_a_dash() -> None:
    well = group(status="OK", since=None, total_lag=0, worst=None, incident=None)
    assert shown(well)[1].split() == ["demo-slow", "OK", "-", "0", "-", "-", "-", "-"]
    worst = {"topic": "t", "partition": 3, "status": "STOP", "lag": None}
    assert "t/3 STOP, lag unknown" in shown(group(worst=worst))[1]


WHY = "no commit for 4 m 12 s, usual pause 5 s; 2,101 records behind, log at rest"


def test_why_the_worst_partition_is_not_ok_is_a_column_of_its_own() -> None:
    worst = {"topic": "t", "partition": 0, "status": "STOP", "lag": 2101, "explanation": WHY}
    title, row, other = shown(group(worst=worst), group(explanation=None))
    assert title.endswith("why")
    assert row.endswith(
        "  no commit for 4 m 12 s, usual pause 5 s; 2,101 records behind, log at rest"
    )
    assert other.endswith("  -")
    assert shown(group(explanation=f"t/0 STOP: {WHY}"))[1].endswith(WHY)


def test_the_order_is_kept_and_clusters_are_named_when_there_are_several() -> None:
    rows = shown(group("b"), group("a", cluster="prod"))[1:]
    assert [row.split()[0] for row in rows] == ["demo/b", "prod/a"]


def test_names_are_no_markup() -> None:
    assert "[red]x[/red]" in shown(group("[red]x[/red]"))[1]


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (-5, "0s"),
        (59_999, "59s"),
        (185_000, "3m 05s"),
        (7_620_000, "2h 07m"),
        (3 * 86_400_000 + 4 * 3_600_000, "3d 04h"),
    ],
)
def test_durations_are_for_people(milliseconds: int, text: str) -> None:
    assert duration(milliseconds) == text
