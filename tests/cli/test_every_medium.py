"""How a group stands is the same on page, terminal, mail, chat and alert, and of the same moment.

Each scene is told to a real API and to the notifier's texts; then its facts change.
"""

import html
import re
from typing import Any

import pytest
from api.served_api import CAUGHT_UP, NOW, Api, lag_event, late, topic
from bs4 import BeautifulSoup
from notifier.builders import delivery
from rich.console import Console
from warren.contracts import GroupIncidentEvent, group_key
from warren_cli.resources import descriptions
from warren_core.objectives.limits import ObjectiveBook
from warren_core.standing.facts import Fact, facts_of
from warren_core.standing.renewal import Known
from warren_core.standing.standing import Standing
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.channels.kinds.alertmanager import alert_annotations
from warren_notifier.channels.kinds.slack import slack_message
from warren_notifier.channels.note import incident_note

MINUTE = 60_000
OPENED = NOW - 5 * MINUTE
ID = f"billing-{OPENED}"
STUCK = {
    "name": "stuck_record",
    "short": "Stuck at one record",
    "sentence": "orders/1 has been at offset 100 for 5m",
    "action": 'look at it: kafka-console-consumer --bootstrap-server "$BOOTSTRAP" --topic orders',
}
SLOW = {"name": "too_slow", "short": "Too slow", "sentence": "reads 3/s of 11/s", "action": "scale"}
BREACH = {
    "objective": "on-time",
    "limit": "max_freshness",
    "status": "WARN",
    "since": OPENED,
    "value": 300_000,
    "wanted": 60_000,
    "sentence": "orders/1 is at least 5m late (limit 1m)",
    "owner": "payments",
    "runbook": "https://runbooks.example.org/late",
}
LOST = {
    **BREACH,
    "objective": "retention",
    "limit": "lost_records",
    "value": 66,
    "sentence": "66 unread records deleted (orders/1)",
}
FRESHNESS = {"type": "warren.group.freshness.changed", "incident_id": "late-1"}
RETENTION = {"type": "warren.group.retention.changed", "incident_id": "lost-1"}
Scene = tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]
"""The evaluation, partitions as measured, and what objectives say."""


def judged(cause: dict[str, Any], lag: int) -> dict[str, Any]:
    rows = topic({}, {"status": "STALL", "lag": lag, "log_end": 100 + lag})
    incident = {"id": ID, "opened_at": OPENED}
    about = {"status": "ERR", "incident": incident, "cause": cause, "reason": "no_progress"}
    return {**about, "total_lag": lag, "topics": {"orders": rows}, "explanation": "it stands"}


SCENES: dict[str, Scene] = {
    "a cause": (judged(STUCK, 2_101), [CAUGHT_UP, late(310_000)], []),
    "another cause, later figures": (judged(SLOW, 9_000), [CAUGHT_UP, late(700_000)], []),
    "near loss": (judged(STUCK, 7), [CAUGHT_UP, late(7_000, time_to_loss_ms=600_000)], []),
    "losing": (
        judged(STUCK, 7),
        [CAUGHT_UP, late(7_000, lost_records=66, reason="expired", time_to_loss_ms=0)],
        [{**RETENTION, "objectives": [LOST]}],
    ),
    "an objective beside it": (
        judged(STUCK, 7),
        [CAUGHT_UP, late(300_000)],
        [{**FRESHNESS, "objectives": [BREACH]}],
    ),
    "an unknown part": (judged(STUCK, 7), [late(None, bound_ms=90_000), late(5_000)], []),
}


@pytest.fixture
def api() -> Api:
    made = Api()
    made.change("billing", "ERR", OPENED, cause=STUCK, total_lag=3)
    made.describe("billing")
    return made


def play(api: Api, scene: Scene) -> None:
    evaluation, measured, changes = scene
    at = api.clock.now_ms() - 3_000
    for change in changes:
        status = change["objectives"][0]["status"]
        if change["incident_id"] not in {each.incident_id for each in newest(api).data.conditions}:
            api.change("billing", status, at - MINUTE, **change)
    api.put("billing", evaluated_at=at, **evaluation)
    api.measure("billing", *measured, measured_at=at)


def newest(api: Api) -> GroupIncidentEvent:
    return api.incidents["demo", "billing"]


def standing(api: Api) -> Standing:
    """As the notifier makes it, of the same topics."""
    view = api.model.group("demo", "billing")
    assert view is not None
    assert view.freshness is not None
    assert view.membership is not None
    limits = ObjectiveBook([]).limits_for("demo", "billing")
    known = Known(
        view.event,
        view.freshness.event,
        limits,
        servers="broker:9092",
        members=len(view.membership.event.members),
    )
    return Standing.of(newest(api).data, known)


def mail(api: Api) -> IncidentText:
    event = newest(api)
    about = delivery(event, kind="repeated")
    about.now = standing(api)
    return incident_text(about, "", api.clock.now_ms())


def words(text: str) -> str:
    return re.sub(r"\s+", "", html.unescape(text))


def media(api: Api) -> dict[str, str]:
    """All of it, without blanks: each medium breaks its lines as it likes."""
    text, now = mail(api), api.clock.now_ms()
    console = Console(width=400, color_system=None)
    with console.capture() as terminal:
        console.print(descriptions.group(api.get("/api/v1/groups/demo/billing").json(), now))
    page = BeautifulSoup(api.get("/groups/demo/billing").text, "html.parser").get_text()
    incident = BeautifulSoup(api.get(f"/incidents/{ID}").text, "html.parser").get_text()
    shown = {
        "mail": text.sentences,
        "chat": str(slack_message(incident_note(text, delivery(newest(api)).pending))),
        "alert": alert_annotations(text)["description"],
        "terminal": terminal.get(),
        "page": page,
        "incident": incident,
        "api": str(api.get("/api/v1/groups/demo/billing").json()["facts"]),
    }
    return {name: words(said) for name, said in shown.items()}


def facts(api: Api) -> list[Fact]:
    return facts_of(standing(api), api.clock.now_ms())


# A page words a step without its command, which stands beside it; times are in a zone of its own.
ELSEWHERE = {
    "page": {"What to do", "Then", "Runbook", "Since", "Data loss", "Lag", "Late by", "Partitions"}
}
ELSEWHERE["incident"] = ELSEWHERE["page"]


@pytest.mark.parametrize("name", SCENES)
def test_every_medium_says_the_same(api: Api, name: str) -> None:
    play(api, SCENES[name])
    shown, said = media(api), facts(api)
    assert {"Since", "Cause", "What to do", "Late by", "Lag"} <= {fact.name for fact in said}
    for fact in said:
        for medium, text in shown.items():
            if fact.name not in ELSEWHERE.get(medium, ()):
                assert words(fact.value) in text, (medium, fact)
    figures = standing(api).figures
    assert figures.lag is not None
    for medium, text in shown.items():
        assert f"{figures.lag.value:,}" in text, medium
    short = words(standing(api).what(api.clock.now_ms()))
    for text in (api.get("/?q=is:any").text, api.get("/incidents").text):
        assert short in words(BeautifulSoup(text, "html.parser").get_text())
    (row,) = api.get("/api/v1/groups").json()["groups"]
    assert words(row["words"]["short"]) == short
    assert short[1:] in words(mail(api).title)


def test_what_changes_changes_in_every_medium(api: Api) -> None:
    play(api, SCENES["a cause"])
    before = {fact.name: fact.value for fact in facts(api)}
    api.clock.advance(2 * 60)
    play(api, SCENES["another cause, later figures"])
    after = {fact.name: fact.value for fact in facts(api)}
    changed = {name for name in before if before[name] != after.get(name)}
    assert {"Cause", "What to do", "Late by", "Lag", "Largest lag"} <= changed
    for medium, text in media(api).items():
        assert words(after["Cause"]) in text, medium
        if medium in ("mail", "alert", "terminal", "api"):
            for name in changed:
                assert words(before[name]) not in text, (medium, name)


def test_what_is_not_renewed_carries_its_time_everywhere(api: Api) -> None:
    play(api, SCENES["a cause"])
    api.clock.advance(10 * 60)
    for medium, text in media(api).items():
        said = re.findall(r"at(\d\d:\d\d)UTC:orders/1hasbeenatoffset100for5m", text)
        assert "06:59" in said, medium


def test_what_is_well_by_now_is_so_in_every_medium(api: Api) -> None:
    """The evaluation comes before the end of the incident."""
    play(api, SCENES["a cause"])
    event = lag_event("billing", evaluated_at=api.clock.now_ms() - 1_000)
    api.model.apply(group_key("demo", "billing"), event.to_bytes())
    said = "OK at 06:59 UTC, was stuck at one record"
    assert mail(api).title == f"[OK] demo: billing {said}"
    for path in ("/?q=is:any", "/incidents"):
        assert words(said) in words(BeautifulSoup(api.get(path).text, "html.parser").get_text())
    group = api.get("/api/v1/groups/demo/billing").json()
    shown = api.get(f"/api/v1/incidents/{ID}").json()
    assert group["words"]["short"] == shown["short"] == said
    assert group["cause"] is None
    assert group["words"]["why"].startswith("at 06:55 UTC: ")
    assert shown["now"]["said_at"] == OPENED
