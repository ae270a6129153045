"""A report on the terminal and as a page."""

from __future__ import annotations

import io

from bs4 import BeautifulSoup
from rich.console import Console
from warren_archiver.report import page, table
from warren_archiver.report.group_report import GroupReport, Report
from warren_archiver.report.period import Period

MINUTE = 60_000


def _report() -> Report:
    def group(name: str, status: str | None, **held: int) -> GroupReport:
        known = {"OK": 0, "WARN": 0, "ERR": 0, "NOTFOUND": 0} | held
        left = 10 * MINUTE - sum(known.values())
        return GroupReport("prod", name, status, known, left, 120, 5, 1_234, 56_789)

    start = 1_795_244_400_000
    return Report(
        Period(start, start + 10 * MINUTE),
        start + 11 * MINUTE,
        90_000,
        [
            group("<b>&billing", "ERR", OK=5 * MINUTE, ERR=4 * MINUTE),
            group("gone", None, OK=90_000, NOTFOUND=30_000),
        ],
    )


def test_the_terminal_shows_a_row_per_group() -> None:
    output = io.StringIO()
    Console(file=output, width=100, color_system=None).print(table.render(_report()))
    lines = [line.split() for line in output.getvalue().splitlines()]
    assert "2026-11-21 07:00:00 UTC to 2026-11-21 07:10:00 UTC" in output.getvalue()
    assert [
        "prod",
        "<b>&billing",
        "ERR",
        "5.0",
        "4.0",
        "1.0",
        "5",
        "1,234",
        "56,789",
        "120",
    ] in lines
    assert ["prod", "gone", "-", "1.5", "8.5", "5", "1,234", "56,789", "120"] in lines
    assert "at most 90 s" in output.getvalue()


def test_the_page_stands_alone_and_escapes_names() -> None:
    html = page.render(_report())
    shown = BeautifulSoup(html, "html.parser")
    assert not shown.find_all(["script", "link", "img", "b"])
    assert "http" not in html
    cells = [[cell.get_text(strip=True) for cell in row("td")] for row in shown("tr")[1:]]
    assert cells[0][:3] == ["prod", "<b>&billing", "ERR"]
    assert cells[0][4:] == ["5.0", "", "4.0", "1.0", "5", "1,234", "56,789", "120"]
    assert cells[1][2] == "unknown"


def test_the_bars_parts_are_the_shares_of_time() -> None:
    shown = BeautifulSoup(page.render(_report()), "html.parser")
    bars = shown.find_all(class_="bar")
    assert bars[0]["aria-label"] == "OK 50.0 %, ERR 40.0 %, unknown 10.0 %"
    widths = [part["style"] for part in bars[0]("span")]
    assert widths == ["width: 50.0%", "width: 40.0%", "width: 10.0%"]
