"""Change events of all types, as CloudEvents' SDK reads them: structured mode, by the header."""

import asyncio
import json
import uuid
from collections.abc import Awaitable
from datetime import datetime
from pathlib import Path
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
from support.manual_clock import ManualClock
from support.offset_events import NOW, At, commits, offset_event
from support.waiting import eventually
from warren.contracts import EVENT_TYPES, GroupEvent, GroupMember, StatusChangeEvent, group_key
from warren.settings_file import load_settings
from warren_core.objectives.limits import ObjectiveBook
from warren_evaluator.__main__ import ObjectivesWatch
from warren_evaluator.latenesses import Latenesses
from warren_evaluator.memberships import Memberships
from warren_evaluator.records import Publication, SourceRecord

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


# Members of groups in the worker: at hand when a group is judged, and after a restart.


def group_event(at: int, *client_ids: str) -> GroupEvent:
    members = [GroupMember(member_id=name, client_id=name, host="h") for name in client_ids]
    return GroupEvent(
        cluster="prod",
        group="billing",
        observed_at=NOW + at,
        position=-1,
        protocol="consumer",
        members=members,
    )


class MemoryTable:
    """A table whose writes are stored at once."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes | None] = {}

    def read(self, key: bytes) -> bytes | None:
        return self.values.get(key)

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]:
        assert partition == 1
        self.values[key] = value
        return asyncio.sleep(0)


def record(value: bytes | None, offset: int = 0) -> SourceRecord:
    return SourceRecord("w.groups", 1, offset, KEY, value)


def run(table: MemoryTable, *values: bytes | None) -> Memberships:
    memberships = Memberships(table, ManualClock(NOW + 60_000))
    asyncio.run(memberships.run([record(value, n) for n, value in enumerate(values)]))
    return memberships


def test_records_of_a_batch_are_taken_in_one_after_the_other() -> None:
    table = MemoryTable()
    joined, left = group_event(0, "a").to_bytes(), group_event(5000).to_bytes()
    known = run(table, joined, b"nonsense", left).of(KEY)
    assert known is not None
    assert (known.members, known.empty_since, known.left) == ((), NOW + 5000, ("a", "h"))
    assert run(table, joined).of(KEY) == known  # replayed
    assert run(table, None).of(KEY) is None  # the group is gone


def test_a_value_that_cannot_be_read_is_no_membership() -> None:
    table = MemoryTable()
    table.values[KEY] = b"\xff"
    assert Memberships(table, ManualClock(NOW)).of(KEY) is None
    assert run(table, group_event(0, "a").to_bytes()).of(KEY) is not None


def test_the_cause_is_told_by_members_also_after_a_restart(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    home = Home(broker.bootstrap, unique, tmp_path)
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        for count, event in enumerate((group_event(0, "billing-1"), group_event(180_000)), 1):
            sender.send_raw(KEY, event.to_bytes(), "groups")
            sender.flush()
            eventually(lambda n=count: len(home.members()) == n, timeout=90, message="taken in")
        cause = home.cause_after_restart(worker, sender)
        assert cause.sentence == ("No members for 4m; the last was billing-1 at h")


# Objectives of an edited file are taken up while the worker runs.

OBJECTIVE = "[[objectives]]\nname = 'fresh'\nmax_freshness = 60\nfor = 0\n"


class Unused:
    """A table that nothing is written to."""

    def read(self, key: bytes) -> bytes | None:
        del key
        return None

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]:
        raise NotImplementedError


async def _unused(item: Publication) -> Awaitable[Any]:
    del item
    return asyncio.sleep(0)


def test_other_objectives_are_taken_up_and_wrong_ones_are_not(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text("")
    settings = load_settings(file)
    book = ObjectiveBook(settings.objectives)
    latenesses = Latenesses(Unused(), book, "w.lag-status", _unused, ManualClock(NOW))
    watch = ObjectivesWatch(file, settings, latenesses)

    def keys(text: str) -> list[str]:
        file.write_text(text)
        watch.look()
        watch.look()
        return [each.key for each in latenesses.book.limits_for("prod", "billing")]

    default = ["retention/lost_records", "retention/min_time_to_loss"]
    assert keys("") == default
    assert keys(OBJECTIVE) == [*default, "fresh/max_freshness"]
    assert keys(OBJECTIVE + "max_lag = -1\n") == [*default, "fresh/max_freshness"]
    assert keys("[filters]\n") == default


def test_a_running_worker_takes_them_up(broker: Any, unique: str, tmp_path: Path) -> None:
    file = tmp_path / "objectives.toml"
    file.write_text("")
    home = Home(broker.bootstrap, unique, tmp_path, {"WARREN_CONFIG": str(file)})
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        at = 0

        def told() -> list[tuple[str, str]]:
            """After one more measurement."""
            nonlocal at
            at += 1000
            event = freshness_event(at, late(90_000))
            sender.send_raw(group_key("prod", "billing"), event.to_bytes(), "freshness")
            sender.flush()
            changes = [StatusChangeEvent.from_bytes(r.value()) for r in home.records("lag-status")]
            return [(each.type.split(".")[2], each.data.status) for each in changes]

        file.write_text(OBJECTIVE)
        opened = [("freshness", "WARN")]
        eventually(lambda: told() == opened, timeout=120, message="it is late now")
        file.write_text("# none\n")
        closed = [*opened, ("freshness", "OK")]
        eventually(lambda: told() == closed, timeout=120, message="nobody asks any more")
