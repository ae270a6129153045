"""From a measurement to a webhook: objectives judged by the evaluator, routed by their type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from notifier.http_receiver import HttpReceiver
from notifier.process import Home, config, notifier, webhook
from support import evaluator_process
from support.freshness_events import WELL, freshness_event, late
from support.waiting import eventually
from warren.contracts import StatusChangeEvent, group_key

OBJECTIVE = {"name": "fresh", "max_freshness": 60, "for": 0, "clear_after": 0, "owner": "payments"}
LOST = {"lost_records": 64, "reason": "expired", "bound_ms": 1}
ROUTES = """
[[notifier.routes]]
name = "owners"
channels = ["owners"]
event_types = ["warren.group.freshness.changed"]

[[notifier.routes]]
name = "storage"
channels = ["storage"]
event_types = ["warren.group.retention.changed"]
"""


def told(receiver: HttpReceiver) -> list[tuple[str, str, str]]:
    """Type, status and first objective, each event once, as they came."""
    events = {
        change.id: change
        for request in receiver.requests
        for change in [StatusChangeEvent.from_bytes(request.body)]
    }
    return [
        (each.type.split(".")[2], each.data.status, _objective(each)) for each in events.values()
    ]


def _objective(change: StatusChangeEvent) -> str:
    breaches = change.data.objectives
    assert breaches is not None
    return breaches[0].objective if breaches else ""


def test_who_is_late_and_who_loses_records_is_told_by_route(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    home = Home.create(broker.bootstrap, unique)
    workers = evaluator_process.Home(
        broker.bootstrap, unique, tmp_path, {"WARREN_OBJECTIVES": json.dumps([OBJECTIVE])}
    )
    with HttpReceiver() as owners, HttpReceiver() as storage, workers.worker() as worker:
        channels = webhook("owners", owners.port) + webhook("storage", storage.port)
        worker.start().await_ready()
        sender = workers.events()

        def measured(*values: bytes | None) -> None:
            for value in values:
                sender.send_raw(group_key("prod", "billing"), value, "freshness")
            sender.flush()

        with notifier(config(tmp_path, home, channels, ROUTES)):
            measured(freshness_event(0, late(90_000), WELL).to_bytes())
            eventually(lambda: told(owners), timeout=90, message="the owners know")
            measured(freshness_event(10_000, late(None, **LOST), WELL).to_bytes())
            eventually(lambda: told(storage), timeout=90, message="the storage team knows")
            worker.kill()
            worker.start()
            measured(freshness_event(20_000, WELL, WELL).to_bytes(), None)
            eventually(
                lambda: len(told(owners)) == 2 == len(told(storage)), timeout=90, message="ends"
            )
            eventually(lambda: home.states() == {}, timeout=90, message="nothing is left")
        assert told(owners) == [("freshness", "WARN", "fresh"), ("freshness", "OK", "")]
        assert told(storage) == [("retention", "ERR", "retention"), ("retention", "NOTFOUND", "")]
