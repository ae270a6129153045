"""PagerDuty against a receiver that checks what its documentation demands."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.specimens import BASE, Specimen, made, send
from warren.contracts import Cause, StatusChangeEvent
from warren_notifier.channels.channel import Channel, Delivered, Refused, Result, Retry
from warren_notifier.state.telling import Delivery

FIELDS = {
    *("routing_key", "event_action", "dedup_key", "payload", "images", "links"),
    *("client", "client_url"),
}
PAYLOAD = {
    *("summary", "source", "severity", "timestamp", "component", "group", "class"),
    "custom_details",
}
# ISO 8601 with a zone.
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
KEY = "0123456789abcdef0123456789ABCDEF"


def channel(receiver: HttpReceiver, **fields: Any) -> Channel:
    return made("pagerduty", f"127.0.0.1:{receiver.port}", **fields)


def enqueue(request: Request) -> Answer:
    """POST /v2/enqueue: https://developer.pagerduty.com/docs/events-api-v2/trigger-events/."""
    found, wrong = json.loads(request.body), []
    if len(request.body) > 512 * 1000:
        wrong.append("size")
    if len(found["routing_key"]) != 32:
        wrong.append("Length of 'routing_key' is incorrect (should be 32 characters)")
    if found["event_action"] not in ("trigger", "acknowledge", "resolve"):
        wrong.append("event_action")
    if not 1 <= len(found["dedup_key"]) <= 255:
        wrong.append("dedup_key")
    if found["event_action"] == "trigger":
        wrong += _violations(found)
    elif found.keys() != {"routing_key", "event_action", "dedup_key"}:
        wrong.append("fields")
    if wrong:
        return Answer(400, body=json.dumps({"status": "invalid event", "errors": wrong}).encode())
    return Answer(202, body=b'{"status": "success"}')


def _violations(found: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a trigger."""
    payload = found["payload"]
    if found.keys() - FIELDS or payload.keys() - PAYLOAD:
        yield f"fields {found.keys() - FIELDS} {payload.keys() - PAYLOAD}"
    if not TIMESTAMP.fullmatch(payload["timestamp"]):
        yield "timestamp"
    if not 1 <= len(payload["summary"]) <= 1024:
        yield "summary"
    for name in ("source", "component", "class"):
        if not (isinstance(payload[name], str) and payload[name]):
            yield name
    if payload["severity"] not in ("critical", "error", "warning", "info"):
        yield "severity"
    if not isinstance(payload["custom_details"], dict):
        yield "custom_details"
    for link in found["links"]:
        if not (link["href"].startswith(("https://", "http://")) and link["text"]):
            yield f"link {link}"
    if len(found.get("client_url", "")) > 2_000:
        yield "client_url"


SPECIMEN = Specimen(
    lambda at: f'url = "http://{at}/v2/enqueue"\nrouting_key = "{KEY}"',
    ("0123456", "6543210"),
    [
        ("0123456789", "", "it.routing_key", "32 letters and digits"),
        ("type", 'severities = { WARN = "bad" }\ntype', "it.severities.WARN", "'critical'"),
        ("http://", "ftp://", "it.url", "http:// or https://"),
    ],
    enqueue,
)


def sent(what: Delivery, **fields: Any) -> dict[str, Any]:
    with HttpReceiver(decide=enqueue) as receiver:
        assert send(channel(receiver, **fields), what) == [Delivered("HTTP 202")]
    (request,) = receiver.requests
    found: dict[str, Any] = json.loads(request.body)
    return found


def test_an_opening_triggers_an_alert_with_all_that_is_known() -> None:
    cause = Cause(name="no_members", sentence="Nobody is in the group.", action="Start it.")
    found = sent(delivery(event(cause=cause)))
    assert found["event_action"] == "trigger"
    assert found["dedup_key"] == "incident-1"
    assert found["client_url"] == f"{BASE}/groups/prod/billing"
    payload = found["payload"]
    assert payload["severity"] == "critical"
    assert (payload["source"], payload["component"]) == ("prod", "billing")
    assert payload["class"] == "no_members"
    assert payload["custom_details"]["Cause"] == "at 07:00 UTC: Nobody is in the group."
    assert payload["custom_details"]["What to do"] == "Start it."
    assert payload["custom_details"]["Worst partitions"][0]["lag"] == 2101


def test_a_change_goes_to_the_same_alert_with_its_severity() -> None:
    found = sent(delivery(event("WARN", "ERR"), kind="changed"))
    assert (found["event_action"], found["dedup_key"]) == ("trigger", "incident-1")
    assert found["payload"]["severity"] == "warning"
    told = sent(delivery(event("WARN", "ERR"), kind="changed"), severities={"WARN": "info"})
    assert told["payload"]["severity"] == "info"


OVER = event("OK", "ERR", event_id="event-2", at=OPENED_AT + MINUTE)


@pytest.mark.parametrize(
    ("about", "kind", "action"),
    [
        (OVER, "resolved", "resolve"),
        (OVER, "changed", "resolve"),
        (event(), "acknowledged", "acknowledge"),
        (OVER, "acknowledged", "resolve"),
    ],
)
def test_what_needs_no_alert_anew(about: StatusChangeEvent, kind: str, action: str) -> None:
    looked_after = {"at": OPENED_AT, "by": "ada"} if kind == "acknowledged" else None
    assert sent(delivery(about, kind=kind, acknowledged=looked_after)) == {
        "routing_key": KEY,
        "event_action": action,
        "dedup_key": "incident-1",
    }


def test_long_incident_ids_have_short_keys_that_stay() -> None:
    long = event(incident_id="i" * 300)
    over = event("OK", "ERR", incident_id="i" * 300)
    assert sent(delivery(long))["dedup_key"] == sent(delivery(over, kind="resolved"))["dedup_key"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(429), Retry("HTTP 429", 120.0)),
        (Answer(200, body=b'{"status":"bad"}'), Retry('HTTP 200: {"status":"bad"}')),
        (Answer(200, body=b'{"status":"invalid"}'), Refused('HTTP 200: {"status":"invalid"}')),
    ],
)
def test_what_it_says_counts(answer: Answer, expected: Result) -> None:
    with HttpReceiver(answer) as receiver:
        (result,) = send(channel(receiver), delivery())
    assert result == expected
