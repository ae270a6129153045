"""What is known has a beginning: an archive that began late says nothing of the time before."""

import io
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from rich.console import Console
from support.lake_files import write_table
from support.manual_clock import ManualClock
from support.report_lake import (
    EVALUATIONS,
    HEARTBEAT,
    HOUR,
    MINUTE,
    START,
    add_bronze,
    add_incidents,
    moment,
)
from support.report_recount import LagRecord
from support.silver_events import status_change
from warren.history.lake_tables import LakeTables
from warren.settings import Settings
from warren_archiver.report import page
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import Report
from warren_archiver.report.make import report
from warren_archiver.report.period import Period
from warren_archiver.report.summary import summary
from warren_cli.resources import group_report

JUDGED = START + HOUR + 4 * MINUTE
"""The first evaluation that is archived; freshness was archived for an hour before."""
ENDS = START + HOUR + 20 * MINUTE
WHO = {"cluster": "VARCHAR", "group": "VARCHAR"}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """`losing` loses 120 a minute, and has an incident; `mail` is well, `down` has no incident."""
    columns = WHO | {"topic": "VARCHAR", "minute": "TIMESTAMPTZ"}
    columns |= dict.fromkeys(("lost_records", "late_ms", "late_max_ms"), "BIGINT")
    rows = [
        {"cluster": "prod", "group": name, "topic": "orders", "minute": moment(at)}
        | {"lost_records": (at - START) // MINUTE * 120 * (name == "losing")}
        | {"late_ms": 9, "late_max_ms": 9}
        for name in ("losing", "mail")
        for at in range(START, ENDS, MINUTE)
    ]
    write_table(tmp_path, "silver/lateness_minutes", columns, rows)
    began = START + MINUTE
    change = status_change("losing", began, "ERR", "OK", "i", opened_at=began)
    add_incidents(tmp_path, ([change], None))
    evaluations = [
        {"cluster": "prod", "group": name, "at": moment(at), "position": at, "total_lag": 3}
        | {"status": "ERR" if name == "losing" else "OK", "kafka_timestamp": moment(at)}
        for name in ("losing", "mail")
        for at in range(JUDGED, ENDS, 10_000)
    ]
    write_table(tmp_path, "silver/evaluations", EVALUATIONS, evaluations)
    add_bronze(tmp_path, [LagRecord(b"prod|mail", b"{}", at) for at in (JUDGED, ENDS)])
    return tmp_path


def _made(path: Path, period: Period) -> Report:
    settings = Settings.model_validate(
        {"archiver": {"path": str(path)}, "collector": {"heartbeat": HEARTBEAT}}
    )
    with LakeTables(str(path)) as tables:
        return report(tables, settings, period, clock=ManualClock(ENDS))


BEFORE = Period(START + 55 * MINUTE, START + HOUR)


def test_groups_of_a_period_without_evaluations_are_there_with_their_losses(lake: Path) -> None:
    made = _made(lake, BEFORE)
    assert {each.group: each.lost_records for each in made.groups} == {"losing": 600, "mail": 0}
    assert {each.group: each.lag_max for each in made.groups} == {"losing": None, "mail": None}
    assert all(each.unknown_ms == BEFORE.length_ms for each in made.groups)
    lost, happened, hit = summary(made)
    assert lost.sentences == [
        "Retention deleted 600 records before losing had read them; nobody can get them back."
    ]
    assert happened.sentences == [
        "No evaluation of this period is archived: the archive begins with 01:04 UTC.",
        "1 of 2 consumer groups was in trouble by status changes; the other one was not judged.",
        "1 incident went on from before.",
    ]
    assert hit.sentences[0] == "losing had an incident."
    assert not any("judged any more" in each.sentence for each in advice(made))


def test_the_heading_says_where_each_kind_begins(lake: Path) -> None:
    made = _made(lake, BEFORE)
    stamps = {each.kind: (each.since_ms, each.until_ms) for each in made.known}
    assert stamps["evaluations"] == (JUDGED, None)
    assert stamps["losses"] == (None, BEFORE.end_ms)
    assert stamps["incidents"][0] is None
    output = io.StringIO()
    Console(file=output, width=500, color_system=None).print(group_report.render(made))
    assert "evaluations and notifications not before 2026-11-21 01:04:00 UTC" in output.getvalue()
    shown = BeautifulSoup(page.render(made), "html.parser").get_text(" ")
    assert "evaluations and notifications not before 2026-11-21 01:04:00 UTC" in shown
    assert "0 groups judged not known" in " ".join(shown.split())
    assert f"{group_report.UNKNOWN} in ERR, all groups together not known" in " ".join(
        shown.split()
    )


def test_a_kind_that_begins_within_the_period_is_known_from_then_on(lake: Path) -> None:
    made = _made(lake, Period(START + HOUR, START + HOUR + 10 * MINUTE))
    stamps = {each.kind: each.since_ms for each in made.known}
    assert stamps["evaluations"] == JUDGED
    assert summary(made)[1].sentences[0] == (
        "1 of 2 consumer groups was in trouble; the other one was well whenever judged, 60% of the "
        "time."
    )


def test_none_is_said_to_be_lost_of_a_time_that_is_not_known(lake: Path) -> None:
    """The archive begins ten minutes after the period does."""
    made = _made(lake, Period(START - 10 * MINUTE, START + 10 * MINUTE))
    assert {each.group: each.lost_records for each in made.groups} == {"losing": 1080, "mail": None}
    assert summary(made)[0].sentences == [
        "Retention deleted 1,080 records before losing had read them; nobody can get them back.",
        "It is not known whether records of 1 group were lost before 00:00 UTC.",
    ]
