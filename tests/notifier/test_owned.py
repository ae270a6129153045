"""Subjects in memory: by partition, and which of them are looked at when."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest
from notifier.builders import OPENED_AT, change, event, route
from notifier.harness import Harness, Scripted, play
from support.waiting import until
from warren.contracts import NotifierState
from warren_notifier import due
from warren_notifier.due import Timetable
from warren_notifier.owned import Owned, OwnedSubjects
from warren_notifier.routing.change import Subject
from warren_notifier.routing.decisions import Router
from warren_notifier.state.subject_state import SubjectState, to_store

NEWS = change()
END = change("OK", previous="ERR", event_id="event-2")


def stored(offset: int) -> NotifierState:
    """Of a subject whose opening may have arrived."""
    decision = Router([route()], 1).on_change(NEWS, offset, None, {}, OPENED_AT)
    state, _, _ = SubjectState(0, NEWS.subject, offset).decided(NEWS, decision)
    return to_store(state, lambda _: True)


def assigned(*, offset: int = 7, end: int = 8, committed: int = 8) -> tuple[OwnedSubjects, Owned]:
    subjects = OwnedSubjects()
    ((owned, _),) = subjects.assign(0, [stored(offset)], end, committed)
    return subjects, owned


def test_one_is_settled_when_it_is_empty_and_its_event_is_not_read_again() -> None:
    subjects, owned = assigned()
    assert not subjects.forget_settled(owned)  # a delivery is pending
    state = owned.state
    decision = Router([], 1).on_change(END, 7, state.incident, state.notified(), 0)
    state, (key,), _ = state.decided(END, decision)
    owned.put(state)
    assert not subjects.forget_settled(owned)  # the end is owed
    told = replace(state.tellings[key], delivery=None)
    owned.put(state.with_telling(told).without_done())
    subjects.committed(0, 7)
    assert not subjects.forget_settled(owned)
    subjects.committed(0, 8)
    assert subjects.forget_settled(owned)
    assert list(subjects.all()) == []


def test_each_is_due_once_at_its_newest_time_the_longest_due_first() -> None:
    a, b, c = (Owned(SubjectState(0, Subject("prod", group))) for group in "abc")
    table = Timetable()
    for one, at in ((a, 30), (b, 20), (c, 10), (a, 15), (a, 15)):
        table.put(one, at)
    table.put(c, None)
    assert table.take(14) == []
    assert table.take(20) == [a, b]
    assert table.take(100) == []
    table.put(a, 30)
    assert table.take(30) == [a]


class Untouched(dict[Subject, Owned]):
    """Subjects that nobody goes through."""

    def values(self) -> Iterator[Owned]:  # type: ignore[override]  # not a view
        raise AssertionError("all were looked at")


def test_a_second_in_which_nothing_is_due_looks_at_nothing() -> None:
    mail = Scripted()

    async def seconds(harness: Harness) -> None:
        (partition,) = harness.owned._partitions.values()
        partition.subjects = Untouched(partition.subjects)
        for _ in range(2):
            harness.clock.advance(1)
            await harness.tick()
        partition.subjects = {}

    events = [event(group=f"g{n}", event_id=f"e{n}") for n in range(50)]
    play({"mail": mail}, events, seconds, routes=[route(repeat_interval=600)])
    assert len(mail.sent) == 50


def test_others_have_their_turn_while_many_are_reminded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "AT_ONCE", 10)
    mail, turns = Scripted(), list[int]()

    async def reminded(harness: Harness) -> None:
        harness.writer.open.clear()  # a part is written before the next is looked at
        harness.clock.advance(600)
        repeating = asyncio.create_task(harness.tick())
        await until(harness.pending)
        turns.append(len(harness.pending()))
        harness.writer.open.set()
        await repeating
        await harness.idle()

    events = [event(group=f"g{n}", event_id=f"e{n}") for n in range(30)]
    play({"mail": mail}, events, reminded, routes=[route(repeat_interval=600)])
    assert turns == [10]
    assert len(mail.sent) == 60
