"""Crash loops: absences and stops that come again and again, and what is none."""

import numpy as np
import pytest
from support.followed_partition import ALL, Followed
from support.offset_events import NOW, At, Judge, offset_event
from warren_core.evaluation import Rules
from warren_core.evaluation.loops import apart_ms, loops
from warren_core.evaluation.presence import Presence


def there() -> Followed:
    partition = Followed()
    partition.presence = Presence.THERE
    return partition


def away(partition: Followed, minutes: float) -> set[str]:
    """Nobody is in its group for so long; what was said meanwhile."""
    began = len(partition.seen)
    partition.presence = Presence.NOBODY
    partition.silent_for(minutes)
    partition.presence = Presence.THERE
    return set(partition.seen[began:])


def back(partition: Followed, minutes: float) -> set[str]:
    began = len(partition.seen)
    partition.tick(50, read=ALL)
    for _ in range(round(minutes * 12) - 1):
        partition.tick(50, read=ALL)
    return set(partition.seen[began:])


@pytest.mark.heavy
@pytest.mark.parametrize(("down", "up"), [(3, 7), (8, 20), (20, 25)])
def test_a_group_that_goes_again_and_again_is_told_from_the_third_time_on(
    down: int, up: int
) -> None:
    """Each time, and in between; it is over once the next time is overdue."""
    partition = there().healthy(35)
    gone, here = [], []
    for _ in range(5):
        gone.append(away(partition, down))
        here.append(back(partition, up))
    assert all("STOP" in said for said in (gone[0], *gone[2:])), gone
    assert all(said == {"WARN"} for said in here[2:]), here
    assert (apart_ms(partition.track.marks) == (down + up) * 60_000).all()
    assert back(partition, (down + up) * 0.5 + 1) == {"WARN", "OK"}
    assert back(partition, 5) == {"OK"}


@pytest.mark.parametrize(("down", "up"), [(0.75, 1.5), (1, 1), (1, 1.5), (1.5, 5)])
def test_a_quick_loop_is_told_however_short_its_stops_are(down: float, up: float) -> None:
    """The first one is told; that it comes again at once is no habit."""
    partition = there().healthy(35)
    gone, here = [], []
    for _ in range(6):
        gone.append(away(partition, down))
        here.append(back(partition, up))
    assert all("STOP" in said for said in (gone[0], *gone[2:])), gone
    assert all(said == {"WARN"} for said in here[2:]), here


@pytest.mark.parametrize(("down", "up"), [(0.75, 0.25), (1, 0.5), (1.5, 0.5)])
def test_a_job_of_each_minute_is_no_loop(down: float, up: float) -> None:
    partition = there()
    said = [away(partition, down) | back(partition, up) for _ in range(10)]
    assert said == [{"OK"}] * 10


@pytest.mark.heavy
def test_members_that_hang_again_and_again_are_told_in_between_too() -> None:
    """A pause of some minutes is their habit; one of twenty is none."""
    for minutes, told in ((3, {"OK"}), (20, {"WARN"})):
        partition = there().healthy(35)
        for _ in range(3):
            partition.silent_for(minutes)
            here = back(partition, 25)
        assert here == told


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("down", "up", "healthy"),
    [
        pytest.param(4, 60, True, id="deployments"),
        pytest.param(18, 2, False, id="a job"),
        pytest.param(20, 110, True, id="two hours and more apart"),
        pytest.param(0.5, 3, True, id="restarts"),
    ],
)
def test_what_is_no_loop(down: float, up: float, healthy: bool) -> None:
    partition = there().healthy(35) if healthy else there()
    for _ in range(4):
        away(partition, down)
        here = back(partition, up)
        assert "STOP" not in here
        assert not loops(partition.track.marks, partition.now).any()
    assert here == {"OK"}


@pytest.mark.heavy
def test_the_rhythm_is_told() -> None:
    """In the sentence of each stop and in between, and as the cause."""
    group, committed, said = Judge(Rules(policy="progress")), 0, []
    for look in range(3 * 60 * 5):
        minute = look / 3
        down = minute >= 60 and (minute - 60) % 45 < 20 and minute < 240
        state = "Empty" if down else "Stable"
        log_end = 200 * look
        now = NOW + 20_000 * look
        if not down:
            committed, at = log_end, now
        seen = At(committed, at, log_end=log_end, commits=int(not down))
        event = offset_event(now, {"orders": {0: seen}}, group_state=state)
        said.append(group.judged(event).lag)
    by_minute = {minute: said[minute * 3] for minute in (70, 115, 160, 190, 205, 235, 299)}
    second, third, between = by_minute[115], by_minute[160], by_minute[190]
    assert ", stopped once, for about 20m" not in (second.explanation or "")
    assert ", stopped 2 times in 1h 5m, for about 20m each, every 45m before" in (
        third.explanation or ""
    )
    rhythm = "stopped 3 times in 1h 50m, for about 20m each, every 45m"
    assert between.reason == "crash_loop"
    assert between.explanation == f"orders/0 WARN: {rhythm}, and reads again"
    for lag in (between, by_minute[205], by_minute[235]):
        assert lag.cause is not None
        assert lag.cause.name == "crash_loop"
    assert between.cause is not None
    assert between.cause.sentence == f"orders/0 {rhythm}"
    assert between.cause.evidence.times == 3
    assert by_minute[299].status == "OK"
    assert np.diff([lag.status != "OK" for lag in said]).sum() == 6  # three incidents
