"""Members of groups in the worker: at hand when a group is judged, and after a restart."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from support.evaluator_process import Home
from support.offset_events import NOW
from support.waiting import eventually
from warren.contracts import GroupEvent, GroupMember, group_key
from warren_evaluator.memberships import Memberships
from warren_evaluator.records import SourceRecord

KEY = group_key("prod", "billing")


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
    memberships = Memberships(table)
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
    assert Memberships(table).of(KEY) is None
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
