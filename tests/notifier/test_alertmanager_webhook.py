"""What Alertmanager's webhooks send; the real one is in test_real_alertmanager.py."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event, fullest
from notifier.hostile_names import EVERY
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.specimens import BASE, Specimen, made, send
from notifier.test_alertmanager import (
    ALERT,
    BAD_LABELS,
    LABELS,
    WARNING,
    violations,
    with_receipt,
)
from warren_notifier.channels.channel import Delivered
from warren_notifier.state.delivery import Delivery

GROUP = {
    *("version", "groupKey", "truncatedAlerts", "status", "receiver", "groupLabels"),
    *("commonLabels", "commonAnnotations", "externalURL", "alerts"),
}


def hook(request: Request) -> Answer:
    """What Alertmanager's webhooks send."""
    group = json.loads(request.body)
    wrong = [one for alert in group["alerts"] for one in violations(alert | {"generatorURL": BASE})]
    if group.keys() != GROUP or group["version"] != "4":
        wrong.append("fields")
    if group["status"] not in ("firing", "resolved") or group["truncatedAlerts"] != 0:
        wrong.append("status")
    for alert in group["alerts"]:
        if alert.keys() != ALERT | {"status", "fingerprint"}:
            wrong.append("fields of an alert")
        if not re.fullmatch(r"[0-9a-f]{16}", alert["fingerprint"]):
            wrong.append("fingerprint")
        if group["commonLabels"].items() - alert["labels"].items():
            wrong.append("commonLabels")
    if group["groupLabels"].items() - group["commonLabels"].items():
        wrong.append("groupLabels")
    return Answer(400, body=repr(wrong).encode()) if wrong else Answer(200)


SPECIMEN = Specimen(
    lambda at: f'url = "http://{at}/hooks/k3y-17aQ9"',
    ("17aQ9", "9Qa71"),
    BAD_LABELS,
    hook,
    is_service=False,
)


def told(what: Delivery) -> tuple[Delivered, dict[str, Any]]:
    with HttpReceiver(decide=hook) as receiver:
        (result,) = send(made("alertmanager-webhook", f"127.0.0.1:{receiver.port}"), what)
    assert isinstance(result, Delivered)
    return result, json.loads(receiver.requests[0].body)


def test_the_webhook_is_one_group_of_alerts_for_an_incident() -> None:
    opened, group = told(delivery())
    assert (group["version"], group["status"], group["receiver"]) == ("4", "firing", "mail")
    assert group["commonLabels"] == LABELS
    worse = event("WARN", "ERR", event_id="event-2", at=OPENED_AT + MINUTE)
    assert opened.receipt is not None
    _, changed = told(with_receipt(delivery(worse, kind="changed"), opened.receipt))
    assert changed["groupKey"] == group["groupKey"]
    assert [one["status"] for one in changed["alerts"]] == ["firing", "resolved"]
    assert changed["status"] == "firing"
    assert "severity" not in changed["commonLabels"]
    over = event("OK", "WARN", event_id="event-3", at=OPENED_AT + MINUTE)
    _, ended = told(with_receipt(delivery(over, kind="resolved"), WARNING))
    assert (ended["status"], ended["commonLabels"]) == ("resolved", WARNING)


@pytest.mark.parametrize("name", EVERY)
def test_any_name_is_a_label(name: str) -> None:
    _, group = told(delivery(fullest(EVERY[name])))
    assert group["groupLabels"]["consumer_group"] == EVERY[name]
