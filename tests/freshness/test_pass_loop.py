import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import cast

from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from warren.contracts import FreshnessEvent
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
    bench = Bench()
    bench.run()

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
