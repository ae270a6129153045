"""The order of effects, with a table and a producer that write down what is asked of them."""

import asyncio
import threading
from collections.abc import Awaitable, Iterator
from typing import Any

import pytest
from aiokafka.errors import MessageSizeTooLargeError
from support.manual_clock import ManualClock
from support.offset_events import MINUTE, NOW, commits, offset_event
from warren.contracts import DeadLetter, OffsetEvent, group_key
from warren.metrics import evaluator as metrics
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.state import Applied, GroupGone
from warren_core.judgement.state_codec import encode, is_gone
from warren_evaluator.batch import BatchEvaluator, GoneGroups, ended_groups
from warren_evaluator.pipeline import Pipeline
from warren_evaluator.records import Publication, SourceRecord

KEY = group_key("prod", "billing")


class Broker:
    """Acknowledges a moment after it was asked, and remembers the order of everything."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.table: dict[bytes, bytes] = {}
        self.committed: dict[int, int] = {}
        self.fails_on = ""
        self.too_large: set[str] = set()
        self.letters: list[Publication] = []

    async def publish(self, item: Publication) -> Awaitable[Any]:
        if item.topic == "w.dead-letters":
            self.letters.append(item)
        return self._sent(item.topic)

    def read(self, key: bytes) -> bytes | None:
        return self.table.get(key)

    async def save(self, key: bytes, value: bytes | None, _partition: int) -> Awaitable[Any]:
        if value is None:
            del self.table[key]
        else:
            self.table[key] = value
        return self._sent("delete" if value is None else "table")

    def _sent(self, what: str) -> Awaitable[Any]:
        self.log.append(f"send {what}")
        return asyncio.ensure_future(self._acknowledge(what))

    async def _acknowledge(self, what: str) -> None:
        await asyncio.sleep(0)
        if what in self.too_large:
            raise MessageSizeTooLargeError(what)
        if what == self.fails_on:
            raise ConnectionError(what)
        self.log.append(f"acknowledge {what}")


@pytest.fixture
def broker() -> Iterator[Broker]:
    return Broker()


def pipeline(broker: Broker) -> Pipeline:
    clock = ManualClock(NOW + 60 * MINUTE)
    evaluator = BatchEvaluator(lambda _cluster, _group: GroupRules(Rules()), "w.", clock)
    return Pipeline(evaluator, broker, broker.publish, lambda: broker.committed, clock)


def batch(*events: OffsetEvent, first: int = 0) -> list[SourceRecord]:
    return [
        SourceRecord("w.offsets", 0, offset, KEY, event.to_bytes())
        for offset, event in enumerate(events, first)
    ]


def test_outputs_are_acknowledged_before_the_table_is_touched(broker: Broker) -> None:
    asyncio.run(pipeline(broker).run(batch(*commits(105, 106))))
    outputs = ["w.lag", "w.lag-status"] * 2
    assert broker.log[:4] == [f"send {topic}" for topic in outputs]
    assert sorted(broker.log[4:8]) == sorted(f"acknowledge {topic}" for topic in outputs)
    assert broker.log[8:] == ["send table", "acknowledge table"]


@pytest.mark.parametrize("what", ["w.lag", "w.lag-status", "table"])
def test_what_is_not_acknowledged_is_raised(broker: Broker, what: str) -> None:
    broker.fails_on = what
    with pytest.raises(ConnectionError, match=what):
        asyncio.run(pipeline(broker).run(batch(*commits(105, 106))))
    assert ("send table" in broker.log) == (what == "table")


@pytest.mark.parametrize(("what", "named"), [("w.lag", "w.lag"), ("table", "the changelog")])
def test_what_is_too_large_is_a_dead_letter_and_the_rest_goes_on(
    broker: Broker, what: str, named: str
) -> None:
    before, event = commits(105, 106)
    asyncio.run(pipeline(broker).run(batch(before, first=6)))
    broker.too_large = {what}
    asyncio.run(pipeline(broker).run(batch(event, first=7)))
    (letter,) = (DeadLetter.from_bytes(item.value) for item in broker.letters)
    assert letter.reason.startswith(f"too large for {named}: ")
    assert (letter.offset, letter.key, letter.value) == (7, KEY, None)
    assert {"acknowledge w.lag-status", "acknowledge w.dead-letters"} <= set(broker.log)
    assert KEY in broker.table


def test_what_shared_a_batch_with_something_too_large_is_sent_again(broker: Broker) -> None:
    class Once(set[str]):
        def __contains__(self, what: object) -> bool:
            found = super().__contains__(what)
            self.discard(str(what))
            return found

    broker.too_large = Once({"w.lag-status"})
    asyncio.run(pipeline(broker).run(batch(*commits(105, 106))))
    assert broker.letters == []
    assert broker.log.count("acknowledge w.lag-status") == 2


def test_a_huge_batch_leaves_the_loop_to_others(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warren_evaluator.pipeline.LARGE_BATCH_BYTES", 1)
    steps = pipeline(broker)
    loop_goes_on = threading.Event()
    evaluate = steps._evaluator.evaluate

    def wait(*arguments: Any) -> Any:
        assert loop_goes_on.wait(30)
        return evaluate(*arguments)

    monkeypatch.setattr(steps._evaluator, "evaluate", wait)

    async def run() -> None:
        running = asyncio.create_task(steps.run(batch(*commits(5))))
        await asyncio.sleep(0)
        loop_goes_on.set()
        await running

    asyncio.run(run())
    assert "acknowledge w.lag" in broker.log


def test_what_happened_is_counted(broker: Broker) -> None:
    names = ("events", "duplicates", "dead_letters", "partitions")

    def counted() -> list[float]:
        samples = [f"warren_evaluator_{name}_total" for name in names]
        return [metrics.EVALUATOR.get_sample_value(sample) or 0 for sample in samples]

    before = counted()
    events = commits(5, 6)
    bad = SourceRecord("w.offsets", 0, 3, KEY, b"{}")
    asyncio.run(pipeline(broker).run([*batch(*events, events[0]), bad]))
    assert [now - then for now, then in zip(counted(), before, strict=True)] == [4, 1, 1, 2]


def test_a_gone_group_goes_from_the_table_when_its_end_is_committed(broker: Broker) -> None:
    steps = pipeline(broker)
    other = offset_event(NOW, group="other").to_bytes()

    async def run() -> None:
        deleted = offset_event(NOW + 5 * MINUTE, deleted=True)
        await steps.run(batch(*commits(5), deleted, first=10))
        assert is_gone(broker.table[KEY])
        broker.committed = {0: 11}  # the deletion at 11 is not committed yet
        await steps.run([])
        assert KEY in broker.table
        broker.committed = {0: 12, 1: 99}
        await steps.run([SourceRecord("w.offsets", 0, 12, group_key("prod", "other"), other)])
        assert KEY not in broker.table

    asyncio.run(run())


def test_a_group_that_came_back_stays(broker: Broker) -> None:
    steps = pipeline(broker)

    async def run() -> None:
        deleted = offset_event(NOW + 5 * MINUTE, deleted=True)
        back = offset_event(NOW + 6 * MINUTE, {})
        await steps.run(batch(*commits(5), deleted))
        await steps.run(batch(back, first=2))
        broker.committed = {0: 3}
        await steps.run([])
        assert not is_gone(broker.table[KEY])

    asyncio.run(run())


def test_gone_groups_are_found_again_after_a_recovery() -> None:
    gone = GoneGroups()
    gone.add(b"elsewhere", 5, 1)
    marker = encode(GroupGone(Applied("offsets_topic", 1, NOW, 41)))
    gone.restore(ended_groups([(b"a", marker, 0), (b"b", b"\x01\x02", 0), (b"c", b"alive", 0)]))
    assert gone.take_due({0: 41, 5: 99}) == []
    assert gone.take_due({0: 42}) == [(b"a", 0)]
    assert gone.take_due({0: 42}) == []


def test_the_first_event_after_a_recovery_shows_what_was_committed() -> None:
    gone = GoneGroups()
    marker = encode(GroupGone(Applied("offsets_topic", 1, NOW, 41)))
    gone.restore(ended_groups([(b"a", marker, 0)]))
    gone.saw(0, 41)
    gone.saw(0, 42)
    assert gone.take_due({}) == []
    gone.restore(ended_groups([(b"a", marker, 0)]))
    gone.saw(0, 42)
    assert gone.take_due({}) == [(b"a", 0)]
