"""An archive that runs until it is told to stop."""

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from support.archive_events import NOW, lag_event
from support.archive_lab import Archive, events_between
from support.waiting import eventually
from warren.clock import Clock, SystemClock
from warren.contracts.topics import LAG, OFFSETS, Topic
from warren.errors import WarrenError
from warren.metrics.archiver import ARCHIVER_BEHIND, ARCHIVER_CAUGHT_UP, ARCHIVER_FAILURES
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.errors import LakeGone
from warren_archiver.streaming.archive import archive

pytestmark = pytest.mark.timeout(1800)


class QuickClock:
    """A clock on which pauses are short."""

    def __init__(self) -> None:
        self._real = SystemClock()

    def now_ms(self) -> int:
        return self._real.now_ms()

    def monotonic(self) -> float:
        return self._real.monotonic() * 20


def test_a_running_archive_survives_a_failure_and_a_topic_made_anew_and_stops_when_told_to(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, failed = Bronze.take, threading.Event()

    def fail_once(self: Bronze, stop: threading.Event) -> None:
        if not failed.is_set():
            failed.set()
            raise PySparkException("once")
        take(self, stop)

    monkeypatch.setattr(Bronze, "take", fail_once)
    failures = _failures()
    behind = ARCHIVER_BEHIND.labels(OFFSETS.name)
    behind.set(-1)
    ARCHIVER_CAUGHT_UP.set(0)
    stop, clock = threading.Event(), QuickClock()
    started_ms = clock.now_ms()
    lab.send(events_between(0, 10))
    running = _in_thread(lab, stop, clock)
    try:
        eventually(failed.is_set, timeout=120, message="it has failed")
        lab.send(events_between(10, 20))
        eventually(lambda: len(lab.rows()) == 20, timeout=120, message="all are archived")
        eventually(lambda: behind._value.get() == 0, timeout=120, message="none is behind")
        assert ARCHIVER_CAUGHT_UP._value.get() * 1000 >= started_ms
        lab.make_anew()
        lab.send(events_between(100, 130))
        eventually(lambda: len(lab.rows()) == 50, timeout=120, message="and those of the new topic")
    finally:
        stop.set()
        running.join(60)
    assert not running.is_alive()
    assert _failures() > failures
    assert lab.check().equal


def _failures() -> float:
    return float(ARCHIVER_FAILURES._value.get())


def _in_thread(
    lab: Archive, stop: threading.Event, clock: Clock, topics: Sequence[Topic] = (OFFSETS,)
) -> threading.Thread:
    running = threading.Thread(
        target=archive,
        args=(lab.spark, lab.settings, stop),
        kwargs={"once": False, "clock": clock, "topics": topics},
    )
    running.start()
    return running


def test_a_lake_that_is_deleted_under_a_running_archive(lab: Archive) -> None:
    """It ends, in a line that says why, and whoever starts it again has all that the topics
    have."""
    lab.send(events_between(0, 10))
    stop, ended = threading.Event(), threading.Event()
    raised: list[WarrenError] = []

    def run() -> None:
        try:
            archive(lab.spark, lab.settings, stop, once=False, clock=QuickClock(), topics=[OFFSETS])
        except WarrenError as problem:
            raised.append(problem)
        ended.set()

    running = threading.Thread(target=run)
    running.start()
    sent = 10
    root = Path(lab.lake.root.removeprefix("file:"))
    try:
        eventually(lambda: len(lab.rows()) == 10, timeout=120, message="all are archived")
        shutil.rmtree(root)

        def is_over() -> bool:
            nonlocal sent
            lab.send(events_between(sent, sent + 1))
            sent += 1
            return ended.is_set()

        eventually(is_over, timeout=120, message="it has ended")
    finally:
        stop.set()
        running.join(60)
    assert [type(problem) for problem in raised] == [LakeGone]
    lab.once()
    assert [row["offset"] for row in lab.rows()] == list(range(sent))
    assert lab.check().equal


def test_a_topic_that_is_deleted_is_made_anew_and_stops_no_other(lab: Archive) -> None:
    lab.send(events_between(0, 10))
    stop = threading.Event()
    running = _in_thread(lab, stop, QuickClock(), [OFFSETS, LAG])
    lag = LAG.full_name(lab.settings.home.topic_prefix)
    try:
        eventually(lambda: len(lab.rows()) == 10, timeout=120, message="all are archived")
        for deleted in lab.admin.delete_topics([lag]).values():
            deleted.result()
        eventually(
            lambda: lag in lab.admin.list_topics(timeout=10).topics,
            timeout=120,
            message="the topic is there again",
        )
        lab.send(events_between(10, 20))
        eventually(lambda: len(lab.rows()) == 20, timeout=120, message="the other goes on")
        lab.topic = LAG
        lab.send([lag_event("g", NOW, "OK", 1).to_bytes()])
        eventually(lambda: len(lab.rows()) == 21, timeout=120, message="and so does that one")
    finally:
        stop.set()
        running.join(60)
    assert not running.is_alive()
