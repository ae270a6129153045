"""A failed query is started again after a pause."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from warren.clock import ManualClock
from warren.metrics.archiver import ARCHIVER_FAILURES
from warren_archiver.errors import ArchiveFailed
from warren_archiver.streaming.restarts import Restarts


def _fail() -> None:
    raise PySparkException("no disk")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def restarts(clock: ManualClock) -> Restarts:
    return Restarts(clock, "archiving", first=5, longest=15)


def test_pauses_double_until_the_longest_and_begin_anew_once_it_went_well(
    clock: ManualClock, restarts: Restarts
) -> None:
    stopped, before = [], ARCHIVER_FAILURES._value.get()
    assert restarts.due
    for pause in (5, 10, 15, 15):
        assert not restarts.attempt(_fail, lambda: stopped.append(1))
        clock.advance(pause - 1)
        assert not restarts.due
        clock.advance(1)
        assert restarts.due
    assert len(stopped) == ARCHIVER_FAILURES._value.get() - before == 4
    restarts.went_well()
    restarts.attempt(_fail, lambda: None)
    clock.advance(5)
    assert restarts.due


def test_what_goes_well_is_not_stopped(restarts: Restarts) -> None:
    assert restarts.attempt(lambda: None, _fail)


def test_what_runs_once_is_not_started_again(restarts: Restarts) -> None:
    restarts.once = True
    with pytest.raises(ArchiveFailed, match="no disk"):
        restarts.attempt(_fail, lambda: None)
