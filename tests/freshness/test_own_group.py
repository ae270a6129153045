"""Groups that are caught up have no lag and are not late, whatever they commit: Warren's own
evaluator on Faust, and clients that commit the last record that they have processed."""

from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from freshness.events import CLUSTER, GROUP, At, offset_event
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import MINUTE, TimedLogs
from support.evaluator_process import PARTITIONS, Home
from support.manual_clock import ManualClock
from support.offset_events import Judge
from warren.contracts import OffsetEvent
from warren.contracts.topics import OFFSETS


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
