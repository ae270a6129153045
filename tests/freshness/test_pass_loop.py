import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from confluent_kafka import Consumer, TopicPartition
from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import MINUTE, TimedLogs
from structlog.testing import capture_logs
from support.evaluator_process import PARTITIONS, Home
from support.manual_clock import ManualClock
from support.offset_events import Judge
from warren.contracts import OFFSETS, FreshnessEvent, OffsetEvent
from warren.errors import ClusterUnreachable, KafkaError, PublishFailed
from warren.metrics.freshness import FRESHNESS
from warren_freshness.figures.partition_figures import Row
from warren_freshness.home.topics import Publisher
from warren_freshness.passes.cluster_measurer import ClusterMeasurer, group_event
from warren_freshness.passes.pass_loop import PassLoop
from warren_freshness.positions.group_positions import GroupKey, GroupPositions, GroupSnapshot

DELETED = "deleted group"


class FakeMeasurer:
    def __init__(self) -> None:
        self.defect: Exception | None = None
        self.obstacle: KafkaError | None = None
        self.measured: list[list[str]] = []
        self.meanwhile: Callable[[], object] = lambda: None

    async def measure(self, groups: Sequence[GroupSnapshot]) -> list[FreshnessEvent]:
        self.measured.append([group.group for group in groups])
        self.meanwhile()
        if self.defect is not None:
            raise self.defect
        rows = {"orders": [Row(0, 5, 70, "exact", 0), Row(1, 5, None, "timeout", None)]}
        return [group_event(group, rows, NOW) for group in groups]

    def forget(self, groups: Sequence[GroupKey]) -> None:
        pass

    def release(self, home_partitions: Collection[int]) -> None:
        pass


class FakePublisher:
    def __init__(self, stop: asyncio.Event, passes: int) -> None:
        self.refuses = False
        self.published: list[tuple[list[str], list[GroupKey]]] = []
        self._stop = stop
        self._passes = passes

    async def publish(self, events: Sequence[FreshnessEvent], deleted: Sequence[GroupKey]) -> None:
        self._passes -= 1
        if self._passes <= 0:
            self._stop.set()
        if self.refuses:
            raise PublishFailed("home", "home", "not acknowledged")
        self.published.append(([event.group for event in events], list(deleted)))


class Bench:
    def __init__(self, passes: int = 1) -> None:
        self.stop = asyncio.Event()
        self.positions = GroupPositions()
        self.positions.fold(offset_event({"orders": [At(5, 9)]}), 0)
        self.positions.fold(offset_event({"orders": [At(5, 9)]}, group="not current"), 1)
        self.positions.fold(offset_event({}, group=DELETED, deleted=True), 0)
        self.positions.folded = {0: 7, 2: 9}  # home partition 1 is still being read
        self.measurer = FakeMeasurer()
        self.publisher = FakePublisher(self.stop, passes)
        self.loop = PassLoop(
            CLUSTER,
            cast("ClusterMeasurer", self.measurer),
            self.positions,
            cast("Publisher", self.publisher),
            ManualClock(NOW),
        )

    def run(self) -> None:
        asyncio.run(asyncio.wait_for(self.loop.run(0.01, self.stop), 30))


def test_a_loop_says_what_is_in_the_way_of_measuring() -> None:
    bench = Bench()
    bench.run()
    assert bench.loop.look().obstacle == ""
    assert bench.loop.has_groups
    bench.measurer.obstacle = ClusterUnreachable(CLUSTER, f"clusters.{CLUSTER}.bootstrap", "away")
    assert (
        bench.loop.look().obstacle == f"cluster {CLUSTER}: away (see clusters.{CLUSTER}.bootstrap)"
    )


def test_a_fault_is_in_the_way_until_a_pass_ends_well() -> None:
    bench = Bench()
    bench.measurer.defect = KeyError("orders")
    bench.measurer.meanwhile = bench.stop.set
    bench.run()
    assert "KeyError, a fault of Warren" in bench.loop.look().obstacle
    bench.measurer.defect = None
    bench.stop.clear()
    bench.run()
    assert bench.loop.look().obstacle == ""


def passes_that(result: str) -> float:
    labels = {"cluster": CLUSTER, "result": result}
    return FRESHNESS.get_sample_value("warren_freshness_passes_total", labels) or 0


def test_what_was_not_acknowledged_is_published_again() -> None:
    bench = Bench(passes=2)
    bench.publisher.refuses = True
    before = passes_that("failed")
    bench.run()
    assert bench.loop.used is None
    assert passes_that("failed") == before + 2
    bench.publisher.refuses = False
    bench.stop.clear()
    bench.run()
    assert bench.publisher.published == [([GROUP], [(CLUSTER, DELETED)])]


def test_a_defect_ends_no_other_passes() -> None:
    bench = Bench()
    bench.measurer.defect = ZeroDivisionError("defect")
    failed = passes_that("failed")

    async def until_repaired() -> None:
        running = asyncio.create_task(bench.loop.run(0.01, bench.stop))
        while len(bench.measurer.measured) < 3:
            await asyncio.sleep(0)
        bench.measurer.defect = None
        await asyncio.wait_for(running, 30)

    with capture_logs() as lines:
        asyncio.run(until_repaired())
    assert passes_that("failed") - failed >= 3
    assert {line["event"] for line in lines} == {"pass failed"}
    assert len(bench.publisher.published) == 1


def test_partitions_are_counted_by_reason() -> None:
    Bench().run()

    def gauge(name: str, **labels: str) -> float | None:
        labels = {"cluster": CLUSTER, **labels}
        return FRESHNESS.get_sample_value(f"warren_freshness_{name}", labels)

    assert gauge("partitions", reason="exact") == 1
    assert gauge("partitions", reason="timeout") == 1
    assert gauge("partitions", reason="expired") == 0


def test_what_another_instance_owns_now_is_not_committed() -> None:
    bench = Bench()
    bench.loop.release([0])
    bench.run()
    bench.loop.release([0])
    assert bench.loop.used == {2: 9}


def test_events_that_come_during_a_pass_are_not_used_by_it() -> None:
    bench = Bench()

    def fold_more() -> None:
        bench.positions.folded = {0: 8, 2: 9}

    bench.measurer.meanwhile = fold_more
    bench.run()
    assert bench.loop.used == {0: 7, 2: 9}


def test_a_group_that_is_deleted_during_a_pass_does_not_come_back() -> None:
    bench = Bench(passes=2)
    gone = offset_event({}, deleted=True, observed_at=NOW + 1)
    bench.measurer.meanwhile = lambda: bench.positions.fold(gone, 0)
    bench.run()
    assert bench.publisher.published == [([], [(CLUSTER, DELETED)]), ([], [(CLUSTER, GROUP)])]


def test_a_group_that_another_instance_took_over_during_a_pass_is_left_to_it() -> None:
    bench = Bench()
    bench.measurer.meanwhile = lambda: bench.positions.release([0])
    bench.run()
    assert bench.publisher.published[0][0] == []


# Groups that are caught up have no lag and are not late, whatever they commit: Warren's own
# evaluator on Faust, and clients that commit the last record that they have processed.


@dataclass(frozen=True, slots=True)
class CommittedBy:
    """Where a group stands on a topic, as a collector would tell it."""

    logs: TimedLogs
    group: str
    topic: str
    partitions: int

    def committed(self) -> list[int]:
        consumer = Consumer({"bootstrap.servers": self.logs.bootstrap, "group.id": self.group})
        places = [TopicPartition(self.topic, partition) for partition in range(self.partitions)]
        found = [place.offset for place in consumer.committed(places, timeout=30)]
        consumer.close()
        return [max(offset, -1) for offset in found]

    def look(self, clock: ManualClock, position: int) -> OffsetEvent:
        places = [
            At(committed, end, start, committed_at=clock.now_ms())
            for partition, committed in enumerate(self.committed())
            for start, end in [self.logs.range(self.topic, partition)]
        ]
        return offset_event({self.topic: places}, observed_at=clock.now_ms(), position=position)


@dataclass(frozen=True, slots=True)
class LastProcessed:
    """A client that commits the offset of each record that it has processed."""

    logs: TimedLogs
    group: str
    topic: str

    def consume(self) -> None:
        """All that is there."""
        consumer = self.logs._consumer(group_id=self.group, auto_offset_reset="earliest")
        consumer.subscribe([self.topic])
        at_end: set[int] = set()
        while len(at_end) < len(consumer.assignment()) or not at_end:
            message = consumer.poll(30)
            assert message is not None
            if message.error() is not None:
                at_end.add(message.partition() or 0)
                continue
            place = TopicPartition(self.topic, message.partition() or 0, message.offset() or 0)
            consumer.commit(offsets=[place], asynchronous=False)
        consumer.close()


def test_the_evaluators_group_is_not_late_when_it_has_caught_up(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, unique: str, tmp_path: Path
) -> None:
    home = Home(logs.bootstrap, unique, tmp_path)
    topic = OFFSETS.full_name(home.prefix)
    own, judge = CommittedBy(logs, home.app_id, topic, PARTITIONS), Judge()
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        for round_number in range(2):
            for number in range(40):
                event = offset_event(
                    {"orders": [At(5, 5)]}, group=f"g{number}", position=round_number + 1
                )
                sender.send(event)
            sender.flush()
            home.await_caught_up()
            for look in range(3):
                clock.advance(12)
                seen = own.look(clock, 10 * round_number + look)
                judged = judge.judged(seen)
                cluster.commit(own.topic, seen.topics[own.topic].committed)
                measured = cluster.measure()[GROUP]
    assert judged.lag.total_lag == 0
    assert measured.cluster == CLUSTER
    assert (measured.freshness_ms, measured.at_least_ms) == (0, None)
    assert set(measured.topics[own.topic].reason) <= {"caught_up", "no_commit"}


def test_a_client_that_commits_the_last_processed_offset(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, unique: str
) -> None:
    partitions = 3
    topic = logs.topic(partitions=partitions)
    client = LastProcessed(logs, unique, topic)
    seen_by = CommittedBy(logs, unique, topic, partitions)
    judge = Judge()
    position = 0
    for _ in range(2):
        for partition in range(partitions):
            logs.produce(topic, [clock.now_ms() - 3640 * 1000] * 5, partition)
        client.consume()
        assert seen_by.committed() == [logs.range(topic)[1] - 1] * partitions
        for _ in range(3):
            clock.advance(12)
            position += 1
            event = seen_by.look(clock, position)
            judged = judge.judged(event)
            cluster.commit(topic, event.topics[topic].committed)
            measured = cluster.measure()[GROUP]
    assert judged.lag.total_lag == 0
    assert judged.lag.last_processed == [topic]
    assert (measured.freshness_ms, measured.at_least_ms) == (0, None)
    assert measured.topics[topic].reason == ["caught_up"] * partitions
    assert measured.topics[topic].commit_convention == "last_processed"
    # One record more, and the group has stopped: late with that one.
    logs.produce(topic, [clock.now_ms() - MINUTE])
    clock.advance(12)
    event = seen_by.look(clock, position + 1)
    assert judge.judged(event).lag.total_lag == 1
    cluster.commit(topic, event.topics[topic].committed)
    measured = cluster.measure()[GROUP]
    assert (measured.freshness_ms, measured.at_least_ms) == (MINUTE + 12_000, None)
