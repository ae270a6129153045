"""What is to be done each second, with many incidents: only what is due is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from notifier.builders import event, route
from notifier.harness import Harness, Log, Scripted, life
from support.waiting import until
from warren_notifier import agenda
from warren_notifier.routing.change import Subject
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.timetable import Timetable


def state(group: str) -> SubjectState:
    return SubjectState(0, Subject("prod", group, "t"))


def test_each_is_due_once_at_its_newest_time_the_longest_due_first() -> None:
    table, (a, b, c) = Timetable(), (state("a"), state("b"), state("c"))
    for one, at in ((a, 30), (b, 20), (c, 10), (a, 15), (a, 15)):
        table.put(one, at)
    table.put(c, None)
    assert table.take(14) == []
    assert table.take(20) == [a, b]
    assert table.take(100) == []
    table.put(a, 30)
    assert table.take(30) == [a]


class Untouched(dict[Subject, SubjectState]):
    """States that nobody goes through."""

    def values(self) -> Iterator[SubjectState]:  # type: ignore[override]  # not a view
        raise AssertionError("all states were looked at")


def test_a_second_in_which_nothing_is_due_looks_at_no_state() -> None:
    log, mail = Log(), Scripted()
    routes = [route(repeat_interval=600, escalate_after=900, escalate_to=["boss"])]

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, routes, {"mail": mail, "boss": Scripted()})
        await harness.assign()
        await harness.read(*(event(group=f"g{n}", event_id=f"e{n}") for n in range(50)))
        await harness.idle()
        (owned,) = harness.owned._partitions.values()
        owned.states = Untouched(owned.states)
        for _ in range(2):
            harness.clock.advance(1)
            await harness.dispatcher.rounds.follow_clock()
            await harness.dispatcher.rounds.put_off()
            await harness.dispatcher.rounds.repeat()
            await harness.dispatcher.rounds.escalate()
            await harness.dispatcher.rounds.end_tests()
            await harness.dispatcher.rounds.forget_settled()

    life(scenario)
    assert len(mail.sent) == 50


def test_others_have_their_turn_while_many_are_reminded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agenda, "AT_ONCE", 10)
    log, mail, turns = Log(), Scripted(), list[int]()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route(repeat_interval=600)], {"mail": mail})
        await harness.assign()
        await harness.read(*(event(group=f"g{n}", event_id=f"e{n}") for n in range(30)))
        await harness.idle()
        harness.writer.open.clear()  # a part is written before the next is looked at
        harness.clock.advance(600)
        repeating = tasks.create_task(harness.dispatcher.rounds.repeat())
        await until(harness.pending)
        turns.append(len(harness.pending()))
        harness.writer.open.set()
        await repeating
        await harness.idle()

    life(scenario)
    assert turns == [10]
    assert len(mail.sent) == 60
