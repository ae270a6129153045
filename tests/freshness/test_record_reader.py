import asyncio
from collections.abc import Iterable
from typing import Any, cast

from freshness.fake_brokers import NOT_AUTHORISED, NOT_LEADER, FakeBrokers, FakeLog
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from warren.errors import AuthenticationFailed
from warren.metrics.freshness import FRESHNESS
from warren.settings import ClusterSettings
from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.reading.batch_sizes import ByteBudget
from warren_freshness.reading.broker_fetches import IN_FLIGHT
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.topics.metadata import MAX_AGE, TopicMetadata
from warren_wire.brokers import Brokers
from warren_wire.metadata import NO_LEADER

PLENTY = 1 << 30


class Bench:
    """A reader on fake brokers."""

    def __init__(self, brokers: FakeBrokers) -> None:
        self.brokers = brokers
        self.clock = ManualClock()
        self.reader = RecordReader(
            "prod", "clusters.prod", ClusterSettings(bootstrap="b:1"), self.clock
        )
        self.reader.brokers = cast("Brokers", brokers)
        self.reader.metadata = TopicMetadata(
            self.reader.brokers, "prod", "clusters.prod", self.clock
        )

    def read(
        self, places: Iterable[LogPosition], timeout: float = 30, most_bytes: int = PLENTY
    ) -> dict[LogPosition, Reading]:
        async def reading() -> dict[LogPosition, Reading]:
            wanted = {place: place.offset for place in places}
            await self.reader.prepare({place.topic for place in places}, timeout=timeout)
            readings = await self.reader.read(wanted, ByteBudget(most_bytes), timeout=timeout)
            self.reader.settle()
            return readings

        return asyncio.run(reading())

    @property
    def obstacle(self) -> str:
        """Why the last pass measured nothing."""
        return str(self.reader.obstacle or "")


def log(leader: int = 1, **others: Any) -> FakeLog:
    return FakeLog({offset: 1000 + offset for offset in range(10)}, leader, **others)


def record(offset: int) -> Reading:
    return Reading("record", first=1000 + offset)


def test_one_request_per_broker_reads_all_its_partitions() -> None:
    """Once it is known that the topic's batches are small."""
    bench = Bench(FakeBrokers({("a", p): log(leader=1 + p % 2) for p in range(60)}))
    places = [LogPosition("a", p, p % 10) for p in range(60)]
    assert bench.read(places) == {place: record(place.offset) for place in places}
    requested = [partition for fetch in bench.brokers.fetches for partition in fetch]
    assert sorted(requested) == [("a", p) for p in range(60)]
    # Of each broker one request that tells the size for each in flight, and the rest at once.
    assert len(bench.brokers.fetches) <= 2 * 2 * IN_FLIGHT


def test_positions_in_one_batch_are_read_once() -> None:
    bench = Bench(FakeBrokers({("a", 0): log()}))
    places = [LogPosition("a", 0, offset) for offset in range(7)]
    read = bench.read(places)
    assert [read[place].first for place in places] == [1000 + place.offset for place in places]
    assert [read[place].before for place in places[1:]] == [1000 + n for n in range(6)]
    assert len(bench.brokers.fetches) == 1


def test_a_batch_of_any_size_comes_in_the_end() -> None:
    huge = 1 << 40
    bench = Bench(FakeBrokers({("a", p): log(size=huge) for p in range(3)}))
    places = [LogPosition("a", p, 4) for p in range(3)]
    assert bench.read(places) == {place: record(4) for place in places}


def test_a_long_search_does_not_keep_large_batches_waiting() -> None:
    long = FakeLog({40: 1040}, markers=40)
    bench = Bench(FakeBrokers({("a", 0): long, ("a", 1): log(), ("a", 2): log(size=1 << 40)}))
    places = [LogPosition("a", 0, 0), LogPosition("a", 1, 4), LogPosition("a", 2, 4)]
    assert bench.read(places) == dict(zip(places, [record(40), record(4), record(4)], strict=True))


def test_topics_with_small_batches_share_a_request_from_then_on() -> None:
    bench = Bench(FakeBrokers({("a", p): log() for p in range(9)}))
    bench.read([LogPosition("a", p, 4) for p in range(9)])
    before = len(bench.brokers.fetches)
    bench.read([LogPosition("a", p, 5) for p in range(9)])
    assert len(bench.brokers.fetches) - before == 1


def test_a_leader_that_moved_is_looked_for_in_the_next_pass() -> None:
    bench = Bench(FakeBrokers({("a", 0): log(error=NOT_LEADER)}))
    place = LogPosition("a", 0, 4)
    assert bench.read([place]) == {place: Reading("unread")}
    bench.brokers.logs["a", 0] = log(leader=2)
    assert bench.read([place]) == {place: record(4)}
    assert bench.brokers.metadata_requests == 2


def test_a_broker_that_is_gone_takes_only_its_partitions_with_it() -> None:
    bench = Bench(FakeBrokers({("a", 0): log(leader=1), ("a", 1): log(leader=2)}, unreachable={1}))
    read = bench.read([LogPosition("a", 0, 4), LogPosition("a", 1, 4)])
    assert read == {LogPosition("a", 0, 4): Reading("unread"), LogPosition("a", 1, 4): record(4)}


def test_a_broker_that_hangs_costs_the_timeout_and_only_its_partitions() -> None:
    bench = Bench(FakeBrokers({("a", 0): log(leader=1), ("a", 1): log(leader=2)}, hanging={1}))
    read = bench.read([LogPosition("a", 0, 4), LogPosition("a", 1, 4)], timeout=0.2)
    assert read == {LogPosition("a", 0, 4): Reading("unread"), LogPosition("a", 1, 4): record(4)}


def test_bytes_of_a_pass_are_bounded() -> None:
    bench = Bench(FakeBrokers({("a", p): log() for p in range(300)}))
    read = bench.read([LogPosition("a", p, 0) for p in range(300)], most_bytes=20_000)
    outcomes = [reading.outcome for reading in read.values()]
    assert "record" in outcomes
    assert "unread" in outcomes
    bytes_read = FRESHNESS.get_sample_value(
        "warren_freshness_read_bytes_total", {"cluster": "prod"}
    )
    assert bytes_read is not None


def test_a_topic_that_may_not_be_read_is_reported_once_and_left_alone() -> None:
    bench = Bench(FakeBrokers({("a", 0): log(error=NOT_AUTHORISED), ("b", 0): log()}))
    places = [LogPosition("a", 0, 4), LogPosition("b", 0, 4)]
    with capture_logs() as logs:
        for _ in range(3):
            read = bench.read(places)
            assert read == {places[0]: Reading("not_authorised"), places[1]: record(4)}
    assert [line["setting"] for line in logs] == ["clusters.prod.kafka"]
    assert "READ on topic a" in logs[0]["problem"]
    assert sum(("a", 0) in fetch for fetch in bench.brokers.fetches) == 1
    bench.clock.advance(MAX_AGE)
    bench.brokers.logs["a", 0].error = 0
    assert bench.read(places)[places[0]] == record(4)


def test_a_topic_that_may_not_be_described() -> None:
    bench = Bench(FakeBrokers({("a", 0): log()}, unauthorised={"a"}))
    assert bench.read([LogPosition("a", 0, 4)]) == {
        LogPosition("a", 0, 4): Reading("not_authorised")
    }


def test_an_unreachable_cluster_is_reported_once_until_it_answers_again() -> None:
    bench = Bench(FakeBrokers({("a", 0): log()}, no_metadata=True))
    place = LogPosition("a", 0, 4)
    with capture_logs() as logs:
        for _ in range(3):
            assert bench.read([place]) == {place: Reading("unread")}
        bench.brokers.no_metadata = False
        assert bench.read([place]) == {place: record(4)}
        bench.brokers.no_metadata = True
        bench.clock.advance(MAX_AGE)
        # What was known of the leaders is good enough to go on.
        assert bench.read([place]) == {place: record(4)}
        assert bench.obstacle == ""
    assert len([line["problem"] for line in logs if line["log_level"] == "warning"]) == 2


def test_a_pass_that_measures_nothing_says_why() -> None:
    bench = Bench(FakeBrokers({("a", 0): log()}, no_metadata=True))
    place = LogPosition("a", 0, 4)
    bench.read([place])
    assert "(see clusters.prod.bootstrap)" in bench.obstacle
    bench.brokers.no_metadata = False
    bench.read([place])
    assert bench.obstacle == ""


def test_answers_about_topics_alone_measure_nothing() -> None:
    """As where only the bootstrap address can be reached."""
    bench = Bench(FakeBrokers({("a", p): log() for p in range(3)}))
    bench.brokers.unreachable = {1}
    bench.read([LogPosition("a", p, 4) for p in range(3)])
    assert "none of 3 questions to partitions is answered" in bench.obstacle
    bench.read([])
    assert bench.obstacle == "", "nothing waits"


def test_one_broker_that_answers_is_enough() -> None:
    bench = Bench(FakeBrokers({("a", 0): log(), ("a", 1): log(leader=2)}))
    bench.brokers.unreachable = {1}
    bench.read([LogPosition("a", 0, 4), LogPosition("a", 1, 4)])
    assert bench.obstacle == ""


def test_partitions_without_a_leader_are_no_obstacle() -> None:
    bench = Bench(FakeBrokers({("a", 0): log(leader=NO_LEADER)}))
    bench.read([LogPosition("a", 0, 4)])
    assert bench.obstacle == ""


def test_no_right_to_any_topic_is_an_obstacle_as_long_as_work_waits() -> None:
    bench = Bench(FakeBrokers({("a", 0): log(), ("b", 0): log()}, unauthorised={"a", "b"}))
    bench.read([LogPosition("a", 0, 4), LogPosition("b", 0, 4)])
    assert "not authorised: DESCRIBE on topic a and 1 more topics" in bench.obstacle
    bench.read([])
    assert bench.obstacle == ""
    bench.brokers.unauthorised = {"a"}
    bench.clock.advance(MAX_AGE)
    bench.read([LogPosition("a", 0, 4), LogPosition("b", 0, 4)])
    assert bench.obstacle == ""


def test_refused_credentials_are_reported() -> None:
    def refuse(_broker: int) -> Exception:
        return AuthenticationFailed("prod", "clusters.prod.kafka", "authentication failed")

    bench = Bench(FakeBrokers({("a", 0): log()}, refusal=refuse))
    with capture_logs() as logs:
        assert bench.read([LogPosition("a", 0, 4)]) == {LogPosition("a", 0, 4): Reading("unread")}
    assert [line["problem"] for line in logs] == ["authentication failed"]


def test_deleted_offsets_are_read_where_the_logs_begin() -> None:
    bench = Bench(FakeBrokers({("a", p): log(start=3 + p) for p in range(3)}))
    places = [LogPosition("a", p, 1) for p in range(3)]
    assert bench.read(places) == {
        place: Reading("record", first=1003 + place.partition, log_start=3 + place.partition)
        for place in places
    }
