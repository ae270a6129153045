"""Opsgenie against a receiver that checks what its documentation demands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event, fullest
from notifier.hostile_names import EVERY, HOSTILE
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.test_alertmanager import breach
from notifier.test_slack import BASE, CLOCK, send
from notifier.test_webhook import LOOPBACK
from pydantic import SecretStr
from warren.contracts import Cause
from warren.settings.channels import OpsgenieChannelSettings
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.channels.opsgenie import OpsgenieChannel
from warren_notifier.state.delivery import Delivery


def channel(receiver: HttpReceiver, **fields: Any) -> OpsgenieChannel:
    settings = OpsgenieChannelSettings(
        type="opsgenie",
        api_key=SecretStr("key-1"),
        url=receiver.url.removesuffix("/hook") + "/jsm/ops/integration/",
        **fields,
    )
    return OpsgenieChannel(settings, BASE, LOOPBACK, CLOCK)


def api(request: Request) -> Answer:
    """https://docs.opsgenie.com/docs/alert-api."""
    if request.headers["authorization"] != "GenieKey key-1":
        return Answer(401)
    wrong = []
    if request.path.endswith("/v2/alerts"):
        wrong = list(_violations(json.loads(request.body)))
    return Answer(422, body=repr(wrong).encode()) if wrong else Answer(202)


def _violations(alert: dict[str, Any]) -> Iterator[str]:
    limits = {"message": 130, "alias": 512, "description": 15_000, "entity": 512, "source": 100}
    for name, limit in limits.items():
        if not 1 <= len(alert[name]) <= limit:
            yield name
    if len(alert["tags"]) > 20 or any(len(tag) > 50 for tag in alert["tags"]):
        yield "tags"
    if sum(len(name) + len(value) for name, value in alert["details"].items()) > 8_000:
        yield "details"
    if alert["priority"] not in ("P1", "P2", "P3", "P4", "P5"):
        yield "priority"


def sent(what: Delivery, **fields: Any) -> list[Request]:
    with HttpReceiver(decide=api) as receiver:
        assert send(channel(receiver, **fields), what) == [Delivered("HTTP 202")]
    return receiver.requests


def test_an_opening_creates_an_alert() -> None:
    cause = Cause(name="no_members", sentence="Nobody is in the group.", action="Start it.")
    late = breach("max_freshness", 90_000, owner="payments")
    (request,) = sent(delivery(event(cause=cause, objectives=[late])), teams=["data"])
    assert request.path == "/jsm/ops/integration/v2/alerts"
    alert = json.loads(request.body)
    assert alert["alias"] == "incident-1"
    assert alert["priority"] == "P1"
    assert alert["details"] == {
        "cluster": "prod",
        "group": "billing",
        "cause": "no_members",
        "owner": "payments",
    }
    assert alert["responders"] == [{"type": "team", "name": "data"}]
    assert "What to do: Start it." in alert["description"]
    assert f"{BASE}/groups/prod/billing" in alert["description"]


def test_a_change_changes_its_priority() -> None:
    counted, changed = sent(delivery(event("WARN", "ERR"), kind="changed"))
    assert json.loads(counted.body)["alias"] == "incident-1"
    assert (changed.method, changed.path.partition("/v2")[2]) == (
        "PUT",
        "/alerts/incident-1/priority?identifierType=alias",
    )
    assert json.loads(changed.body) == {"priority": "P3"}


def test_where_priorities_cannot_change_the_change_is_taken() -> None:
    """Jira Service Management's integrations create, acknowledge and close alerts, no more."""
    with HttpReceiver(Answer(202), Answer(404)) as receiver:
        (result,) = send(channel(receiver), delivery(event("WARN", "ERR"), kind="changed"))
    assert result == Delivered("HTTP 202; no change of priority there")


def test_teams_are_known_by_name_or_id() -> None:
    team = "4513b7ea-3b91-438f-b7e4-e3e54af9147c"
    (request,) = sent(delivery(), teams=[team, "data"])
    assert json.loads(request.body)["responders"] == [
        {"type": "team", "id": team},
        {"type": "team", "name": "data"},
    ]


def test_the_end_closes_it() -> None:
    over = event("OK", "ERR", incident_id="a/b c", at=OPENED_AT + MINUTE)
    (request,) = sent(delivery(over, kind="resolved"))
    assert request.path.endswith("/v2/alerts/a%2Fb%20c/close?identifierType=alias")
    with HttpReceiver(Answer(404)) as receiver:
        (gone,) = send(channel(receiver), delivery(over, kind="resolved"))
    assert isinstance(gone, Delivered)


def test_what_somebody_looks_after_is_acknowledged() -> None:
    who = {"at": OPENED_AT, "by": "ada", "why": "restarting\x1bit"}
    what = delivery(event(incident_id="a/b c"), kind="acknowledged", acknowledged=who)
    (request,) = sent(what)
    assert request.path.endswith("/v2/alerts/a%2Fb%20c/acknowledge?identifierType=alias")
    assert json.loads(request.body) == {
        "source": "Warren",
        "note": "ada looks after it: restarting␛it",
    }
    with HttpReceiver(Answer(404)) as receiver:
        (gone,) = send(channel(receiver), what)
    assert isinstance(gone, Delivered)


@pytest.mark.parametrize("name", EVERY)
def test_the_fullest_event_stays_within_limits(name: str) -> None:
    sent(delivery(fullest(EVERY[name])))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_within_limits(name: str) -> None:
    cause = Cause(name="too_slow", sentence=HOSTILE[name] * 20)
    (request,) = sent(delivery(event(group=HOSTILE[name], cause=cause, cluster="c" * 90)))
    if name in ("long", "wide"):
        assert json.loads(request.body)["message"].endswith("…")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(429, {"Retry-After": "3"}), Retry("HTTP 429", 3.0)),
        (Answer(403, body=b"key"), Refused("HTTP 403: key")),
    ],
)
def test_answers(answer: Answer, expected: Result) -> None:
    with HttpReceiver(answer) as receiver:
        assert send(channel(receiver), delivery()) == [expected]
