"""A part of the work that fails is done again after a pause."""

import threading

import pytest
from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from warren.metrics.archiver import ARCHIVER_FAILURES
from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.streaming.archive import Part

STOP = threading.Event()


def _fail(_: threading.Event) -> None:
    raise PySparkException("no disk")


def _work(_: threading.Event) -> None:
    """Nothing is wrong."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def part(clock: ManualClock) -> Part:
    return Part("archiving", "/lake", clock, every=2)


def test_pauses_double_until_the_longest_and_begin_anew_once_it_went_well(
    clock: ManualClock, part: Part
) -> None:
    before = ARCHIVER_FAILURES._value.get()
    assert part.due
    for pause in (5, 10, 20, 40, 60, 60):
        part.attempt(_fail, STOP)
        clock.advance(pause - 1)
        assert not part.due
        clock.advance(1)
        assert part.due
    assert ARCHIVER_FAILURES._value.get() - before == 6
    part.attempt(_work, STOP)
    assert not part.due
    clock.advance(2)
    assert part.due
    part.attempt(_fail, STOP)
    clock.advance(5)
    assert part.due


def test_what_is_done_once_is_not_tried_again(part: Part) -> None:
    with pytest.raises(ArchiveFailed, match="no disk"):
        part.attempt(_fail, STOP, once=True)


def test_without_its_jvm_nothing_can_be_tried_again(part: Part) -> None:
    def fail(_: threading.Event) -> None:
        raise Py4JNetworkError("Answer from Java side is empty")

    with pytest.raises(ArchiveFailed, match="JVM has ended"):
        part.attempt(fail, STOP)


@pytest.mark.parametrize("once", [False, True])
def test_what_is_given_up_at_the_end_is_no_failure(part: Part, *, once: bool) -> None:
    stop, before = threading.Event(), ARCHIVER_FAILURES._value.get()

    def interrupted(_: threading.Event) -> None:
        stop.set()
        raise PySparkException("the job was cancelled")

    part.attempt(interrupted, stop, once=once)
    assert (ARCHIVER_FAILURES._value.get(), part.problem) == (before, "")


def test_the_log_names_the_lake_whose_archiver_failed(part: Part) -> None:
    with capture_logs() as logs:
        part.attempt(_fail, STOP)
    assert [line["problem"] for line in logs] == ["no disk (archiver.path /lake)"]


def test_another_archiver_is_told_as_one(part: Part) -> None:
    def fail(_: threading.Event) -> None:
        raise PySparkException("[DELTA_CONCURRENT_TRANSACTION] ConcurrentTransactionException: Th")

    with capture_logs() as logs:
        part.attempt(fail, STOP)
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


def test_a_failure_is_the_problem_until_it_goes_well(part: Part) -> None:
    part.attempt(_fail, STOP)
    assert "no disk" in part.problem
    part.attempt(_work, STOP)
    assert part.problem == ""
