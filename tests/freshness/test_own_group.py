"""Warren's own evaluator is a consumer group on Faust: caught up, it has no lag and is not late."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from freshness.events import CLUSTER, GROUP, At, offset_event
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import TimedLogs
from support.evaluator_process import PARTITIONS, Home
from support.offset_events import Judge
from warren.clock import ManualClock
from warren.contracts import OffsetEvent
from warren.contracts.topics import OFFSETS

pytestmark = pytest.mark.integration


class OwnGroup:
    """Where the evaluator's group stands on warren.offsets, as a collector would tell it."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.topic = OFFSETS.full_name(home.prefix)

    def committed(self) -> list[int]:
        consumer = Consumer(
            {"bootstrap.servers": self._home.bootstrap, "group.id": self._home.app_id}
        )
        places = [TopicPartition(self.topic, partition) for partition in range(PARTITIONS)]
        found = [place.offset for place in consumer.committed(places, timeout=30)]
        consumer.close()
        return [max(offset, -1) for offset in found]

    def look(self, clock: ManualClock, logs: TimedLogs, position: int) -> OffsetEvent:
        places = [
            At(committed, *reversed(logs.range(self.topic, partition)), committed_at=clock.now_ms())
            for partition, committed in enumerate(self.committed())
        ]
        return offset_event({self.topic: places}, observed_at=clock.now_ms(), position=position)


def test_the_evaluators_group_is_not_late_when_it_has_caught_up(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, unique: str, tmp_path: Path
) -> None:
    home = Home(logs.bootstrap, unique, tmp_path)
    own, judge = OwnGroup(home), Judge()
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
                seen = own.look(clock, logs, 10 * round_number + look)
                judged = judge.judged(seen)
                cluster.commit(own.topic, seen.topics[own.topic].committed)
                measured = cluster.measure()[GROUP]
    assert judged.lag.total_lag == 0
    assert measured.cluster == CLUSTER
    assert (measured.freshness_ms, measured.at_least_ms) == (0, None)
    assert set(measured.topics[own.topic].reason) <= {"caught_up", "no_commit"}
