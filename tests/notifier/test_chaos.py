"""Incidents that open, flap and close while receivers fail and notifiers are killed."""

import asyncio
import random
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from notifier.builders import event, route
from notifier.harness import Harness, Log, Scripted, life
from notifier.http_receiver import Answer, HttpReceiver, Request, Script
from notifier.process import Home, config, notifier, webhook
from support.waiting import eventually
from warren.contracts import GroupIncidentEvent, GroupStatusName, StatusChangeEvent
from warren_notifier.channels.channel import Delivered, Result, Retry
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.state.telling import Delivery


def incidents(groups: int, each: int, chance: random.Random) -> list[StatusChangeEvent]:
    """Changes of all groups, mixed, in order within a group; each ends with OK."""
    of_group = []
    for group in range(groups):
        changes = []
        for incident in range(each):
            flaps = chance.choice([1, 1, 2, 8])
            first = chance.randrange(2)
            statuses: list[GroupStatusName] = [
                "ERR" if (n + first) % 2 else "WARN" for n in range(flaps)
            ]
            changes += [
                event(
                    status,
                    group=f"g{group}",
                    event_id=f"g{group}-{incident}-{number}",
                    incident_id=f"g{group}-{incident}",
                )
                for number, status in enumerate([*statuses, "OK"])
            ]
        of_group.append(changes)
    mixed = []
    while of_group:
        changes = chance.choice(of_group)
        mixed.append(changes.pop(0))
        of_group = [rest for rest in of_group if rest]
    return mixed


def check(arrived: Sequence[GroupIncidentEvent], published: Sequence[StatusChangeEvent]) -> None:
    """What one channel took: ends where openings, in order, and nothing again but the same."""
    offsets = {one.id: offset for offset, one in enumerate(published)}
    of_group = defaultdict(list)
    for one in arrived:
        of_group[one.data.group].append(one)
    for taken in of_group.values():
        told = None
        for one in taken:
            if told is not None and told.data.incident_id != one.data.incident_id:
                assert told.data.status == "OK", f"{told.id} was never closed"
            told = one
        assert told is not None
        assert told.data.status == "OK", f"{told.id} was never closed"
        places = [offsets[one.id] for one in taken]
        assert places == sorted(places), [one.id for one in taken]


class Unsteady(Scripted):
    """Answers by chance; what it took without saying so counts as taken."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.arrived: list[GroupIncidentEvent] = []
        self.begun: list[str] = []
        self._chance = chance
        self.steady = False

    async def send(self, delivery: Delivery) -> Result:
        return await self._take(delivery)

    async def _take(self, *news: Delivery) -> Result:
        self.begun += [one.pending.delivery_id for one in news]
        await asyncio.sleep(0)
        kind = 0.0 if self.steady else self._chance.random()
        if kind < 0.5 or kind > 0.85:
            events = [one.event for one in news if one.event is not None]
            self.arrived += self._new(events)
        for _ in range(self._chance.randrange(3)):
            await asyncio.sleep(0)
        if kind < 0.5:
            return Delivered("taken")
        return Retry("HTTP 503") if kind < 0.7 else Retry("no answer", uncertain=True)

    def _new(self, events: list[GroupIncidentEvent]) -> list[GroupIncidentEvent]:
        return events


class UnsteadyDigests(Unsteady):
    """Likewise, of many at once. What the message before said of a group is not said anew."""

    tells_many = True

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self._said: dict[str, set[str]] = {}

    async def send_many(self, digest: Digest) -> Result:
        return await self._take(*digest.news)

    def _new(self, events: list[GroupIncidentEvent]) -> list[GroupIncidentEvent]:
        new = [one for one in events if one.id not in self._said.get(one.data.group, ())]
        for group in {one.data.group for one in events}:
            self._said[group] = {one.id for one in events if one.data.group == group}
        return new


@pytest.mark.parametrize("seed", range(12))
def test_kills_at_any_moment(seed: int) -> None:
    chance = random.Random(seed)
    log, channels = Log(), {"hook": Unsteady(chance), "mail": UnsteadyDigests(chance)}
    published = incidents(4, 5, chance)
    routes = [route(channels=("hook", "mail"))]
    position = 0

    async def one_life(tasks: asyncio.TaskGroup, crash_after: int | None) -> None:
        nonlocal position
        limits = {"queue_size": 2, "deadline_ms": 10**12}  # the clock jumps over all waits
        harness = Harness(log, tasks, routes, channels, crash_after=crash_after, **limits)
        await harness.assign(committed=position)
        while position < len(published):
            size, commits = chance.randrange(1, 6), crash_after is None or chance.random() < 0.7
            batch = published[position : position + size]
            reading = asyncio.create_task(harness.read(*batch, offset=position, commit=commits))
            for _ in range(chance.randrange(60)):
                await asyncio.sleep(0)
            if crash_after is not None and not reading.done():
                reading.cancel()
                return
            await reading
            if commits:  # else it is read again
                position += size
        if crash_after is None:
            for channel in channels.values():
                channel.steady = True
            await harness.idle()

    for turn in range(7):
        pending = {d.delivery_id for state in log.states() for d in state.deliveries}
        over = {a.delivery_id for a in log.audit() if a.outcome == "delivered"} - pending
        before = {name: len(channel.begun) for name, channel in channels.items()}
        crash_after = chance.randrange(1, 60) if turn < 6 else None
        life(lambda tasks, after=crash_after: one_life(tasks, after))
        for name, channel in channels.items():
            assert over.isdisjoint(channel.begun[before[name] :]), "it was written down"
    for channel in channels.values():
        assert channel.arrived
        check(channel.arrived, published)
    assert log.states() == log.dead_letters() == []
    audited = {audit.delivery_id for audit in log.audit() if audit.outcome != "failed"}
    assert audited == {audit.delivery_id for audit in log.audit()}


class Receiver:
    """Every tenth request fails; what is taken is noted with its id."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, GroupIncidentEvent]] = []
        self._lock = threading.Lock()
        self._requests = 0

    def __call__(self, request: Request) -> Script:
        with self._lock:
            self._requests += 1
            if self._requests % 10 == 0:
                return Answer(500)
            change = GroupIncidentEvent.from_bytes(request.body)
            self.taken.append((request.headers["webhook-id"], change))
            return Answer(204)


@pytest.mark.heavy
@pytest.mark.timeout(900)
def test_300_incidents_two_notifiers_and_three_kills(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    home = Home.create(broker.bootstrap, unique)
    published = incidents(30, 10, random.Random(9))
    receiver = Receiver()
    with HttpReceiver(decide=receiver) as hooks, ExitStack() as lives:
        file = config(tmp_path, home, webhook("hook", hooks.port))
        running = [lives.enter_context(notifier(file)) for _ in range(2)]
        quarter = len(published) // 4
        for part in range(4):
            before = len(receiver.taken)
            home.publish(*published[part * quarter : (part + 1) * quarter])
            eventually(
                lambda n=before: len(receiver.taken) > n + 20, timeout=180, message="it goes on"
            )
            if part < 3:
                running.pop(0).child.kill()
                running.append(lives.enter_context(notifier(file)))
        home.publish(*published[4 * quarter :])
        ends = {one.data.group: one.id for one in published}

        def over() -> bool:
            known = {one.event_id for one in home.audit() if one.outcome != "failed"}
            return known >= set(ends.values()) and home.states() == {}

        eventually(over, timeout=240, message="all is told and nothing left to remember")
        assert all(one.child.exit_code() is None for one in running)
    by_id = defaultdict(set)
    for delivery_id, change in receiver.taken:
        by_id[delivery_id].add(change.id)
    assert all(len(events) == 1 for events in by_id.values())
    assert len(by_id) == len({change.id for _, change in receiver.taken})
    check([change for _, change in receiver.taken], published)
    assert home.dead_letters() == []
