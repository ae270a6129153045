from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from aiokafka.errors import KafkaConnectionError
from support.manual_clock import ManualClock
from warren.errors import ClusterUnreachable
from warren_collector.logs.ends import STARTS_EVERY, TRUNCATED_AFTER, LogEnds, LogEndsReader
from warren_collector.logs.metadata import MAX_AGE, TopicMetadata
from warren_wire.brokers import Brokers
from warren_wire.metadata import NO_TOPIC_ID

NOT_LEADER = 6
UNKNOWN_TOPIC = 3
NOT_AUTHORISED = 29
LATEST, EARLIEST = -1, -2
READ_COMMITTED = 1
OLD, NEW = b"1" * 16, b"2" * 16


@dataclass
class FakeCluster:
    """Topics as {name: [(leader, start, end) by partition]}."""

    topics: dict[str, list[tuple[int, int, int]]]
    refused: set[int] = field(default_factory=set)
    slow: set[int] = field(default_factory=set)
    unauthorised: set[str] = field(default_factory=set)
    metadata_requests: list[list[str]] = field(default_factory=list)
    offset_requests: list[tuple[int, int]] = field(default_factory=list)
    open_at: dict[tuple[str, int], int] = field(default_factory=dict)
    """Last stable offsets that are not the ends."""
    ids: dict[str, bytes] | None = None
    """None: brokers without ids."""
    closed: bool = False

    async def metadata(self, topics: Sequence[str] | None) -> Any:
        requested = list(self.topics if topics is None else topics)
        self.metadata_requests.append(requested)
        if self.ids is None:
            return SimpleNamespace(
                API_VERSION=5, topics=[self._describe(topic) for topic in requested]
            )
        topics = [
            (error, name, self.ids.get(name, NO_TOPIC_ID), *rest)
            for error, name, *rest in map(self._describe, requested)
        ]
        return SimpleNamespace(API_VERSION=12, topics=topics)

    def _describe(self, topic: str) -> tuple[int, str, bool, list[tuple[Any, ...]]]:
        if topic in self.unauthorised:
            return NOT_AUTHORISED, topic, False, []
        if topic not in self.topics:
            return UNKNOWN_TOPIC, topic, False, []
        partitions: list[tuple[Any, ...]] = [
            (0, number, leader, [], [], [])
            for number, (leader, _, _) in enumerate(self.topics[topic])
        ]
        return 0, topic, False, partitions[::-1]

    async def send(self, broker: int, request: Any) -> Any:
        prepared = request.prepare({2: (1, 3)})
        topics, timestamp = prepared.topics, prepared.topics[0][1][0][1]
        self.offset_requests.append((broker, timestamp))
        if broker in self.refused:
            raise KafkaConnectionError("refused")
        if broker in self.slow:
            raise TimeoutError
        return SimpleNamespace(
            topics=[
                (topic, [self._offset(broker, topic, p, ts, stable) for p, ts in wanted])
                for topic, wanted in topics
                for stable in [prepared.isolation_level == READ_COMMITTED]
            ]
        )

    def _offset(
        self, broker: int, topic: str, number: int, timestamp: int, stable: bool
    ) -> tuple[int, ...]:
        partitions = self.topics.get(topic, [])
        if number >= len(partitions):
            return number, UNKNOWN_TOPIC, -1, -1
        leader, start, end = partitions[number]
        if leader != broker:
            return number, NOT_LEADER, -1, -1
        end = self.open_at.get((topic, number), end) if stable else end
        return number, 0, -1, end if timestamp == LATEST else start

    async def close(self) -> None:
        self.closed = True


class Fixture:
    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster
        self.clock = ManualClock()
        metadata = TopicMetadata("prod", "clusters.prod", self.clock)
        self.reader = LogEndsReader(cast("Brokers", cluster), metadata, self.clock)

    def read(self, topics: Iterable[str] = (), **named: int) -> LogEnds:
        """`named`: topics, and how many partitions commits name."""
        return self.reader.read(dict.fromkeys(topics, 0) | named)

    def ends(self, *topics: str) -> dict[str, list[int]]:
        return {t: log.end.tolist() for t, log in self.read(topics).topics.items()}


@pytest.fixture
def two() -> Iterator[Fixture]:
    """Two brokers and two topics."""
    fixture = Fixture(FakeCluster({"orders": [(1, 0, 10), (2, 5, 20)], "returns": [(2, 0, 30)]}))
    yield fixture
    fixture.reader.close()
    assert fixture.cluster.closed


def test_how_far_the_logs_are_stable_is_asked_where_it_matters(two: Fixture) -> None:
    two.cluster.open_at = {("orders", 0): 7, ("orders", 1): 20, ("returns", 0): 3}
    ends = two.read(["orders", "returns"])
    two.cluster.offset_requests.clear()
    found = two.reader.with_last_stable(ends, {"orders": np.array([0, 1])})
    assert two.cluster.offset_requests == [(1, LATEST), (2, LATEST)]
    assert found.topics["orders"].last_stable.tolist() == [7, -1]
    assert found.topics["orders"].end.tolist() == [10, 20]
    assert found.topics["returns"].last_stable is None
    assert two.reader.with_last_stable(ends, {}) is ends


def test_a_leader_that_does_not_say_how_far_is_no_trouble(two: Fixture) -> None:
    two.cluster.open_at = {("orders", 0): 7, ("orders", 1): 9}
    ends = two.read(["orders"])
    two.cluster.refused = {1}
    found = two.reader.with_last_stable(ends, {"orders": np.array([0, 1])})
    assert found.topics["orders"].last_stable.tolist() == [-1, 9]


def test_metadata_is_asked_for_when_old_or_when_a_topic_is_new(two: Fixture) -> None:
    two.ends("orders")
    two.ends("orders")
    assert two.cluster.metadata_requests == [["orders"]]
    two.ends("returns")
    two.ends("orders", "returns")
    assert two.cluster.metadata_requests == [["orders"], ["orders", "returns"]]
    two.clock.advance(MAX_AGE)
    two.cluster.topics["orders"].append((1, 0, 7))
    assert two.ends("orders") == {"orders": [10, 20, 7]}


def test_a_leader_that_moved_is_found(two: Fixture) -> None:
    two.ends("orders")
    two.cluster.topics["orders"][0] = (2, 0, 12)
    assert two.ends("orders") == {"orders": [12, 20]}


def test_a_broker_that_is_away_makes_only_its_partitions_unknown(two: Fixture) -> None:
    two.cluster.refused.add(1)
    ends = two.read(["orders", "returns"])
    assert ends.topics["orders"].end.tolist() == [-1, 20]
    assert ends.topics["orders"].start.tolist() == [-1, 5]
    assert ends.unknown_partitions == 1
    two.cluster.refused.clear()
    assert two.ends("orders") == {"orders": [10, 20]}


def test_a_slow_broker_is_not_asked_twice_in_one_reading(two: Fixture) -> None:
    two.ends("orders", "returns")
    two.cluster.slow.add(1)
    two.cluster.offset_requests.clear()
    assert two.ends("orders", "returns") == {"orders": [-1, 20], "returns": [30]}
    assert two.cluster.offset_requests.count((1, LATEST)) == 1


def test_a_partition_without_leader_is_unknown(two: Fixture) -> None:
    two.cluster.topics["orders"][1] = (-1, 0, 0)
    assert two.ends("orders") == {"orders": [10, -1]}


def test_old_ends_are_never_given_for_fresh_ones(two: Fixture) -> None:
    two.ends("orders", "returns")
    two.cluster.refused = {1, 2}
    with pytest.raises(ClusterUnreachable, match=r"clusters\.prod\.bootstrap"):
        two.read(["orders", "returns"])


def test_a_topic_is_missing_only_after_a_second_look(two: Fixture) -> None:
    first = two.read(["orders", "gone"])
    assert first.suspected == {"gone"}
    assert not first.missing
    second = two.read(["orders", "gone"])
    assert second.missing == {"gone"}
    assert not second.suspected
    two.cluster.topics["gone"] = [(1, 0, 3)]
    two.clock.advance(MAX_AGE)
    third = two.read(["orders", "gone"])
    assert third.topics["gone"].end.tolist() == [3]
    assert third.missing == set()


def test_a_start_is_told_once_commits_were_read_after_it(two: Fixture) -> None:
    """Who deletes what it has read has committed that before."""
    two.ends("orders")
    two.cluster.topics["orders"] = [(1, 7, 10), (2, 5, 20)]
    two.clock.advance(STARTS_EVERY)
    told = [two.read(["orders"]).topics["orders"].start.tolist() for _ in range(2)]
    assert told == [[0, 5], [7, 5]]


def test_starts_of_a_recreated_topic_are_not_those_of_the_old_one(two: Fixture) -> None:
    two.cluster.ids = {"orders": OLD}
    two.ends("orders")
    two.cluster.topics["orders"] = [(1, 0, 2), (2, 0, 3)]
    two.cluster.ids = {"orders": NEW}
    recreated = two.read(["orders"]).topics["orders"]
    assert (recreated.end.tolist(), recreated.start.tolist()) == ([2, 3], [0, 0])


def test_without_ids_a_topic_made_anew_is_believed_when_told_twice(two: Fixture) -> None:
    two.ends("orders")
    two.cluster.topics["orders"] = [(1, 0, 2), (2, 0, 3)]
    assert two.ends("orders") == {"orders": [10, 20]}
    two.clock.advance(5)
    recreated = two.read(["orders"]).topics["orders"]
    assert (recreated.end.tolist(), recreated.start.tolist()) == ([2, 3], [0, 0])


def test_an_end_never_goes_back_whichever_leader_answers(two: Fixture) -> None:
    two.cluster.ids = {"orders": OLD, "returns": OLD}
    two.ends("orders", "returns")
    two.cluster.topics["orders"][1] = (2, 5, 12)  # by a leader that has lost its place
    for _ in range(3):
        two.clock.advance(5)
        assert two.ends("orders") == {"orders": [10, 20]}
        assert two.reader.read_all(lambda _: True).topics["orders"].end.tolist() == [10, 20]
    two.cluster.topics["orders"][1] = (1, 5, 21)  # by the right one
    assert two.ends("orders") == {"orders": [10, 21]}


def test_an_end_does_not_go_back_while_no_group_consumes_the_topic(two: Fixture) -> None:
    two.cluster.ids = {"orders": OLD, "returns": OLD}
    two.ends("orders", "returns")
    for _ in range(3):
        two.clock.advance(MAX_AGE)
        two.ends("returns")
    two.cluster.topics["orders"][0] = (1, 0, 4)
    assert two.ends("orders") == {"orders": [10, 20]}


def test_a_truncated_log_is_believed_in_the_end(two: Fixture) -> None:
    two.cluster.ids = {"orders": OLD}
    two.ends("orders")
    two.cluster.topics["orders"][1] = (2, 0, 12)
    assert two.ends("orders") == {"orders": [10, 20]}
    two.clock.advance(TRUNCATED_AFTER)
    assert two.ends("orders") == {"orders": [10, 12]}


def test_metadata_older_than_a_commit_removes_nothing(two: Fixture) -> None:
    two.ends("orders", "returns")
    two.cluster.topics["orders"].append((1, 0, 7))
    two.cluster.metadata_requests.clear()
    ends = two.read(orders=3, returns=1)
    assert ends.topics["orders"].end.tolist() == [10, 20, 7]
    assert not ends.suspected | ends.missing
    assert two.cluster.metadata_requests == [["orders"]]


def test_a_topic_known_to_be_missing_is_looked_for_when_it_is_committed(two: Fixture) -> None:
    two.read(new=1)
    assert two.read(new=1).missing == {"new"}
    two.cluster.topics["new"] = [(1, 0, 3)]
    assert two.ends("new") == {}
    ends = two.read(new=1)
    assert ends.topics["new"].end.tolist() == [3]
    assert not ends.suspected | ends.missing


@pytest.mark.parametrize("ids", [None, {"orders": b"1" * 16}])
def test_partitions_are_gone_only_after_a_second_look(
    two: Fixture, ids: dict[str, bytes] | None
) -> None:
    two.cluster.ids = ids
    two.ends("orders")
    assert two.read(orders=3).suspected == {"orders"}
    two.read(orders=0)  # as the list of all topics does
    second = two.read(orders=3)
    assert not second.suspected
    assert second.topics["orders"].end.tolist() == [10, 20]
    assert not two.read(orders=2).suspected
    assert two.read(orders=3).suspected == {"orders"}


def test_a_leader_that_refuses_is_no_second_look(two: Fixture) -> None:
    two.ends("orders")
    two.cluster.topics["orders"].pop()
    assert two.read(orders=2).suspected == {"orders"}
    assert two.read(orders=2).topics["orders"].end.tolist() == [10]


def test_the_id_tells_that_partitions_are_gone(two: Fixture) -> None:
    two.cluster.ids = {"orders": OLD}
    two.ends("orders")
    two.cluster.topics["orders"] = [(1, 0, 1)]
    two.cluster.ids = {"orders": NEW}
    ends = two.read(orders=2)
    assert not ends.suspected
    assert ends.topics["orders"].end.tolist() == [1]


def test_a_topic_that_may_not_be_described_is_not_asked_about_with_every_commit(
    two: Fixture,
) -> None:
    two.cluster.unauthorised.add("returns")
    two.read(orders=2, returns=1)
    two.read(orders=2, returns=1)
    assert two.cluster.metadata_requests == [["orders", "returns"]]


def test_all_topics_are_asked_for_with_one_request(two: Fixture) -> None:
    assert two.reader.read_all(lambda topic: topic != "returns").topics.keys() == {"orders"}
    assert two.cluster.metadata_requests == [["orders", "returns"]]
    two.cluster.topics["orders"].append((2, 0, 1))
    assert two.reader.read_all(lambda _: True).topics["orders"].end.tolist() == [10, 20, 1]
    assert len(two.cluster.metadata_requests) == 2
