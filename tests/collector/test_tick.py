from collections.abc import Callable, Mapping

import numpy as np
import pytest
import support.coordinator_records as encode
from collector.played_bus import AWAY, PlayedBus
from support.coordinator_batches import batch
from support.manual_clock import ManualClock
from support.quiet_coordinator import QuietCoordinator
from support.recorded_positions import everything
from warren.contracts import GroupEvent, OffsetEvent
from warren.errors import ClusterUnreachable, PublishFailed
from warren_collector.cluster.meters import Meters
from warren_collector.cluster.publisher import Publisher
from warren_collector.cluster.tick import SETTLES, Ticker, silence
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.groups.reports import GroupReports
from warren_collector.groups.topic_ids import TopicIds
from warren_collector.logs.ends import UNKNOWN, LogEnds, TopicLog
from warren_collector.positions.columns import Int64s
from warren_collector.positions.events import Origin
from warren_collector.positions.recorded import RecordedPositions
from warren_collector.sources.source import SourcePartitions, assigned
from warren_wire.records import GroupMetadata

HEARTBEAT = 30.0
BAD_KEY = b"\0"


class FakeSource:
    def __init__(self) -> None:
        self.partitions = SourcePartitions()
        self.stored = 0

    def store(self) -> None:
        self.stored += 1


class FakeEnds:
    def __init__(self) -> None:
        self.requested: list[Mapping[str, int]] = []
        self.asked_stable: list[dict[str, list[int]]] = []
        self.suspected: frozenset[str] = frozenset()
        self.is_away = False
        self.takes: Callable[[], object] = lambda: None
        self.unanswered: list[int] = []
        """Partitions of the offsets topic whose leaders are out of reach."""

    def read(self, named: Mapping[str, int]) -> LogEnds:
        self.requested.append(named)
        self.takes()
        if self.is_away:
            raise ClusterUnreachable("prod", "clusters.prod.bootstrap", "away")
        column = np.array([100], np.int64)
        topics = {t: TopicLog(column, column) for t in (named.keys() - self.suspected)}
        offsets = np.full(named["__consumer_offsets"], 100, np.int64)
        offsets[self.unanswered] = UNKNOWN
        topics["__consumer_offsets"] = TopicLog(offsets, offsets)
        return LogEnds(topics, suspected=self.suspected)

    def with_last_stable(self, ends: LogEnds, wanted: Mapping[str, Int64s]) -> LogEnds:
        self.asked_stable.append({topic: numbers.tolist() for topic, numbers in wanted.items()})
        return ends


class Fixture:
    def __init__(self, silence: float = HEARTBEAT) -> None:
        self.clock = ManualClock(1_000_000)
        self.states = GroupStates(everything)
        self.positions = RecordedPositions(self.states, everything)
        self.source, self.ends, self.bus = FakeSource(), FakeEnds(), PlayedBus()
        self.groups: list[tuple[bytes | None, bytes | None]] = []
        self.publisher = Publisher(self.bus, "warren.", "__consumer_offsets", self.clock)
        self.reports = GroupReports(
            "prod",
            self.states,
            self.positions.groups,
            TopicIds(lambda _: {}, self.clock),
            QuietCoordinator(),
        )
        self.ticker = Ticker(
            Origin("prod", "offsets_topic", 5000),
            self.positions,
            self.source,
            self.ends,
            self.publisher,
            self.reports,
            Meters("prod"),
            self.clock,
            silence,
            offsets_topic="__consumer_offsets",
        )

    def own(self, number: int, position: int, *, live: bool = True) -> None:
        partition = assigned(number, stored=None, end=position)
        partition.position, partition.is_live = position, live
        self.source.partitions.add(partition)

    def commit(self, group: str, offset: int, partition: int = 0) -> None:
        record = encode.offset_key(group, f"topic-{group}", 0), encode.offset_value(offset, 5)
        self.positions.fold(batch([record], partition=partition))

    def fold(self, *records: tuple[bytes | None, bytes | None]) -> None:
        self.positions.fold(batch(records))

    def tick(self, after: float = 0.0) -> list[OffsetEvent]:
        self.clock.advance(after)
        self.ticker.tick()
        told, self.bus.acknowledged = self.bus.acknowledged, []
        self.groups += [(key, value) for topic, key, value in told if topic == "warren.groups"]
        events = {key: value for topic, key, value in told if topic == "warren.offsets"}
        assert events.keys() <= {b"prod|a", b"prod|b"}
        return [OffsetEvent.from_bytes(value) for value in events.values()]


@pytest.fixture
def at() -> Fixture:
    fixture = Fixture()
    fixture.own(0, position=7)
    return fixture


def test_silent_groups_get_a_heartbeat(at: Fixture) -> None:
    at.commit("a", 1)
    at.tick()
    assert at.tick(HEARTBEAT - 1) == []
    (event,) = at.tick(1)
    assert event.topics["topic-a"].commits == [0]
    assert at.tick(1) == []


@pytest.mark.parametrize(
    ("heartbeat", "interval", "every"),
    [(10, 5, 2), (14, 5, 2), (15, 5, 3), (5, 5, 1), (2, 5, 1), (1, 0.2, 5), (0.3, 0.1, 3)],
)
def test_a_heartbeat_is_never_late_nor_half_of_what_it_was_to_be(
    heartbeat: float, interval: float, every: int
) -> None:
    """Ticks come a little late, each by itself."""
    at = Fixture(silence(heartbeat, interval))
    at.own(0, position=7)
    at.commit("a", 1)
    started = at.clock.monotonic()
    told = []
    for tick in range(4 * every + 1):
        late = interval / 10 * (tick % 3)
        if at.tick(started + tick * interval + late - at.clock.monotonic()):
            told.append(tick)
    assert told == [0, every, 2 * every, 3 * every, 4 * every]


def test_how_far_a_log_is_stable_is_asked_where_a_group_stands(at: Fixture) -> None:
    at.commit("a", 1)
    at.commit("b", 100)  # where the log ends
    at.tick()
    at.commit("a", 1)
    at.tick(1)
    at.commit("a", 2)
    at.tick(1)
    at.tick(HEARTBEAT)
    assert at.ends.asked_stable == [{}, {"topic-a": [0]}, {}, {"topic-a": [0]}]


def test_groups_of_partitions_that_are_not_live_wait(at: Fixture) -> None:
    at.own(1, position=3, live=False)
    at.commit("a", 1, partition=0)
    at.commit("b", 1, partition=1)
    assert [event.group for event in at.tick()] == ["a"]
    at.own(1, position=9)
    assert [(event.group, event.position) for event in at.tick()] == [("b", 9)]


def test_of_a_leader_that_is_out_of_reach_nobody_is_judged(at: Fixture) -> None:
    """What its groups have committed meanwhile nobody knows; the others stay judged."""
    at.own(1, position=3)
    at.commit("a", 1, partition=0)
    at.commit("b", 1, partition=1)
    at.ends.unanswered = [1]
    assert [event.group for event in at.tick()] == ["a"]
    assert [event.group for event in at.tick(HEARTBEAT)] == ["a"]
    at.ends.unanswered = []
    assert {event.group for event in at.tick(HEARTBEAT)} == {"a", "b"}


def test_without_log_ends_nothing_is_published_and_nothing_lost(at: Fixture) -> None:
    at.commit("a", 1)
    at.ends.is_away = True
    assert at.tick() == []
    assert at.source.stored == 0
    at.commit("a", 2)
    at.ends.is_away = False
    (event,) = at.tick(5)
    assert event.topics["topic-a"].commits == [2]
    assert at.source.stored == 1


def test_an_outage_is_over_when_ends_are_read_though_no_group_is_due(at: Fixture) -> None:
    at.commit("a", 1)
    at.ends.is_away = True
    assert not at.ticker.tick()
    assert isinstance(at.ticker.problem, ClusterUnreachable)
    at.ticker.ends_were_read()
    assert at.ticker.problem is None
    at.ends.is_away, at.bus.problem = False, AWAY
    assert at.tick(5) == []
    at.ticker.ends_were_read()
    assert isinstance(at.ticker.problem, PublishFailed)  # that is of the home cluster


def test_after_an_outage_clients_have_the_time_to_commit(at: Fixture) -> None:
    """What they could not say while nobody answered is no lag of theirs."""
    at.commit("a", 1)
    assert len(at.tick()) == 1
    at.ends.is_away = True
    for _ in range(6):
        assert at.tick(HEARTBEAT) == []
    at.ends.is_away = False
    assert at.tick(1) == []
    at.commit("a", 2)
    assert at.tick(SETTLES / 2) == []
    (event,) = at.tick(SETTLES)
    assert event.topics["topic-a"].committed == [2]
    at.commit("a", 3)
    assert len(at.tick(1)) == 1, "it has settled"


def test_one_that_is_always_slow_is_published_every_other_time(at: Fixture) -> None:
    at.ends.takes = lambda: at.clock.advance(2 * SETTLES)
    published = []
    for offset in range(1, 7):
        at.commit("a", offset)
        published.append(len(at.tick(1)))
    assert published == [0, 1, 0, 1, 0, 1]


def test_without_acknowledgement_nothing_is_stored_and_all_is_repeated(at: Fixture) -> None:
    at.commit("a", 1)
    at.bus.problem = AWAY
    assert at.tick() == []
    assert at.source.stored == 0
    at.bus.problem = None
    (event,) = at.tick()
    assert event.topics["topic-a"].commits == [1]
    assert event.observed_at > 1_000_000  # the first attempt may have been delivered after all
    assert at.source.stored == 1


def test_a_group_with_a_topic_that_may_be_missing_waits(at: Fixture) -> None:
    at.commit("a", 1)
    at.commit("b", 1)
    at.ends.suspected = frozenset({"topic-a"})
    assert [event.group for event in at.tick()] == ["b"]
    assert at.source.stored == 0
    at.ends.suspected = frozenset()
    (event,) = at.tick()
    assert (event.group, event.topics["topic-a"].commits) == ("a", [1])
    assert at.source.stored == 1


def test_dead_letters_are_published_even_if_no_group_is_due(at: Fixture) -> None:
    records = batch([(BAD_KEY, b"")])
    at.publisher.bury(records, at.positions.fold(records))
    assert at.tick() == []
    assert at.publisher.waiting == 0
    assert at.source.stored == 1


def test_what_a_group_is_goes_with_the_tick(at: Fixture) -> None:
    at.commit("a", 1)
    at.tick()
    ((key, value),) = at.groups
    told = GroupEvent.from_bytes(value)
    assert (key, told.protocol, told.state, told.position) == (b"prod|a", "classic", "Empty", 7)
    at.fold((encode.group_key("b"), group_value("b")))
    at.bus.problem = AWAY
    at.tick(1)
    assert len(at.groups) == 1
    assert at.source.stored == 1
    at.bus.problem = None
    assert at.tick(1) == []  # nothing about offsets
    assert [key for key, _ in at.groups] == [b"prod|a", b"prod|b"]
    assert at.source.stored == 2


def test_nothing_is_stored_while_an_end_waits(at: Fixture) -> None:
    at.fold((encode.group_key("b"), group_value("b")))
    at.tick()
    at.fold((encode.group_key("b"), None))
    at.commit("a", 1)
    at.tick(1)
    assert at.source.stored == 1
    at.tick(1)
    assert at.groups[-1] == (b"prod|b", None)
    assert at.source.stored == 2


def group_value(group: str) -> bytes:
    return encode.group_value(GroupMetadata(group, "consumer", 1, None, None, 5, ()), 3)
