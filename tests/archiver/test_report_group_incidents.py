"""A report has a group's incident once, however many conditions it had, with what it lost."""

import pytest
from bs4 import BeautifulSoup
from support.reports import END, MINUTE, group, incident, made
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import Report
from warren_archiver.report.page import render
from warren_archiver.report.period import HOUR_MS
from warren_archiver.report.summary import summary

DOWN = {"cause": "no_members", "sentence": "No members for 40s", "action": "Restart it"}
GONE = "80 unread records deleted by retention (orders/0)"
BEGUN = END - 9 * HOUR_MS


def several(**about_loss: float | None) -> Report:
    """billing was late, then without members, then lost records: one incident of it."""
    late = incident(start=1, end=1.5, worst="WARN", reason="max_freshness", told_ms=None)
    down = incident(start=1.2, end=2, said_ms=BEGUN + 30 * MINUTE, peak_lag=90, **DOWN)
    lost = incident(
        start=1.4,
        **{"end": 1.9, **about_loss},
        reason="min_time_to_loss",
        explanation=GONE,
        seen_ms=BEGUN + 50 * MINUTE,
        flapped=True,
    )
    again = incident(start=2.1, end=2.2, flapped=True)
    return made(group(err=1, lost_records=1_642), incidents=(late, down, lost, again))


def test_conditions_that_overlap_are_one_incident() -> None:
    first, again = several().group_incidents
    assert (first.incident_id, first.worst, first.peak_lag) == ("billing 1", "ERR", 90)
    assert (first.length_ms, first.cause) == (HOUR_MS, "no_members")
    assert (first.flapped, again.flapped) == (False, True)
    still = several(end=None).group_incidents
    assert [each.closed_ms for each in still] == [None]


def test_incidents_are_counted_as_the_pages_count_them() -> None:
    shown = BeautifulSoup(render(several()), "html.parser")
    assert "2 incidents" in " ".join(shown.select(".figures")[0].get_text(" ").split())
    _, happened, *_ = summary(several())
    assert "2 incidents began." in happened.sentences
    rows = [row.get_text(" ") for row in shown.select("tbody tr") if "No members" in row.get_text()]
    (row,) = rows
    assert GONE not in row  # what was lost in the end is said of the group


def test_what_an_explanation_says_has_its_own_time() -> None:
    lost = incident(explanation=GONE, end=None, seen_ms=END - MINUTE, reason="other")
    (said, *_) = advice(made(group(err=1), incidents=(lost,)))
    assert said.sentence == f"Still open. Seen at 2026-11-21 09:59:00 UTC: {GONE}."


def test_what_to_do_after_a_loss_is_known() -> None:
    lost = incident(explanation=GONE, end=None, reason="lost_records", seen_ms=END - MINUTE)
    report = made(group(status="ERR", err=1, lost_records=1_642), incidents=(lost,))
    (said,) = advice(report)
    assert said.sentence.startswith("Still open. Retention deleted 1,642 records that it had not")
    assert "Raise retention.ms now" in said.sentence


@pytest.mark.parametrize(("least", "said"), [(True, "at least 1,642 records"), (False, " 1,642 r")])
def test_a_count_that_fell_is_a_bound(least: bool, said: str) -> None:
    """Of what was lost between the last measurement and the fall nobody knows."""
    report = made(group(lost_records=1_642, lost_at_least=least, err=1))
    lost, *_ = summary(report)
    assert said in lost.sentences[0]
    assert said in advice(report)[0].sentence
    shown = BeautifulSoup(render(report), "html.parser").get_text(" ")
    assert ("≥ 1,642" in shown) is least
