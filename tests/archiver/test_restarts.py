"""A failed query is started again after a pause."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from structlog.testing import capture_logs
from warren.clock import ManualClock
from warren.metrics.archiver import ARCHIVER_FAILURES
from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.streaming.restarts import Restarts


def _fail() -> None:
    raise PySparkException("no disk")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def restarts(clock: ManualClock) -> Restarts:
    return Restarts(clock, "archiving", "/lake", first=5, longest=15)


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


def test_the_log_names_the_lake_whose_archiver_failed(restarts: Restarts) -> None:
    with capture_logs() as logs:
        restarts.attempt(_fail, lambda: None)
    assert [line["problem"] for line in logs] == ["no disk (archiver.path /lake)"]


@pytest.mark.parametrize(
    "said",
    [
        "[DELTA_CONCURRENT_TRANSACTION] ConcurrentTransactionException: This error occurs when",
        "[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log. Multiple streaming jobs",
    ],
)
def test_another_archiver_is_told_as_one(restarts: Restarts, said: str) -> None:
    def fail() -> None:
        raise PySparkException(said)

    with capture_logs() as logs:
        restarts.attempt(fail, lambda: None)
    told = "another archiver writes to /lake (archiver.path): stop one of them"
    assert [line["problem"] for line in logs] == [told]


class _Caused(PySparkException):
    """As Spark's Python keeps the causes of what Java threw."""

    def __init__(self, text: str, cause: Exception | None = None) -> None:
        super().__init__(text)
        self._cause = cause


def test_the_innermost_cause_is_named() -> None:
    """A full disk, as a real one was told: the text that Spark gives says nothing of it."""
    disk = _Caused("java.io.IOException: No space left on device")
    task = _Caused("[TASK_WRITE_FAILED] Task failed while writing rows. SQLSTATE: 58030", disk)
    query = _Caused(f"{task}\n=== Streaming Query ===\nIdentifier: 7", task)
    assert spark_cause(query) == f"{task}: java.io.IOException: No space left on device"
    assert spark_cause(_Caused("refused", _Caused("refused"))) == "refused"


def test_a_failure_is_the_problem_until_the_query_goes_on(restarts: Restarts) -> None:
    restarts.attempt(_fail, lambda: None)
    assert "no disk" in restarts.problem
    restarts.attempt(lambda: None, _fail)
    assert restarts.problem, "that it starts says little"
    restarts.goes_on()
    assert restarts.problem == ""
