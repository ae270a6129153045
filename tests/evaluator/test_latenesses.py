"""How late groups are, in the worker: at hand when a group is judged, and after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from support.evaluator_process import Home
from support.freshness_events import WELL, freshness_event, late
from support.offset_events import NOW, At, commits, offset_event
from support.waiting import eventually
from warren.contracts import LagEvent, group_key
from warren_evaluator.latenesses import Latenesses
from warren_evaluator.records import SourceRecord

KEY = group_key("prod", "billing")


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


def run(table: MemoryTable, *values: bytes | None) -> Latenesses:
    latenesses = Latenesses(table)
    records = [SourceRecord("w.freshness", 1, n, KEY, value) for n, value in enumerate(values)]
    asyncio.run(latenesses.run(records))
    return latenesses


def test_records_of_a_batch_are_taken_in_one_after_the_other() -> None:
    table = MemoryTable()
    first, second = freshness_event(0, late(500)), freshness_event(9, WELL, late(70))
    known = run(table, first.to_bytes(), b"nonsense", second.to_bytes()).of(KEY)
    assert known is not None
    assert (known.measured_at, known.late_ms) == (NOW + 9, 70)
    assert run(table, first.to_bytes()).of(KEY) == known  # replayed
    assert run(table, None).of(KEY) is None  # the group is gone


def test_a_value_that_cannot_be_read_is_no_lateness() -> None:
    table = MemoryTable()
    table.values[KEY] = b"\xff"
    assert Latenesses(table).of(KEY) is None
    assert run(table, freshness_event(0, WELL).to_bytes()).of(KEY) is not None


@pytest.mark.integration
def test_how_late_a_group_is_is_known_when_it_is_judged_also_after_a_restart(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    home = Home(broker.bootstrap, unique, tmp_path)
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        measured = freshness_event(7 * 60_000, late(5 * 60_000))
        sender.send_raw(KEY, measured.to_bytes(), "freshness")
        sender.flush()
        eventually(home.lateness, timeout=90, message="taken in")
        worker.kill()
        sender.send(*commits(500, 500, 500))  # the last one two minutes after NOW
        for minute in (6, 7):
            silent = At(120, NOW + 120_000, lag=1000 * minute, commits=0)
            sender.send(offset_event(NOW + minute * 60_000, {"orders": {0: silent}}))
        sender.flush()
        worker.start()
        home.await_caught_up()
        last = LagEvent.from_bytes(home.records("lag")[-1].value())
        assert last.status == "ERR"
        assert last.cause is not None
        assert last.cause.sentence.endswith("orders/0 is not OK; 5 m late")
        assert last.cause.evidence.freshness_ms == 5 * 60_000
