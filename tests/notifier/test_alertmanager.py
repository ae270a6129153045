"""Alerts as Alertmanager takes and sends them; the real one is in test_real_alertmanager.py."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.specimens import BASE, Specimen, made, send
from warren.contracts import Breach, Cause, Finding
from warren_notifier.channels.channel import Delivered
from warren_notifier.channels.incident_text import incident_text
from warren_notifier.channels.kinds.alertmanager import alert_annotations
from warren_notifier.state.telling import Delivery

LABELS = {
    "alertname": "WarrenGroup",
    "cluster": "prod",
    "consumer_group": "billing",
    "severity": "critical",
}
WARNING = LABELS | {"severity": "warning"}


def breach(limit: str, value: float, **fields: Any) -> Breach:
    return Breach(
        objective="billing",
        limit=limit,
        status="ERR",
        since=OPENED_AT,
        value=value,
        wanted=1,
        sentence="It is late.",
        **fields,
    )


# https://prometheus.io/docs/alerting/latest/alerts_api/, and for webhooks
# https://prometheus.io/docs/alerting/latest/configuration/#webhook_config.
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")
ALERT = {"labels", "annotations", "startsAt", "endsAt", "generatorURL"}


def violations(alert: dict[str, Any]) -> Iterator[str]:
    """What is wrong with an alert."""
    for kind in ("labels", "annotations"):
        for name, value in alert[kind].items():
            if not NAME.fullmatch(name) or not isinstance(value, str) or not value:
                yield f"{kind} {name}"
    if not alert["labels"].get("alertname"):
        yield "alertname"
    for name in ("startsAt", "endsAt"):
        if not TIME.fullmatch(alert[name]):
            yield name
    if alert["endsAt"] < alert["startsAt"]:
        yield "it ends before it starts"
    if not alert.get("generatorURL", BASE).startswith("http"):
        yield "generatorURL"


def api(request: Request) -> Answer:
    """POST /api/v2/alerts."""
    alerts = json.loads(request.body)
    wrong = [one for alert in alerts for one in violations(alert)]
    wrong += [f"fields {alert.keys() - ALERT}" for alert in alerts if alert.keys() - ALERT]
    wrong += [] if alerts else ["no alerts"]
    return Answer(400, body=repr(wrong).encode()) if wrong else Answer(200)


# Names of labels that are none.
BAD_LABELS = [
    ("type", f'labels = {{ "{name}" = "x" }}\ntype', f"it.labels.{name}", "begin with no digit")
    for name in ("9th", "a-b", "ä", "", "a b", "__name__ ")
]
SPECIMEN = Specimen(
    lambda at: f'url = "http://{at}/k3y-17aQ9/"',
    ("17aQ9", "9Qa71"),
    [
        *BAD_LABELS,
        ("type", "resend_interval = 0\ntype", "it.resend_interval", "must be at least 1"),
    ],
    api,
)


def taken(what: Delivery, **fields: Any) -> tuple[Delivered, list[dict[str, Any]]]:
    with HttpReceiver(decide=api) as receiver:
        (result,) = send(made("alertmanager", f"127.0.0.1:{receiver.port}", **fields), what)
    (request,) = receiver.requests
    assert request.path == "/k3y-17aQ9/api/v2/alerts"
    assert isinstance(result, Delivered)
    return result, json.loads(request.body)


def with_receipt(what: Delivery, labels: dict[str, str] | str) -> Delivery:
    what.receipt = labels if isinstance(labels, str) else json.dumps(labels)
    return what


def test_an_alert_has_all_that_is_known() -> None:
    gone = Finding(name="records_lost", sentence="9 records are gone")
    cause = Cause(
        name="no_members", sentence="Nobody is in the group.", action="Start it.", also=[gone]
    )
    breaches = [
        breach("max_freshness", 90_000, owner="payments", runbook="https://run.example/book"),
        breach("min_time_to_loss", 1_500),
    ]
    what = event(cause=cause, objectives=breaches, late_ms=90_000, time_to_loss_ms=1_500)
    result, (alert,) = taken(delivery(what), labels={"env": "live"}, resend_interval=60)
    assert alert["labels"] == LABELS | {"env": "live", "owner": "payments"}
    assert result.receipt == json.dumps(alert["labels"])
    assert alert["generatorURL"] == f"{BASE}/groups/prod/billing"
    notes = alert["annotations"]
    assert notes["cause"].endswith("Nobody is in the group.")
    assert notes["action"] == "Start it."
    assert notes["also"].endswith("9 records are gone")
    assert notes["runbook_url"] == "https://run.example/book"
    assert (notes["lateness_seconds"], notes["time_to_loss_seconds"]) == ("90", "1.5")
    assert alert["startsAt"] == "2026-11-21T07:00:00.123Z"
    assert alert["endsAt"] == "2026-11-21T07:05:00.123Z"  # a minute later, and four intervals


def test_with_another_severity_it_is_another_alert() -> None:
    worse = event("ERR", "WARN", event_id="event-2", at=OPENED_AT + MINUTE)
    _, alerts = taken(with_receipt(delivery(worse, kind="changed"), WARNING))
    ends = {alert["labels"]["severity"]: alert["endsAt"] for alert in alerts}
    assert ends == {
        "warning": "2026-11-21T07:01:00.123Z",
        "critical": "2026-11-21T07:09:00.123Z",
    }


def test_the_end_is_that_of_what_fired() -> None:
    over = event("OK", "ERR", event_id="event-2", at=OPENED_AT + MINUTE)
    owned = LABELS | {"owner": "payments"}
    _, (alert,) = taken(with_receipt(delivery(over, kind="resolved"), owned))
    assert alert["labels"] == owned
    assert alert["endsAt"] == "2026-11-21T07:01:00.123Z"


@pytest.mark.parametrize("receipt", ["", "[1]"])
def test_where_it_is_not_known_what_fired_all_that_may_end(receipt: str) -> None:
    over = event("OK", "ERR", at=OPENED_AT + MINUTE)
    _, alerts = taken(with_receipt(delivery(over, kind="resolved"), receipt))
    assert [alert["labels"] for alert in alerts] == [WARNING, LABELS]


@pytest.mark.parametrize(("age", "then"), [(9_000, ""), (10_000, "at 07:00 UTC: ")])
def test_a_sentence_that_is_sent_again_says_when_it_was_so(age: int, then: str) -> None:
    gone = Finding(name="records_lost", sentence="9 records are gone")
    cause = Cause(name="stuck_record", sentence="It has stood for 6s.", also=[gone])
    notes = alert_annotations(incident_text(delivery(event(cause=cause)), BASE, OPENED_AT + age))
    assert notes["cause"] == f"{then}It has stood for 6s."
    assert notes["also"] == f"{then}9 records are gone"
