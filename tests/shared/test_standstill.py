"""Standstill: what counts as one, and what follows."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from confluent_kafka import KafkaError, KafkaException
from prometheus_client import CollectorRegistry, Gauge
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.errors import WarrenError
from warren.settings import StandstillSettings
from warren.standstill import (
    LONGEST_STEP,
    Look,
    Standstill,
    StandstillWatch,
    Turns,
    in_parts,
    obstacle,
    waited_for_cpu,
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def standstill(clock: ManualClock) -> Standstill:
    return Standstill("judging", clock, not_ready_after=60, exit_after=180)


def looks(standstill: Standstill, clock: ManualClock, seconds: int, *, waiting: int) -> None:
    """One look every five seconds, of work that does not move."""
    for _ in range(seconds // 5):
        clock.advance(5)
        standstill.saw(Look(waiting, "same"))


def test_work_that_waits_and_does_not_move_stands_still(
    standstill: Standstill, clock: ManualClock
) -> None:
    standstill.saw(Look(7, "same"))
    looks(standstill, clock, 55, waiting=7)
    assert standstill.reason is None
    looks(standstill, clock, 5, waiting=7)
    assert standstill.reason == "judging: 7 events waiting, none done for 1m"
    assert not standstill.must_end
    looks(standstill, clock, 120, waiting=9)
    assert standstill.must_end


def test_nothing_stands_still_that_is_idle_or_moves(
    standstill: Standstill, clock: ManualClock
) -> None:
    looks(standstill, clock, 600, waiting=0)
    assert standstill.reason is None
    for mark in range(100):
        clock.advance(10)
        standstill.saw(Look(1000, mark))
    assert standstill.reason is None
    assert standstill.stalled_seconds == 0


def test_who_waits_for_a_cluster_says_so_and_does_not_end(
    standstill: Standstill, clock: ManualClock
) -> None:
    standstill.saw(Look(7, "same"))
    looks(standstill, clock, 170, waiting=7)
    for _ in range(1000):
        clock.advance(5)
        standstill.saw(obstacle("cluster does not answer"))
        assert not standstill.must_end
    assert standstill.reason == "judging: cluster does not answer"
    looks(standstill, clock, 175, waiting=7)
    assert not standstill.must_end, "it has the whole time again"
    assert str(standstill.reason).startswith("judging: 7 events waiting, none done for ")
    standstill.saw(Look(7, "another"))
    assert standstill.reason is None


def test_trouble_that_comes_and_goes_is_no_progress(
    standstill: Standstill, clock: ManualClock
) -> None:
    """As where each session begins well, and ends with the first record that it may not write."""
    standstill.saw(Look(7, "same"))
    for _ in range(20):
        clock.advance(5)
        standstill.saw(obstacle("not acknowledged"))
        looks(standstill, clock, 5, waiting=7)
    assert standstill.reason == "judging: 7 events waiting, none done for 3m 15s"
    assert not standstill.must_end


def test_time_in_which_the_process_was_stopped_hardly_counts(
    standstill: Standstill, clock: ManualClock
) -> None:
    standstill.saw(Look(7, "same"))
    clock.advance(3600)
    standstill.saw(Look(7, "same"))
    assert standstill.stalled_seconds == LONGEST_STEP


def test_a_turn_under_way_waits_and_its_end_is_progress(
    standstill: Standstill, clock: ManualClock
) -> None:
    turns = Turns()

    def look_for(seconds: int) -> None:
        for _ in range(seconds // 5):
            clock.advance(5)
            standstill.saw(turns.look())

    turns.begin()
    turns.end()
    look_for(3600)
    assert standstill.reason is None  # between two turns
    for _ in range(100):
        turns.begin()
        look_for(30)
    assert standstill.reason is None
    look_for(60)
    assert standstill.reason == "judging: nothing done for 1m 25s"


class Service:
    """Whose work a watch looks at."""

    def __init__(self, clock: ManualClock) -> None:
        self.answers = True
        self.mark = 0
        self.ended = 0
        self.gauge = Gauge("stalled", "s", ("work",), registry=CollectorRegistry())
        self.waited: dict[str, int] = {}  # for a CPU, nanoseconds by thread
        works = {"feed": lambda: self.look()}
        self.watch = StandstillWatch(
            StandstillSettings(), works, self.gauge, clock, self.end, lambda: dict(self.waited)
        )
        self.look: Callable[[], Look] = self.counted

    def counted(self) -> Look:
        if not self.answers:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return Look(3, self.mark, "records")

    def end(self) -> None:
        self.ended += 1

    def go_on(self, clock: ManualClock, seconds: int) -> None:
        for _ in range(seconds // 5):
            clock.advance(5)
            self.watch.look()

    def stalled(self) -> float:
        (family,) = self.gauge.collect()
        (sample,) = family.samples
        assert sample.labels == {"work": "feed"}
        return sample.value


def test_who_gets_no_cpu_has_ten_times_as_long(clock: ManualClock) -> None:
    """At a load of 80 what works was called a standstill; what hangs is found there, too."""
    service = Service(clock)
    service.waited = {"loop": 0, "idle": 0}
    service.go_on(clock, 5)
    for _ in range(40):
        service.waited["loop"] += 4_000_000_000  # of 5 s it ran or slept for one
        service.go_on(clock, 5)
    assert service.stalled() == pytest.approx(40)
    assert service.watch.reason is None
    while not service.ended:
        service.waited["loop"] += 5_000_000_000
        service.go_on(clock, 5)
    assert 40 + (clock.monotonic() - 205) / 10 == pytest.approx(180, abs=1)


def test_the_kernel_says_who_waits_for_a_cpu() -> None:
    before = waited_for_cpu()
    burners = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(8)]
    try:
        eventually(
            lambda: max(waited_for_cpu().values()) > max(before.values()) + 100_000,
            message="a thread waits",
        )
    finally:
        for each in burners:
            each.kill()
            each.wait()


def test_a_watch_tells_once_and_ends_the_process(clock: ManualClock) -> None:
    service = Service(clock)
    with capture_logs() as lines:
        service.go_on(clock, 100)
        assert service.watch.reason == "feed: 3 records waiting, none done for 1m 35s"
        assert service.stalled() == 95
        service.mark += 1
        service.go_on(clock, 5)
        assert service.watch.reason is None
        assert service.ended == 0
        service.go_on(clock, 180)
        assert service.ended == 1
    assert [line["event"] for line in lines] == [
        "standing still, not ready",
        "moving again",
        "standing still, not ready",
        "standing still for too long, ending",
    ]


def test_work_that_stood_still_does_not_move_because_nobody_can_look(clock: ManualClock) -> None:
    service = Service(clock)
    service.go_on(clock, 100)

    def gone() -> Look:
        raise WarrenError("the other process has ended")

    service.look = gone
    service.go_on(clock, 5)
    assert service.watch.reason == "feed: nothing done for 1m 40s"
    service.go_on(clock, 80)
    assert service.ended == 1


def test_limits_are_in_order() -> None:
    with pytest.raises(ValueError, match="exit_after must be more"):
        StandstillSettings(not_ready_after=60, exit_after=60)


def test_an_obstacle_is_said_after_a_while_and_ends_nobody(
    standstill: Standstill, clock: ManualClock
) -> None:
    standstill.saw(obstacle(None))
    for _ in range(1000):
        clock.advance(5)
        assert standstill.reason is None or clock.monotonic() >= 60
        standstill.saw(obstacle("no right to read"))
        assert not standstill.must_end
    assert standstill.reason == "judging: no right to read"
    standstill.saw(obstacle(""))
    assert standstill.reason is None


@pytest.mark.parametrize(
    ("obstacles", "expected"),
    [
        (["", "away"], ""),
        (["away", "refused"], "away; refused"),
        (["home is away", "home is away"], "home is away"),
        ([], ""),
    ],
)
def test_work_in_parts_is_kept_from_by_an_obstacle_in_each(
    obstacles: list[str], expected: str
) -> None:
    assert in_parts(map(obstacle, obstacles)).obstacle == expected
