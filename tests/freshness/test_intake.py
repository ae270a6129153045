"""From messages to positions, with dead letters on the way, on fakes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest
from confluent_kafka import OFFSET_END, OFFSET_INVALID, Message
from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from structlog.testing import capture_logs
from support.busy_writer import busy_writer
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import DeadLetter, OffsetEvent
from warren.errors import PublishFailed
from warren.kafka.connection import connect
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings, Settings
from warren_freshness.home.offsets_feed import OffsetsFeed, Polled, start_offset
from warren_freshness.home.topics import Intake, Publisher
from warren_freshness.positions.group_positions import GroupPositions
from warren_freshness.record_times.cache import RedisCache
from warren_freshness.service import FreshnessService


@dataclass
class FakeMessage:
    content: bytes | None
    at: int = 5
    whose: bytes = b"prod|billing"

    def topic(self) -> str:
        return "warren.offsets"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self.at

    def key(self) -> bytes | None:
        return self.whose

    def value(self) -> bytes | None:
        return self.content


def messages(*contents: bytes | None) -> list[Message]:
    return [cast("Message", FakeMessage(content, 5 + n)) for n, content in enumerate(contents)]


def test_good_and_bad_messages() -> None:
    positions = GroupPositions()
    intake = Intake(positions, {CLUSTER}, ManualClock(NOW))
    event = offset_event({"orders": [At(5, 9)]})
    foreign = event.model_copy(update={"cluster": "elsewhere"})
    with capture_logs() as lines:
        good, bad = event.to_bytes(), b"\xff\x00"
        others = cast("Message", FakeMessage(foreign.to_bytes(), 9, foreign.key))
        letters = intake.take([*messages(good, good, bad, None), others])
    assert [group.group for group in positions.snapshots(CLUSTER, [3])] == [GROUP]
    found = [(one.key, one.offset, one.value, one.failed_at) for one in letters]
    assert found == [(b"prod|billing", 7, b"\xff\x00", NOW), (b"prod|billing", 8, None, NOW)]
    assert len(lines) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        offset_event({"orders": [At(6, 9)]}, position=2**63),
        offset_event({"orders": [At(2**63, 9)]}),
        offset_event({"orders": [At(6, 2**70)]}),
        offset_event({"orders": [At(9, 9)]}, position=2**62, observed_at=NOW + 2 * 86_400_000),
    ],
    ids=["position", "committed", "log_end", "dated ahead"],
)
def test_numbers_that_kafka_cannot_have_meant_stop_nothing(wrong: OffsetEvent) -> None:
    positions = GroupPositions()
    intake = Intake(positions, {CLUSTER}, ManualClock(NOW))
    first = offset_event({"orders": [At(5, 9)]})
    after = offset_event({"orders": [At(7, 9)]}, position=11, observed_at=NOW + 1)
    letters = intake.take(messages(first.to_bytes(), wrong.to_bytes(), after.to_bytes()))
    assert [one.offset for one in letters] == [6]
    (snapshot,) = positions.snapshots(CLUSTER, [3])
    assert [state.committed.offset for state in snapshot.states] == [7]


def test_an_offsets_topic_that_was_made_anew_is_followed_after_a_while() -> None:
    """As the evaluator does: a position that nothing reaches any more freezes no group for good."""
    positions = GroupPositions()
    for position, observed_at, taken in (
        (2**62, NOW, True),
        (11, NOW + 60_000, False),
        (12, NOW + 11 * 60_000, True),
    ):
        event = offset_event({"orders": [At(5, 9)]}, position=position, observed_at=observed_at)
        assert positions.fold(event, home_partition=3) is taken


class FakeFeed:
    """One poll brings an unusable event; then there is nothing more."""

    def __init__(self, stop: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
        self._polls = 0
        self._stop = stop
        self._loop = loop

    def poll(self, _timeout: float, _used: Mapping[int, int]) -> Polled:
        self._polls += 1
        if self._polls > 1:
            self._loop.call_soon_threadsafe(self._stop.set)
        return Polled((messages(b"{}") if self._polls == 1 else []), frozenset(), {3: 6}, True)

    def close(self, _used: Mapping[int, int]) -> None:
        pass


class FakePublisher:
    def __init__(self, positions: GroupPositions, refusals: int) -> None:
        self._positions = positions
        self._refusals = refusals
        self.folded_at_attempts: list[Mapping[int, int]] = []

    async def publish_dead_letters(self, letters: Sequence[DeadLetter]) -> None:
        assert len(letters) == 1
        self.folded_at_attempts.append(self._positions.folded)
        if len(self.folded_at_attempts) <= self._refusals:
            raise PublishFailed("home", "home", "not acknowledged")


class FakeRedis:
    async def close(self) -> None:
        pass


def test_nothing_is_used_before_its_dead_letters_are_safe() -> None:
    async def work() -> tuple[GroupPositions, FakePublisher]:
        stop, positions = asyncio.Event(), GroupPositions()
        publisher = FakePublisher(positions, refusals=2)
        service = FreshnessService(
            cast("OffsetsFeed", FakeFeed(stop, asyncio.get_running_loop())),
            Intake(positions, {CLUSTER}, ManualClock(NOW)),
            positions,
            cast("Publisher", publisher),
            [],
            cast("RedisCache", FakeRedis()),
            lambda partitions: {partition: [] for partition in partitions},
            interval=1,
            clock=ManualClock(NOW),
        )
        await asyncio.wait_for(service.run(stop), 30)
        return positions, publisher

    positions, publisher = asyncio.run(work())
    assert publisher.folded_at_attempts == [{}, {}, {}]
    assert positions.folded == {3: 6}


END = 120


@pytest.mark.parametrize(
    ("committed", "recent", "start"),
    [
        (70, 90, 70),  # it was away for long: nothing is skipped
        (95, 90, 90),  # what is committed already is needed again
        (OFFSET_INVALID, 90, 90),  # the first start
        (70, OFFSET_END, 70),  # nobody has published for two heartbeats
        (OFFSET_INVALID, OFFSET_END, END),
        (0, 0, 0),
    ],
)
def test_where_reading_starts(committed: int, recent: int, start: int) -> None:
    assert start_offset(committed, recent, END) == start


def test_events_that_come_all_the_time_are_caught_up_with(broker: Any, unique: str) -> None:
    home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=2)
    ensure_topics(connect("home", "home", home), home)
    feed = OffsetsFeed(Settings(home=home), SystemClock())
    with busy_writer(home, f"{unique}.offsets"):
        eventually(lambda: feed.poll(0.2, {}).is_caught_up, message="what was there is read")
        feed.close({})
