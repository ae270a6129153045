"""How late groups are, and whether they keep their objectives, in the worker."""

import asyncio
import contextlib
import itertools
import json
import random
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.evaluator_process import Home
from support.freshness_events import WELL, Row, freshness_event, late
from support.group_looks import group_event
from support.manual_clock import ManualClock
from support.offset_events import NOW, At, Judge, offset_event
from support.waiting import eventually
from warren.contracts import FreshnessEvent, GroupMember, StatusChangeEvent, group_key
from warren.metrics.evaluator import EVALUATOR_OBJECTIVE_BROKEN
from warren.settings import ObjectiveSettings
from warren_core.judgement.membership import membership_after
from warren_core.judgement.state_codec import encode as encode_state
from warren_core.objectives.burn import Standing
from warren_core.objectives.limits import ObjectiveBook
from warren_core.objectives.verdicts import Objectives
from warren_evaluator.broken_limits import BrokenLimits
from warren_evaluator.latenesses import Latenesses
from warren_evaluator.records import Publication, SourceRecord

KEY = group_key("prod", "billing")
LATE = {"name": "fresh", "max_freshness": 60, "for": 20, "clear_after": 20}
LOST = late(None, reason="expired", bound_ms=1, lost_records=64)
UNHEARD = late(None, reason="timeout", bound_ms=None)


class Killed(Exception):
    """The worker is no more."""


def _acknowledged() -> Awaitable[None]:
    done = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


class World:
    """A table and a topic that outlive the worker; kills it before one of its effects."""

    def __init__(self, effects: int = 10**9) -> None:
        self.stored: dict[bytes, bytes] = {}
        self.told: list[StatusChangeEvent] = []
        self.effects = effects

    def _effect(self) -> None:
        self.effects -= 1
        if self.effects < 0:
            raise Killed

    def read(self, key: bytes) -> bytes | None:
        return self.stored.get(key)

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]:
        assert partition == 1
        self._effect()
        if value is None:
            self.stored.pop(key, None)
        else:
            self.stored[key] = value
        return _acknowledged()

    async def publish(self, item: Publication) -> Awaitable[Any]:
        assert (item.topic, item.partition) == ("w.lag-status", 1)
        assert item.headers == StatusChangeEvent.headers
        self._effect()
        self.told.append(StatusChangeEvent.from_bytes(item.value))
        return _acknowledged()

    def worker(self, **more: Any) -> Latenesses:
        book = ObjectiveBook([ObjectiveSettings.model_validate(LATE)])
        return Latenesses(
            self, book, "w.lag-status", self.publish, ManualClock(NOW + 3_600_000), **more
        )


def sources(*values: bytes | FreshnessEvent | None, key: bytes = KEY) -> list[SourceRecord]:
    texts = [each.to_bytes() if isinstance(each, FreshnessEvent) else each for each in values]
    return [SourceRecord("w.freshness", 1, n, key, text) for n, text in enumerate(texts)]


def run(worker: Latenesses, *values: bytes | FreshnessEvent | None) -> Latenesses:
    asyncio.run(worker.run(sources(*values)))
    return worker


def test_records_of_a_batch_are_taken_in_one_after_the_other() -> None:
    world = World()
    first, second = freshness_event(0, late(500)), freshness_event(9, WELL, late(70))
    known = run(world.worker(), first, b"nonsense", second).of(KEY)
    assert known is not None
    assert (known.measured_at, known.late_ms) == (NOW + 9, 70)
    assert run(world.worker(), first).of(KEY) == known  # replayed
    other = SourceRecord("w.freshness", 1, 7, group_key("prod", "x"), second.to_bytes())
    asyncio.run(world.worker().run([other]))
    assert list(world.stored) == [KEY]


def test_a_value_that_cannot_be_read_is_no_lateness() -> None:
    world = World()
    world.stored[KEY] = b"\xff"
    assert world.worker().of(KEY) is None
    assert run(world.worker(), freshness_event(0, WELL)).of(KEY) is not None


def test_a_measurement_from_far_ahead_is_refused() -> None:
    world = World()
    run(world.worker(), freshness_event(2 * 86_400_000, LOST))
    assert (world.stored, world.told) == ({}, [])


def test_a_group_that_is_gone_is_forgotten_once_that_is_committed() -> None:
    world, committed = World(), {1: 0}
    worker = run(world.worker(committed=lambda: committed), freshness_event(0, LOST), None)
    assert [change.data.status for change in world.told] == ["ERR", "NOTFOUND"]
    assert worker.of(KEY) is None
    worker.recovered((key, value, 1) for key, value in world.stored.items())
    asyncio.run(worker.run(sources(freshness_event(0, LOST), None)))  # replayed
    assert len({change.id for change in world.told}) == 2
    assert list(world.stored) == [KEY]
    committed[1] = 2
    asyncio.run(worker.run([SourceRecord("w.freshness", 1, 9, group_key("prod", "x"), None)]))
    assert world.stored == {}


def test_no_objective_is_about_a_topic_that_no_member_subscribes_to() -> None:
    """It is left when the first member of the new release is there; nobody commits it since."""
    worlds = World(), World()
    rows = {"orders": [WELL], "old": [LOST]}
    measured = freshness_event(0, topics=rows), freshness_event(90_000, topics=rows)
    release = GroupMember(member_id="m", client_id="c", host="h", subscription=["orders"])
    event = group_event(-9, [0]).model_copy(update={"members": [release]})
    known = membership_after(event, None)
    positions = {topic: {0: At(100, NOW - 90_000, lag=9)} for topic in rows}
    state = Judge().judged(offset_event(NOW, positions)).state
    more = {"read_windows": lambda _: encode_state(state)}
    run(worlds[0].worker(**more), *measured)
    assert [change.data.status for change in worlds[0].told] == ["ERR"]
    run(worlds[1].worker(**more, membership_of=lambda _: known), *measured)
    assert worlds[1].told == []
    late_ms = run(worlds[1].worker(**more, membership_of=lambda _: known)).of(KEY)
    assert late_ms is not None
    assert (late_ms.late_ms, late_ms.worst_first) == (0, ())


def test_no_objective_is_about_a_topic_that_was_forgotten_on_request() -> None:
    """Its offsets are committed still, so it is measured on."""
    world = World()
    state = Judge().judged(offset_event(NOW, {"orders": {0: At(100, NOW - 90_000, lag=9)}})).state
    measured = freshness_event(0, topics={"orders": [WELL], "old": [LOST]})
    late_ms = run(world.worker(read_windows=lambda _: encode_state(state)), measured).of(KEY)
    assert world.told == []
    assert late_ms is not None
    assert (late_ms.late_ms, late_ms.worst_first) == (0, ())


def life(seed: int, length: int = 40) -> list[FreshnessEvent | None]:
    """A group that is at times well, late, losing, unheard of; it ends now and then."""
    chance = random.Random(seed)
    rows: Sequence[Row] = (WELL, WELL, late(70_000), LOST, UNHEARD)
    events: list[FreshnessEvent | None] = []
    row: Row = WELL
    for step in range(length):
        if step % 3 == 0:
            row = chance.choice(rows)
        is_end = chance.random() < 0.05 or step == length - 1
        events.append(None if is_end else freshness_event(10_000 * step, row, WELL))
    return events


def batches(records: Sequence[SourceRecord], size: int) -> list[list[SourceRecord]]:
    return [list(records[at : at + size]) for at in range(0, len(records), size)]


def lived(world: World, records: Sequence[SourceRecord], size: int) -> int:
    """Runs all; the offset up to which they were acknowledged."""
    worker, done = world.worker(), records[0].offset if records else 0

    async def live() -> None:
        nonlocal done
        for batch in batches(records, size):
            await worker.run(batch)
            done = batch[-1].offset + 1

    with contextlib.suppress(Killed):
        asyncio.run(live())
    return done


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_nor_invented_wherever_it_is_killed(seed: int) -> None:
    records = sources(*life(seed))
    undisturbed = World()
    assert lived(undisturbed, records, 7) == len(records)
    expected = [change.id for change in undisturbed.told]
    assert len(expected) == len(set(expected)) > 4
    for effects in range(60):
        world = World(effects)
        done = lived(world, records, 3)
        world.effects = 10**9
        lived(world, records[done:], 5)
        assert list(dict.fromkeys(change.id for change in world.told)) == expected, effects
        assert_each_opened_is_closed_once(world.told)


def assert_each_opened_is_closed_once(told: Sequence[StatusChangeEvent]) -> None:
    once = {change.id: change for change in told}.values()
    by_incident = defaultdict(list)
    for change in once:
        by_incident[change.data.incident_id].append(change.data)
    for data in by_incident.values():
        statuses = [each.status for each in data]
        assert data[0].previous == "OK"
        assert [each.previous for each in data[1:]] == statuses[:-1]
        assert statuses[-1] in ("OK", "NOTFOUND")
        assert not {"OK", "NOTFOUND"} & set(statuses[:-1])


def test_what_was_decided_stays_decided_when_the_next_worker_would_decide_otherwise() -> None:
    """Killed between storing and telling, and the settings are others then."""
    world = World(effects=1)
    records = sources(freshness_event(0, LOST), freshness_event(10_000, LOST))
    assert lived(world, records[:1], 1) == 0
    assert world.told == []
    world.effects = 10**9
    nobody_minds = {"name": "none", "min_time_to_loss": 0}
    worker = world.worker()
    worker.book = ObjectiveBook([ObjectiveSettings.model_validate(nobody_minds)])
    asyncio.run(worker.run(records))
    assert [change.data.status for change in world.told] == ["ERR", "OK"]


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
        cause = home.cause_after_restart(worker, sender)
        assert cause.sentence.endswith("orders/0 not OK; 5m late")
        assert cause.evidence.freshness_ms == 5 * 60_000


@pytest.mark.heavy
def test_incidents_of_objectives_survive_kills_and_rebalances(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    """Two workers, each killed amid its work and started again."""
    home = Home(broker.bootstrap, unique, tmp_path, {"WARREN_OBJECTIVES": json.dumps([LATE])})
    groups = {f"group-{seed}": life(seed) for seed in range(12)}
    steps = list(itertools.zip_longest(*groups.values()))
    with home.worker("one") as one, home.worker("two") as two:
        one.start().await_ready()
        two.start()
        sender = home.events()

        def send(first: int, last: int) -> None:
            for step in steps[first:last]:
                for group, event in zip(groups, step, strict=True):
                    value = None
                    if event is not None:
                        value = event.model_copy(update={"group": group}).to_bytes()
                    sender.send_raw(group_key("prod", group), value, "freshness")
            sender.flush()

        send(0, 15)
        # All of a group that is in one batch is one record.
        eventually(home.lateness, timeout=120, message="work is under way")
        one.kill()
        one.start()
        known = len(home.lateness())
        send(15, 30)
        eventually(lambda: len(home.lateness()) > known, timeout=120, message="and goes on")
        two.kill()
        two.start()
        send(30, len(steps))
        home.await_caught_up("freshness")
        eventually(one.is_ready, timeout=120, message="recovered")
        told = [StatusChangeEvent.from_bytes(r.value()) for r in home.records("lag-status")]
    assert {change.data.group for change in told} == set(groups)
    for seed, group in enumerate(groups):
        world = World()
        events = [e and e.model_copy(update={"group": group}) for e in life(seed)]
        lived(world, sources(*events, key=group_key("prod", group)), 7)
        expected = [change.id for change in world.told]
        mine = [change for change in told if change.data.group == group]
        assert list(dict.fromkeys(change.id for change in mine)) == expected
        assert_each_opened_is_closed_once(mine)


def broken() -> dict[tuple[str, ...], float]:
    """What the metrics say is not kept: group, objective, limit, status; since when."""
    (family,) = EVALUATOR_OBJECTIVE_BROKEN.collect()
    names = ("group", "objective", "limit", "status")
    return {tuple(s.labels[name] for name in names): s.value for s in family.samples}


@pytest.fixture
def no_series() -> None:
    """A worker has none before it knows which groups are its own."""
    World().worker().recovered([])


@pytest.mark.usefixtures("no_series")
def test_what_is_not_kept_is_a_series_until_it_is_kept() -> None:
    world = World()
    late_for = [freshness_event(10_000 * step, late(70_000)) for step in range(3)]
    worker = run(world.worker(), *late_for[:2])
    assert broken() == {}  # not for as long as it has to last
    run(worker, *late_for)
    series = {("billing", "fresh", "max_freshness", "WARN"): NOW / 1000}
    assert broken() == series
    next_worker = world.worker()
    next_worker.recovered((key, value, 1) for key, value in world.stored.items())
    assert broken() == series
    run(next_worker, *late_for, *[freshness_event(10_000 * step, WELL) for step in range(3, 6)])
    assert broken() == {}


@pytest.mark.usefixtures("no_series")
def test_series_of_a_group_that_is_gone_or_of_another_worker_are_gone() -> None:
    world = World()
    worker = run(world.worker(), freshness_event(0, LOST))
    assert list(broken()) == [("billing", "retention", "lost_records", "ERR")]
    worker.recovered([])
    assert broken() == {}
    worker.recovered((key, value, 1) for key, value in world.stored.items())
    assert len(broken()) == 1
    run(worker, freshness_event(0, LOST), None)
    assert broken() == {}


@pytest.mark.usefixtures("no_series")
def test_where_very_many_groups_break_limits_some_wait_for_their_turn() -> None:
    limits = ObjectiveBook([]).limits_for("prod", "a")
    lost = Objectives({limits[0].key: Standing(NOW, is_open=True)})
    broken_limits = BrokenLimits(most_groups=2)
    for group in "abc":
        broken_limits.show("prod", group, lost, limits)
    assert {group for group, *_ in broken()} == {"a", "b"}
    broken_limits.show("prod", "a", Objectives(), limits)
    for group in "bc":
        broken_limits.show("prod", group, lost, limits)
    assert {group for group, *_ in broken()} == {"b", "c"}
