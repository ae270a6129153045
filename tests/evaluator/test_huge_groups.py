"""Groups of tens of thousands of partitions, and their neighbours, on a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from support.evaluator_process import Home
from support.offset_events import NOW, At, commits, offset_event
from support.waiting import eventually
from warren.contracts import DeadLetter, LagEvent, OffsetEvent, group_key, whole_key
from warren_core.judgement.lag_parts import joined

pytestmark = pytest.mark.heavy

PART = 5000  # partitions, as the collector splits groups
HUGE = group_key("prod", "huge")


def observation(partitions: int, at: int) -> Iterator[OffsetEvent]:
    """As a collector publishes it."""
    parts = partitions // PART
    for part in range(parts):
        ats = {p: At(100, at, lag=5) for p in range(part * PART, (part + 1) * PART)}
        yield offset_event(
            at + part, {"orders": ats}, group="huge", position=at - NOW, part=part, parts=parts
        )


@pytest.fixture
def home(broker: Any, unique: str, tmp_path: Path) -> Home:
    return Home(broker.bootstrap, unique, tmp_path)


@pytest.mark.parametrize("partitions", [20_000, 60_000])
def test_a_huge_group_is_judged_once_and_published_in_parts(home: Home, partitions: int) -> None:
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(*observation(partitions, NOW + 60_000))
        sender.send(*commits(5, 6, 7))  # a neighbour
        sender.flush()
        home.await_caught_up()
        assert worker.is_ready()
        lags = home.records("lag")
        parts = [LagEvent.from_bytes(lag.value()) for lag in lags if whole_key(lag.key()) == HUGE]
        assert [part.part for part in parts] == list(range(parts[0].parts))
        assert joined(parts).topics["orders"].partition == list(range(partitions))
        assert len(lags) == len(parts) + 3
        assert home.records("dead-letters") == []


def test_a_group_that_its_topic_does_not_take_is_a_dead_letter(home: Home) -> None:
    with home.worker() as worker:
        worker.start().await_ready()
        _limit(home, home.prefix + "lag", 2000)
        sender = home.events()
        sender.send(*observation(PART, NOW + 60_000))
        sender.send(*commits(5, 6, 7))
        sender.flush()
        home.await_caught_up()
        letters = [DeadLetter.from_bytes(letter.value()) for letter in home.records("dead-letters")]
        assert {letter.key for letter in letters} == {HUGE}
        assert letters[0].reason.startswith(f"too large for {home.prefix}lag: ")
        assert [lag.key() for lag in home.records("lag")] == [group_key("prod", "billing")] * 3
        assert f"warren_evaluator_dead_letters_total {len(letters)}.0" in worker.metrics()


def _limit(home: Home, topic: str, size: int) -> None:
    """The largest record that a topic takes from now on, bytes."""
    admin = AdminClient({"bootstrap.servers": home.bootstrap})
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    for done in admin.incremental_alter_configs([resource]).values():
        done.result(30)

    def is_there() -> bool:
        asked = ConfigResource(ConfigResource.Type.TOPIC, topic)
        (answer,) = admin.describe_configs([asked]).values()
        return bool(answer.result(30)["max.message.bytes"].value == str(size))

    eventually(is_there, message="the topic has the limit")
