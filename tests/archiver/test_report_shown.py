"""A report on the terminal and as a page."""

import dataclasses
import io
from datetime import date

from bs4 import BeautifulSoup
from rich.console import Console
from warren_archiver.report import page
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import Budget, GroupReport, Incident, Outlook, Report
from warren_archiver.report.period import Period
from warren_archiver.report.summary import summary
from warren_cli.resources import group_report

MINUTE, DAY = 60_000, 86_400_000
START = 1_795_244_400_000
NASTY = "</svg><script>alert(1)</script>&billing"


def _report() -> Report:
    def group(name: str, status: str | None, **held: int) -> GroupReport:
        known = {"OK": 0, "WARN": 0, "ERR": 0, "NOTFOUND": 0} | held
        left = 10 * MINUTE - sum(known.values())
        return GroupReport("prod", name, status, known, left, 120, 5, 1_234, 56_789)

    bad = group(NASTY, "ERR", OK=5 * MINUTE, ERR=4 * MINUTE)
    lags = tuple((START + number * MINUTE, number) for number in range(10))
    outlook = Outlook(10.0, 9.5, 0.1, date(2026, 11, 26), date(2026, 11, 24), None, 5.0, None)
    bad = dataclasses.replace(bad, lag_over_time=lags, outlook=outlook)
    incident = Incident(
        "prod", NASTY, "i", START + MINUTE, None, START + MINUTE + 2_000, "ERR", "no_commit",
        None, "<i>why</i>", None, (), START + MINUTE, 7,
    )  # fmt: skip
    return Report(
        Period(START, START + 10 * MINUTE),
        False,
        START + 11 * MINUTE,
        90_000,
        0.0,
        [bad, group("gone", None, OK=90_000, NOTFOUND=30_000)],
        [incident],
        [Budget("prod", NASTY, "on-time", "max_lag", 0.99, 0.98, -1.0)],
    )


def _shown() -> BeautifulSoup:
    return BeautifulSoup(page.render(_report()), "html.parser")


def test_the_terminal_shows_a_row_per_group_and_what_to_do() -> None:
    output = io.StringIO()
    Console(file=output, width=240, color_system=None).print(group_report.render(_report()))
    lines = [line.split() for line in output.getvalue().splitlines()]
    assert "2026-11-21 07:00:00 UTC to 2026-11-21 07:10:00 UTC" in output.getvalue()
    unknown = group_report.UNKNOWN
    lags = ["1,234", "5", unknown, "120"]
    of = [unknown, unknown, "56,789"]
    assert ["prod", NASTY, "ERR", *of, "5.0", "-", "4.0", "1.0", *lags] in lines
    assert ["prod", "gone", unknown, *of, "1.5", "-", "-", "8.5", *lags] in lines
    assert "at most 90s" in output.getvalue()
    assert "Still open. Seen at 2026-11-21 07:01:00 UTC: <i>why</i>." in output.getvalue()


def test_at_100_columns_groups_are_whole_and_what_counts_is_there() -> None:
    output = io.StringIO()
    Console(file=output, width=100, color_system=None).print(group_report.render(_report(), 100))
    heads = next(line for line in output.getvalue().splitlines() if "cluster" in line).split()
    assert heads[:7] == ["cluster", "group", "status", "lost", "late", "lag", "max"]
    assert any(NASTY in line and "56,789" in line for line in output.getvalue().splitlines())
    assert "A wider terminal, or --html FILE, also has " in output.getvalue()


def test_what_has_no_room_on_the_terminal_is_counted() -> None:
    ours = _report()
    many = [
        dataclasses.replace(ours.incidents[0], incident_id=str(n), group=f"g-{n}")
        for n in range(30)
    ]
    output = io.StringIO()
    made = dataclasses.replace(ours, incidents=many)
    Console(file=output, width=240, color_system=None).print(group_report.render(made))
    assert output.getvalue().count("Still open. Seen at") < 30
    more = len(advice(made)) - group_report.MOST_ADVICE
    assert output.getvalue().endswith(f"… and {more} more: --html FILE has them all\n")


def test_the_page_stands_alone_and_escapes_names() -> None:
    shown = _shown()
    assert not shown.find_all(["script", "link", "img", "iframe", "i"])
    assert not [tag for tag in shown.find_all(True) if tag.get("href") or tag.get("src")]
    assert NASTY in shown.get_text()
    rows = [row(["th", "td"]) for row in shown.find_all("table")[0]("tr")[1:]]
    assert rows[0][0].get_text() == f"{NASTY}prod"
    told = [cell.get_text(strip=True) for cell in rows[0][2:6]]
    assert told == ["ERR 4m", "5", "1,234", "56,789"]
    assert rows[1][1].get_text() == "unknown"
    assert len(shown.find_all("svg")) == 1  # how far one was behind


def test_the_bars_parts_are_the_shares_of_time() -> None:
    bars = _shown().find_all(class_="bar")
    assert bars[0]["aria-label"] == "OK 50.0 %, ERR 40.0 %, unknown 10.0 %"
    widths = [part["style"] for part in bars[0]("span")]
    assert widths == ["width: 50.0%", "width: 40.0%", "width: 10.0%"]


def test_the_same_report_is_the_same_page() -> None:
    assert page.render(_report()) == page.render(_report())


def test_an_error_budget_that_is_spent_is_to_be_looked_at() -> None:
    (spent,) = [each for each in advice(_report()) if "objective" in each.sentence]
    assert spent.level == "ERR"
    kept = "98.00% kept of 99.00% in 30 days"
    assert f"its error budget is overspent by 100%, {kept}" in spent.sentence


def test_who_is_in_trouble_is_not_well_though_nobody_judged_it() -> None:
    """Neither where all that was judged was OK, nor where nothing was."""
    ours, (incident,) = _report(), _report().incidents
    fine = dataclasses.replace(ours.groups[0], held_ms=dict(ours.groups[1].held_ms))
    still = f"One group had an open incident at the end: {NASTY}, since 07:01 UTC."
    _, happened, hit, *_ = summary(dataclasses.replace(ours, groups=[fine], budgets=[]))
    assert happened.sentences[0] == "The only consumer group was in trouble."
    assert still in hit.sentences
    unjudged = dataclasses.replace(ours, groups=[ours.groups[1]], budgets=[])
    assert still in summary(unjudged)[2].sentences
    (said,) = advice(unjudged)
    assert (said.level, said.group) == (incident.worst, NASTY)
    assert said.sentence.startswith("Still open, and not judged any more. Seen at 2026-11-21")
