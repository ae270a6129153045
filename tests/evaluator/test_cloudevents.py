"""Change events of all types, as CloudEvents' SDK reads them: structured mode, by the header."""

import json
import uuid
from datetime import datetime
from typing import Any

import pytest
from confluent_kafka import Message
from support.cloudevents_sdks import (
    Attributes,
    headers_of,
    npm_is_here,
    read_by_npm,
)
from support.evaluator_process import Home
from support.freshness_events import freshness_event, late
from support.offset_events import NOW, At, commits, offset_event
from support.waiting import eventually
from warren.contracts import group_key
from warren.contracts.status_change import EVENT_TYPES

KEY = group_key("prod", "billing")
OBJECTIVES = [{"name": "fresh", "max_freshness": 60}]


@pytest.fixture(scope="module")
def home(broker: Any, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Where an evaluator has told of a stop, a lateness and a loss."""
    name = f"cloudevents-{uuid.uuid4().hex[:8]}"
    extra = {"WARREN_OBJECTIVES": json.dumps(OBJECTIVES)}
    home = Home(broker.bootstrap, name, tmp_path_factory.mktemp("evaluator"), extra)
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(*commits(500, 500, 500))
        stopped = At(120, NOW + 120_000, lag=7000, commits=0)
        sender.send(offset_event(NOW + 9 * 60_000, {"orders": {0: stopped}}))
        lost = late(5 * 60_000, lost_records=64)
        for at in (0, 60_000, 120_000):
            sender.send_raw(KEY, freshness_event(at, lost).to_bytes(), "freshness")
        sender.flush()
        eventually(
            lambda: (
                {json.loads(r.value() or b"")["type"] for r in changes(home)} == set(EVENT_TYPES)
            ),
            timeout=120,
            message="a change of each type is told",
        )
        assert worker.terminate() == 0
    return home


def changes(home: Home) -> list[Message]:
    return home.records("lag-status")


def told(home: Home) -> list[Attributes]:
    """What the bytes say, whoever reads them."""
    return _sorted(json.loads(record.value() or b"") for record in changes(home))


def _sorted(events: Any) -> list[Attributes]:
    return sorted(events, key=lambda event: event["id"])


def test_every_change_event_says_that_it_is_a_cloudevent(home: Home) -> None:
    content_types = [headers_of(record) for record in changes(home)]
    assert content_types == [{"content-type": "application/cloudevents+json"}] * len(told(home))


def test_npms_sdk_reads_them(home: Home) -> None:
    if not npm_is_here():
        pytest.skip("no npm package cloudevents: `make cloudevents` installs it")
    messages = [(headers_of(record), record.value() or b"") for record in changes(home)]
    assert _comparable(read_by_npm("kafka", messages)) == _comparable(told(home))


def _comparable(events: list[Attributes]) -> list[Attributes]:
    """Each SDK writes the same moment in its own way."""
    return [{**each, "time": datetime.fromisoformat(each["time"])} for each in _sorted(events)]
