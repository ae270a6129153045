"""A slow machine that plans for minutes is healthy; whoever waits for nothing is not."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.settings import Settings
from warren.standstill import Standstill
from warren_archiver.lake.lake import Lake
from warren_archiver.streaming import archive as work_module
from warren_archiver.streaming.archive import Work, cpu_seconds, effort

BUSY = "import os\nif not os.fork():\n  while True: pass\nos.wait()"


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for another one, which works: as a JVM does for Python's workers."""
    process = subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_whoever_works_moves_and_whoever_is_stopped_does_not(
    busy: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_module, "STEP_S", 0.05)
    before = effort()
    eventually(lambda: effort() > before, timeout=60, message="it has worked")
    os.killpg(busy.pid, signal.SIGSTOP)
    eventually(lambda: _is_stopped(busy.pid), timeout=60, message="it is stopped")
    then = cpu_seconds(busy.pid)
    assert then > 0
    assert cpu_seconds(busy.pid) == then


def _is_stopped(pid: int) -> bool:
    """With all that it has started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return all(
        Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        for each in [pid, *listed]
    )


@pytest.mark.parametrize(("works", "is_ready"), [(True, True), (False, False)])
def test_a_plan_without_a_task_is_no_standstill_while_spark_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, works: bool, is_ready: bool
) -> None:
    clock, done = ManualClock(0), 0
    tracker = SimpleNamespace(getActiveStageIds=list)
    spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))
    monkeypatch.setattr(work_module, "effort", lambda: done)
    work = Work(spark, Settings(), Lake.at(str(tmp_path)), [], clock)
    standstill = Standstill("archive", clock, not_ready_after=60, exit_after=180)
    for _ in range(40):
        standstill.saw(work.look())
        clock.advance(5)
        done += works
    assert (standstill.reason is None, standstill.must_end) == (is_ready, not is_ready)
