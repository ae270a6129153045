"""A group that is stuck while retention deletes what it has not consumed; restarts in between."""

import time
from collections.abc import Iterator

import pytest
from freshness.events import GROUP, At, offset_event
from freshness.service_lab import ServiceLab
from freshness.timed_logs import MINUTE, TimedLogs
from support.waiting import eventually
from warren.contracts import FreshnessEvent, OffsetEvent
from warren_freshness.service import FreshnessService

AGES = range(60, 0, -1)  # minutes of the records, oldest first


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Stuck:
    """What is published of a group at one offset, and since when it says that the group is late."""

    def __init__(self, lab: ServiceLab, logs: TimedLogs) -> None:
        self.lab = lab
        self.logs = logs
        self.topic = logs.topic()
        logs.produce(self.topic, [now_ms() - n * MINUTE for n in AGES])
        self.since: list[int] = []
        self._positions: Iterator[int] = iter(range(1, 1000))

    def look(self, committed: int = 2) -> OffsetEvent:
        """The group as a collector sees it now: also where the log begins."""
        start, end = self.logs.range(self.topic)
        at = At(committed, end, start, committed_at=now_ms() - 60 * MINUTE)
        event = offset_event(
            {self.topic: [at]}, position=next(self._positions), observed_at=now_ms()
        )
        self.lab.publish(event)
        return event

    def measured_after(self, event: OffsetEvent) -> FreshnessEvent:
        found = self.lab.await_figures(lambda e: e.observed_at >= event.observed_at)
        figure = found.freshness_ms if found.at_least_ms is None else found.at_least_ms
        assert figure is not None
        self.since.append(found.measured_at - figure)
        return found

    def expire(self, before: int) -> FreshnessEvent:
        """Retention takes what is before that offset; the service sees it."""
        self.logs.delete_records(self.topic, before)
        event = self.look()
        found = self.measured_after(event)
        assert found.topics[self.topic].reason == ["expired"]
        assert found.freshness_ms is None, "never shown as exact"
        assert found.worst is not None
        assert found.worst.at_least
        return found


@pytest.fixture
def stuck(logs: TimedLogs, no_redis: str) -> Stuck:
    return Stuck(ServiceLab(logs, no_redis), logs)


def ready(service: FreshnessService) -> None:
    eventually(lambda: service.is_ready, message="the service is ready")


def test_no_figure_shrinks_before_the_group_commits(stuck: Stuck) -> None:
    with stuck.lab.running() as service:
        exact = stuck.measured_after(stuck.look())
        assert exact.topics[stuck.topic].reason == ["exact"]
        for before in (10, 20):
            stuck.expire(before)
        ready(service)
    stuck.logs.delete_records(stuck.topic, 40)  # while nobody looks
    for before in (45, 55):
        with stuck.lab.running() as service:
            ready(service)
            assert stuck.expire(before).lost_records == before - 2
    with stuck.lab.running():
        assert stuck.expire(60).topics[stuck.topic].oldest_at == [None]  # nothing is left
        assert max(stuck.since) - min(stuck.since) < 10, "as late as the record that it was at"
        assert now_ms() - stuck.since[0] >= 58 * MINUTE

        stuck.logs.produce(stuck.topic, [now_ms() - MINUTE])
        committed = stuck.measured_after(stuck.look(committed=60))
        assert committed.topics[stuck.topic].reason == ["exact"]
        assert committed.at_least_ms is None
        assert MINUTE <= (committed.freshness_ms or 0) < 10 * MINUTE
    assert stuck.lab.newest()[GROUP].event is not None


def test_a_deleted_group_is_not_late_since_then_when_it_comes_back(stuck: Stuck) -> None:
    with stuck.lab.running():
        stuck.measured_after(stuck.look())
        stuck.lab.publish(offset_event({}, deleted=True, observed_at=now_ms(), position=500))
        stuck.lab.await_tombstone()
        stuck._positions = iter(range(501, 1000))
        found = stuck.expire(58)
        assert 2 * MINUTE <= (found.at_least_ms or 0) < 10 * MINUTE
