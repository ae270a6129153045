"""Burrow's own cases of when its notifier sends, on a Burrow-compatible route of Warren's.

Burrow's notifier looks at every evaluation of a group, Warren's at its status *changes*. So a case
that meets an incident which is open already is played with the change that opened it, and what
Burrow sends at the next evaluation with the same status is Warren's repetition: `send_once` is a
route without `repeat_interval`, its absence one with the shortest. Cases 00 and 01 (a route that
wants OK, told of a group that was and is OK) need a change that the evaluator never publishes; the
route decides as Burrow does when it is handed one, and a healthy group is simply silent in Warren.
"""

from typing import Any

import pytest
from notifier.builders import OPENED_AT, change, route
from support.conformance import conformance_cases
from warren.contracts import GroupStatusName, Notified, OpenIncident
from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, Router
from warren_notifier.routing.reminders import on_repeat

CASES: list[dict[str, Any]] = conformance_cases("burrow/notifier_cases.json")["cases"]
SEVERITY = {1: "OK", 2: "WARN", 3: "ERR"}
INTERVAL = 1  # second; Burrow's cases have none


def test_there_are_eighteen() -> None:
    assert len(CASES) == 18


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    router = compatible(case)
    status: GroupStatusName = case["group_status"]
    before, told = opened(router) if case["incident_open_before"] else (None, {})
    if before is not None and status == "WARN":
        decision = on_repeat(router, opening(), before, told, (), OPENED_AT + INTERVAL * 1000)
        decision = decision or Decision(before)
    else:
        previous = "WARN" if before is not None else "OK"
        news = change(status, previous=previous, event_id="event-2")
        decision = router.on_change(news, 1, before, told, OPENED_AT)
    assert bool(decision.deliveries) == case["expect_notify"]
    closes = [delivery.kind == "resolved" for delivery in decision.deliveries]
    assert any(closes) == case["expect_is_close"]
    assert (decision.incident is not None) == case["expect_incident_open_after"]
    if before is not None and decision.incident is not None:
        assert decision.incident.incident_id == before.incident_id


def compatible(case: dict[str, Any]) -> Router:
    """The route that does what a notifier module with the case's settings does."""
    once = case["send_once"]
    settings = {
        "minimum_severity": SEVERITY[case["threshold"]],
        "send_resolved": case["send_close"],
        "repeat_interval": 0 if once else INTERVAL,
    }
    return Router([route(**settings)], 3_600_000)


def opening() -> Change:
    return change("WARN")


def opened(router: Router) -> tuple[OpenIncident, dict[str, Notified]]:
    """The incident after the change that opened it, and who knows of it by that."""
    decision = router.on_change(opening(), 0, None, {}, OPENED_AT)
    assert decision.incident is not None
    known = {"status": "WARN", "conditions": opening().conditions}
    told = [news.notified.model_copy(update=known) for news in decision.news]
    return decision.incident, {one.channel: one for one in told}
