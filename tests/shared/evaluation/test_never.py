"""What must never be, as grids: rates, shares, lateness and seeds. Each grid is printed."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import EarlierPositions, Status
from warren_core.evaluation import Presence, Rules, Sighting, Track, see
from warren_core.evaluation.progress import judge

TICK, HOUR = 5, 3600
Numbers = NDArray[np.float64]
Share = Callable[[int], Numbers]
"""Of what is written, what may be read so many seconds after the beginning."""


def told(
    rate: Numbers, met: Numbers, share: Share, hours: float, seed: int, pause: int = TICK
) -> NDArray[np.bool_]:
    """[tick, cell] whether it is told of who is met late by `met` seconds, and commits each `pause`
    seconds.
    """
    random, count = np.random.default_rng(seed), len(rate)
    end = np.full(count, 10**7, np.int64)
    read = committed = end - (rate * met).astype(np.int64)
    track, rows, credit = Track.empty(count), np.arange(count), np.zeros(count)
    said = np.zeros((round(hours * HOUR) // TICK, count), np.bool_)
    for tick in range(len(said)):
        end = end + random.poisson(rate * TICK)
        most = share(tick * TICK) * rate * TICK
        credit = np.minimum(credit + most, most + 1)
        before, read = read, np.minimum(read + credit.astype(np.int64), end)
        credit -= read - before
        last, committed = committed, committed if tick * TICK % pause else read
        now = NOW + tick * TICK * 1000
        at, commits = np.full(count, now), (committed > last).astype(np.int64)
        sighting = Sighting(now, committed, at, commits, end, presence=int(Presence.THERE))
        see(track, rows, sighting)
        said[tick] = judge(track, now) != Status.OK
    return said


def first_s(said: NDArray[np.bool_]) -> list[float]:
    """[cell] seconds until it is told for the first time; infinite where it never is."""
    first = np.where(said.any(axis=0), said.argmax(axis=0) * TICK, np.inf)
    return [float(one) for one in first]


@pytest.mark.heavy
@pytest.mark.parametrize(("seed", "pause"), [(1, TICK), (2, 60)])
def test_no_alarm_ends_by_learning(seed: int, pause: int) -> None:
    """From hour 2 on less is read than written, for a day."""
    cells = [(rate, share) for rate in (40, 1000) for share in (0.5, 0.8, 0.9, 0.97, 0.99)]
    rate, share = np.array(cells).T
    said = told(rate, 0 * rate, lambda at: np.where(at < 2 * HOUR, 3.0, share), 24, seed, pause)
    for cell, at in zip(cells, first_s(said), strict=True):
        print(f"{cell}: told after {at - 2 * HOUR:g} s")
    assert not said[: 2 * HOUR // TICK].any()
    assert (said == np.logical_or.accumulate(said)).all()
    assert said[-1].all()


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2])
def test_whoever_is_late_and_falls_behind_is_told_also_when_met_so(seed: int) -> None:
    """Within a quarter of an hour; who reads 98 %, within three."""
    cells = [
        (rate, share, met)
        for rate in (20, 1000)
        for share in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
        for met in (0, 60, 600, 3600)
    ]
    rate, share, met = np.array(cells).T
    said = told(rate, met, lambda _: share, 3, seed)
    late = []
    for number, (cell, at) in enumerate(zip(cells, first_s(said), strict=True)):
        print(f"{cell}: told after {at:g} s")
        if at > (2700 if cell[1] > 0.95 else 900) or not said[int(at) // TICK :, number].all():
            late.append(cell)
    assert late == []


@pytest.mark.parametrize("presence", ["Empty", "Stable"])
@pytest.mark.parametrize("minutes", [1, 4, 10])
@pytest.mark.parametrize("apart", [5, 20])
def test_who_had_stopped_at_first_sight_is_told_soon(
    apart: int, minutes: int, presence: str
) -> None:
    """Ten known commits, so many seconds apart; within 90 s where nobody is there."""
    group = Judge(Rules(policy="progress"))
    last = NOW - minutes * 60_000
    before = EarlierPositions(
        partition=[0],
        log_end=[[]],
        committed=[[100 * n for n in range(1, 10)]],
        committed_at=[[last - (10 - n) * apart * 1000 for n in range(1, 10)]],
    )
    rate = 100 / apart
    for second in range(0, 400, TICK):
        end = 1000 + round(rate * (minutes * 60 + second))
        seen = At(1000, last, log_end=end, commits=int(not second))
        known = {} if second else {"earlier": {"orders": before}}
        event = offset_event(
            NOW + second * 1000, {"orders": {0: seen}}, group_state=presence, **known
        )
        if group.judged(event).lag.status != "OK":
            break
    print(f"{apart} s apart, {minutes} min ago, {presence}: told after {second} s")
    assert second <= (90 if presence == "Empty" else 310)


@pytest.mark.parametrize("presence", ["Empty", None, "Stable"])
def test_one_record_unread_is_told_where_nobody_is_known_to_be_there(
    presence: str | None,
) -> None:
    """Where members are, it may be what they commit: the last record that they have read."""
    group = Judge(Rules(policy="progress"))
    said = []
    for second in range(0, 2 * HOUR, 30):
        seen = At(99, NOW - 60_000, log_end=100, commits=int(not second))
        event = offset_event(NOW + second * 1000, {"orders": {0: seen}}, group_state=presence)
        said.append(group.judged(event).lag.status)
    assert said[-1] == ("OK" if presence == "Stable" else "ERR")
