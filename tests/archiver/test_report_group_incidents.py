"""A report has a group's incident once, however many conditions it had, with what it lost."""

import pytest
from bs4 import BeautifulSoup
from support.condition_changes import OPENED_AT, late, losing, over, stuck
from support.reports import END, MINUTE, group, incident, made
from support.silver_events import folded
from warren.contracts import FRESHNESS_CHANGED, STATUS_CHANGED, Cause, StatusChangeEvent
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import Incident, Judged, incident as incident_of
from warren_archiver.report.page import render
from warren_archiver.report.summary import summary

DOWN = {"name": "no_members", "sentence": "No members for 40s", "action": "Restart it"}
GONE = "80 unread records deleted (orders/0)"
LATE = "orders/0 is 4m late"
SECOND = 1_000


def worded(*changes: StatusChangeEvent, **judged: Judged) -> Incident:
    *_, last = folded(changes)
    return incident_of(last.data, judged, None, flapped=False)


def test_the_root_condition_says_what_was_wrong_and_the_others_what_followed() -> None:
    """How much was lost is said of the group, with its last figure."""
    lost = losing(2, 80, reason="lost_records", explanation=GONE)
    found = worded(late(0, explanation=LATE, reason="max_freshness"), stuck(1, cause=DOWN), lost)
    assert (found.incident_id, found.worst, found.cause) == ("freshness-1", "ERR", "no_members")
    assert (found.sentence, found.action, found.said_ms) == (
        "No members for 40s", "Restart it", OPENED_AT + SECOND,
    )  # fmt: skip
    assert [(each.name, each.sentence) for each in found.also] == [
        ("max_freshness", f"at 07:00 UTC: {LATE}")
    ]


def test_what_is_over_says_nothing_while_another_condition_lasts() -> None:
    begun = (stuck(0, cause=DOWN), late(1, explanation=LATE, reason="max_freshness"))
    lasting = worded(*begun, over(STATUS_CHANGED, 2))
    assert (lasting.sentence, lasting.cause, lasting.also) == (LATE, None, [])
    ended = worded(*begun, over(STATUS_CHANGED, 2), over(FRESHNESS_CHANGED, 3))
    assert (ended.sentence, len(ended.also), ended.length_ms) == (DOWN["sentence"], 1, 3 * SECOND)


@pytest.mark.parametrize(("second", "cause"), [(0, None), (2, "no_members")])
def test_a_cause_that_is_found_later_counts(second: int, cause: str | None) -> None:
    judged = Judged(Cause.model_validate(DOWN), OPENED_AT + second * SECOND)
    unknown = Cause(name="unknown", sentence="not clear yet")
    found = worded(stuck(1, cause=unknown, reason="no_commit"), **{"status-1": judged})
    assert found.cause == cause
    assert found.sentence == ("No members for 40s" if cause else "Stopped")


def test_what_to_do_after_a_loss_is_known() -> None:
    lost = incident(sentence=GONE, end=None, reason="lost_records", said_ms=END - MINUTE)
    report = made(group(status="ERR", err=1, lost_records=1_642), incidents=(lost,))
    (said,) = advice(report)
    assert said.sentence.startswith("Still open. 1,642 records were deleted that it had not")
    assert "Raise retention.ms now" in said.sentence


@pytest.mark.parametrize(("least", "said"), [(True, "at least 1,642 records"), (False, "1,642 r")])
def test_a_count_that_fell_is_a_bound(least: bool, said: str) -> None:
    """Of what was lost between the last measurement and the fall nobody knows."""
    report = made(group(lost_records=1_642, lost_at_least=least, err=1))
    lost, *_ = summary(report)
    assert said in lost.sentences[0]
    assert said in advice(report)[0].sentence
    shown = BeautifulSoup(render(report), "html.parser").get_text(" ")
    assert ("≥ 1,642" in shown) is least
