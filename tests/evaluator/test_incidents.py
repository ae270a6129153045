"""Incidents in the worker: published before they are stored, whatever it was killed amid."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.condition_changes import OPENED_AT, STORM as ONCE, late, over, stuck
from support.manual_clock import ManualClock
from warren.contracts import (
    STATUS_CHANGED,
    GroupIncidentEvent,
    Status,
    StatusChangeEvent,
    group_key,
)
from warren_evaluator.incidents import OVER_MS, Incidents
from warren_evaluator.records import Publication, SourceRecord

KEY = group_key("prod", "billing")
STORM = [*ONCE, stuck(6, turn=2), over(STATUS_CHANGED, 7, turn=2)]


class Killed(Exception):
    """The worker is no more."""


class Home:
    """A table and a topic that outlive the worker; kills it before one of its effects."""

    def __init__(self, effects: int = 10**9) -> None:
        self.stored: dict[bytes, bytes] = {}
        self.published: list[GroupIncidentEvent] = []
        self.effects = effects
        self.clock = ManualClock(OPENED_AT)

    def _effect(self) -> Awaitable[None]:
        self.effects -= 1
        if self.effects < 0:
            raise Killed
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    def read(self, key: bytes) -> bytes | None:
        return self.stored.get(key)

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]:
        assert partition == 1
        done = self._effect()
        if value is None:
            del self.stored[key]
        else:
            self.stored[key] = value
        return done

    async def publish(self, item: Publication) -> Awaitable[Any]:
        assert (item.topic, item.key, item.partition) == ("w.incidents", KEY, 1)
        assert item.headers == GroupIncidentEvent.headers
        done = self._effect()
        self.published.append(GroupIncidentEvent.from_bytes(item.value))
        return done

    def worker(self) -> Incidents:
        worker = Incidents(self, "w.incidents", self.publish, self.clock)
        entries = [(key, value, 1) for key, value in self.stored.items()]
        if worker.recovered(entries, [1]):
            worker.remember({KEY: (1, self.published[-1])} if self.published else {})
        return worker

    @property
    def newest(self) -> dict[str, GroupIncidentEvent]:
        """By id, each once: what a reader makes of it who drops what it has seen."""
        return {each.id: each for each in self.published}


def records(
    changes: Sequence[StatusChangeEvent], first: int = 0, key: bytes = KEY
) -> list[SourceRecord]:
    return [
        SourceRecord("w.lag-status", 1, n, key, change.to_bytes())
        for n, change in enumerate(changes, first)
    ]


def test_each_change_is_one_event_and_the_table_forgets_what_is_long_over() -> None:
    home = Home()
    worker = home.worker()
    asyncio.run(worker.run(records(STORM)))
    assert [each.data.is_open for each in home.published] == [*[True] * 5, False, True, False]
    assert list(home.stored) == [KEY, b"1"]
    home.clock.advance(OVER_MS / 1000)
    asyncio.run(worker.run([]))
    assert list(home.stored) == [b"1"]


def test_the_past_that_is_read_again_is_no_news_but_a_topic_made_anew_is() -> None:
    """The group's offsets expired while the evaluators were away."""
    home = Home()
    asyncio.run(home.worker().run(records(STORM)))
    home.clock.advance(OVER_MS / 1000)
    asyncio.run(home.worker().run([]))
    asyncio.run(home.worker().run(records(STORM)))
    assert len(home.published) == len(STORM)
    asyncio.run(home.worker().run(records([late(99, turn=3)])))
    assert len(home.published) == len(STORM) + 1


@pytest.mark.parametrize("size", [1, 3, len(STORM)])
def test_a_kill_before_any_effect_loses_no_change_and_doubles_none(size: int) -> None:
    whole = Home()
    asyncio.run(whole.worker().run(records(STORM)))
    batches = [records(STORM)[n : n + size] for n in range(0, len(STORM), size)]
    for effects in range(3 * len(STORM)):
        home, done = Home(effects), 0
        while done < len(batches):
            worker = home.worker()
            try:
                while done < len(batches):
                    asyncio.run(worker.run(batches[done]))
                    done += 1
            except Killed:
                home.effects = 10**9
        assert list(home.newest.values()) == whole.published


def test_changes_that_were_published_twice_are_one() -> None:
    home = Home()
    worker, offset = home.worker(), 0
    for batch in (STORM[:2], STORM[:2], STORM[:6], STORM[:6], STORM):
        asyncio.run(worker.run(records(batch, offset)))
        offset += len(batch)
    assert len(home.published) == len(STORM)


def test_what_is_no_status_change_of_its_key_is_refused_and_hides_no_other() -> None:
    home = Home()
    wrong = records(STORM[:1], key=group_key("prod", "other"))
    now = str(stuck(0).data.opened_at).encode()
    ages_ago = stuck(0).to_bytes().replace(now, b"-1" + b"0" * 30)
    values = (None, b"{}", b"\xff", ages_ago)
    nonsense = [SourceRecord("w.lag-status", 1, 3, KEY, value) for value in values]
    with capture_logs() as logs:
        asyncio.run(home.worker().run([*wrong, *nonsense, *records(STORM[:1], 9)]))
    assert [one["event"] for one in logs] == ["event refused"] * 5
    assert len(home.published) == 1


def test_an_incident_knows_what_a_groups_state_would() -> None:
    worker = Home().worker()
    assert worker.state_of(KEY) is None
    asyncio.run(worker.run(records([stuck(0)])))
    state = worker.state_of(KEY)
    assert state is not None
    assert (state.status, state.opened_at) == (Status.ERR, stuck(0).data.opened_at)
    asyncio.run(worker.run(records([stuck(0), over(STATUS_CHANGED, 1)])))
    assert worker.state_of(KEY) is None


@pytest.mark.parametrize("unreadable", [True, False])
def test_a_state_that_is_lost_goes_on_from_what_was_published(unreadable: bool) -> None:
    home = Home()
    asyncio.run(home.worker().run(records(STORM[:3])))
    home.stored = {KEY: b"\xff"} if unreadable else {}
    asyncio.run(home.worker().run(records(STORM)))
    assert [each.id for each in home.published] == [each.id for each in STORM]
    assert [each.data.revision for each in home.published] == [1, 2, 3, 4, 5, 6, 1, 2]
