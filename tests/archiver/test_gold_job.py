"""Gold beside the queries: what fails is told and tried again, what is given up is not."""

from __future__ import annotations

import threading

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from support.archive_lab import Archive
from support.waiting import eventually
from warren.clock import SystemClock
from warren.metrics.archiver import ARCHIVER_FAILURES
from warren_archiver.streaming.gold_job import GoldJob


def _failures() -> float:
    return float(ARCHIVER_FAILURES._value.get())


@pytest.mark.parametrize("stopped", [False, True])
def test_what_is_given_up_at_the_end_is_no_failure(
    lab: Archive, monkeypatch: pytest.MonkeyPatch, *, stopped: bool
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def run(_: GoldJob) -> None:
        begun.set()
        go_on.wait(60)
        raise PySparkException("the job was cancelled")

    monkeypatch.setattr(GoldJob, "run", run)
    job = GoldJob(lab.spark, lab.lake, lab.settings, SystemClock())
    before = _failures()
    job.look()
    assert begun.wait(60)
    if stopped:
        interrupt = SparkSession.interruptTag

        def interrupted(session: SparkSession, tag: str) -> list[str]:
            go_on.set()
            return interrupt(session, tag)

        monkeypatch.setattr(SparkSession, "interruptTag", interrupted)
        job.stop()
    go_on.set()
    eventually(lambda: not job.running, timeout=60, message="gold's thread has ended")
    assert _failures() - before == (0 if stopped else 1)
