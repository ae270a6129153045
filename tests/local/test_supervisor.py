"""Child processes, and the supervisor with real ones and a clock that the test moves."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from support.manual_clock import ManualClock
from support.processes import still_running
from support.waiting import eventually
from warren_local.server import STOP_GRACE, Child, StartRefused
from warren_local.supervisor import (
    FIRST,
    STABLE_AFTER,
    Backoff,
    Service,
    Supervisor,
    describe_exit,
    last_line,
    rotate,
)

# Starts a process, says its id, and ignores SIGTERM.
STUBBORN = "trap '' TERM; sleep 600 & echo $!; while :; do sleep 1; done"


def test_it_runs_in_a_session_of_its_own_and_writes_to_its_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "it.log"
    command = [sys.executable, "-c", "import os; print(os.getsid(0), os.environ['COLOUR'])"]
    child = Child(command, log=log, environ={"COLOUR": "blue"})
    eventually(lambda: child.exit_code() is not None, message="it ends")
    assert child.exit_code() == 0
    assert log.read_text() == f"{child.pid} blue\n"


def test_stop_is_a_request_first(tmp_path: Path) -> None:
    child = Child(["sleep", "600"], log=tmp_path / "log")
    assert child.stop(grace=30) is True
    assert child.exit_code() == -signal.SIGTERM


def test_who_does_not_stop_in_time_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    child = Child(["sh", "-c", STUBBORN], log=tmp_path / "log")
    grandchild = int(eventually(lambda: child.log.read_text(), message="it is up"))
    assert child.stop(grace=0.1) is False
    assert child.exit_code() == -signal.SIGKILL
    eventually(lambda: not still_running([grandchild]), message="the grandchild is gone")


@pytest.mark.parametrize(
    "child",
    [
        "from warren_local.server import Child; child = Child(SLEEP, log=Path('log'))",
        "from warren_archiver.passes.parent import Child; child = Child('pass', SLEEP, {})",
    ],
    ids=["service", "pass"],
)
def test_a_child_dies_with_its_parent_even_when_that_one_is_killed(
    tmp_path: Path, child: str
) -> None:
    begun = "import time; from pathlib import Path; SLEEP = ['/bin/sleep', '600']"
    parent = f"{begun}; {child}; print(child.pid, flush=True); time.sleep(600)"
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        eventually(lambda: psutil.Process(pid).name() == "sleep", message="the child runs")
        process.kill()
    eventually(lambda: not still_running([pid]), message="the child is gone as well")


def test_a_leash_whose_parent_is_gone_already_does_not_start_the_command(tmp_path: Path) -> None:
    from warren import leash

    wrapper = [sys.executable, "-I", "-S", leash.__file__, str(os.getppid())]
    done = subprocess.run([*wrapper, "touch", str(tmp_path / "started")], check=False)
    assert done.returncode == 1
    assert not (tmp_path / "started").exists()


SLEEP = ["sleep", "600"]
# Says when it starts and stops; $1 is its name.
TALKATIVE = """
trap 'echo $1 stopped >>$2; exit 0' TERM
echo $1 up >>$2
while :; do sleep 0.05; done
"""
# Says that it was asked to stop, and ends once $1.go is there.
SLOW = """
trap 'echo asked >>$1; until [ -e $1.go ]; do sleep 0.05; done; echo stopped >>$1; exit 0' TERM
echo up >>$1
while :; do sleep 0.05; done
"""
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(600)
"""


class SteppedClock(ManualClock):
    """Goes on by `step` seconds with each look."""

    step = 0.0

    def monotonic(self) -> float:
        self.advance(self.step)
        return super().monotonic()


class Watched:
    """A supervisor and all that it said."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.clock = SteppedClock()
        self.hurry = threading.Event()
        self.lines: list[str] = []
        self.pids: list[dict[str, list[int]]] = []
        self.supervisor = Supervisor(
            logs=logs,
            clock=self.clock,
            report=self.lines.append,
            on_pids=self.pids.append,
            hurry=self.hurry,
        )

    def pid(self, name: str) -> int:
        (pid,) = self.supervisor.pids()[name]
        return pid

    def kill_and_bury(self, name: str) -> None:
        """kill -9, and look until the supervisor has noticed."""
        os.kill(self.pid(name), signal.SIGKILL)

        def noticed() -> bool:
            self.supervisor.watch()
            return name not in self.supervisor.pids()

        eventually(noticed, message=f"{name} is noticed to be dead")


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path / "logs")
    yield watched
    watched.hurry.set()
    watched.supervisor.stop()


def test_a_service_that_dies_is_started_again_and_no_other_after_a_delay_that_grows(
    watched: Watched,
) -> None:
    for name in ("one", "two"):
        watched.supervisor.start(Service(name, SLEEP, stage=0))
    first, two = watched.pid("one"), watched.pid("two")
    log = watched.logs / "one.log"
    for delay in (FIRST, 2 * FIRST, 4 * FIRST):
        watched.kill_and_bury("one")
        told = f"one was killed by SIGKILL, starting it again in {delay:g}s (its log: {log})"
        assert watched.lines[-1] == told
        watched.supervisor.watch()
        assert watched.supervisor.pids() == {"two": [two]} == watched.pids[-1]
        watched.clock.advance(delay)
        watched.supervisor.watch()
        assert watched.pid("two") == two
        assert watched.pids[-1] == {"one": [watched.pid("one")], "two": [two]}
    assert watched.pid("one") != first
    assert len(watched.lines) == 3


def test_a_service_that_fails_is_quoted(watched: Watched) -> None:
    command = ["sh", "-c", "echo starting; echo 'warren-api: api.port: taken' >&2; exit $0"]
    watched.supervisor.start(Service("api", [*command, "1"], stage=0))

    def failed() -> bool:
        watched.supervisor.watch()
        return bool(watched.lines)

    eventually(failed, message="it has failed")
    assert watched.lines[0].startswith("api ended with exit code 1, starting it again in 0.5s")
    assert watched.lines[0].endswith(": warren-api: api.port: taken")
    watched.supervisor.start(Service("other", [*command, "2"], stage=0))
    with pytest.raises(StartRefused, match=r"^warren-api: api\.port: taken$"):
        eventually(lambda: watched.supervisor.watch(), message="its settings are refused")


def test_what_is_quoted_is_short_and_never_empty(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("")
    assert last_line(log) == "it said nothing"
    log.write_text("x" * 10_000 + "\n\n")
    assert set(last_line(log)) == {"x"}
    assert len(last_line(log)) < 400
    log.write_text("  | KeyError: 'orders'\n  +-----------------\n")  # as errors of a group end
    assert last_line(log) == "KeyError: 'orders'"


def test_services_stop_in_reverse_order_of_stages(watched: Watched, tmp_path: Path) -> None:
    story = tmp_path / "story"
    for stage, name in enumerate(("server", "service", "workload")):
        command = ["sh", "-c", TALKATIVE, "sh", name, str(story)]
        watched.supervisor.start(Service(name, command, stage=stage))
        eventually(
            lambda name=name: story.exists() and f"{name} up" in story.read_text(),  # type: ignore[misc]
            message=f"{name} is up",
        )
    pids = [pid for group in watched.supervisor.pids().values() for pid in group]
    watched.supervisor.stop()
    assert story.read_text().splitlines()[3:] == [
        "workload stopped",
        "service stopped",
        "server stopped",
    ]
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert watched.pids[-1] == {}
    watched.supervisor.stop()  # again does no harm


def start_deaf(watched: Watched) -> Child:
    child = watched.supervisor.start(Service("deaf", [sys.executable, "-c", DEAF], stage=0))
    eventually(lambda: "deaf" in child.log.read_text(), message="it ignores SIGTERM")
    return child


def test_a_service_that_ignores_sigterm_is_waited_for_then_killed_and_both_are_said(
    watched: Watched,
) -> None:
    child = start_deaf(watched)
    watched.clock.step = 1.0
    watched.supervisor.stop()
    assert watched.lines == [
        "waiting for deaf to stop, 60s at most (Ctrl-C again: kill now)",
        "deaf did not stop in time and was killed",
    ]
    assert not psutil.pid_exists(child.pid)
    assert STOP_GRACE <= watched.clock.monotonic() <= STOP_GRACE + 3


def test_what_takes_long_to_stop_on_a_busy_machine_ends_by_itself(watched: Watched) -> None:
    story = watched.logs.parent / "story"
    watched.supervisor.start(Service("slow", ["bash", "-c", SLOW, "slow", str(story)], stage=0))
    eventually(lambda: story.exists(), message="slow is up")

    def has_waited() -> None:
        """30 s pass, then it gets on."""
        eventually(lambda: story.read_text() == "up\nasked\n", message="it was asked to stop")
        watched.clock.advance(STOP_GRACE / 2)
        eventually(lambda: watched.lines != [], message="people are told")
        story.with_suffix(".go").touch()

    with ThreadPoolExecutor(1) as thread:
        waited = thread.submit(has_waited)
        watched.supervisor.stop()
        waited.result()
    assert story.read_text() == "up\nasked\nstopped\n"
    assert watched.lines == ["waiting for slow to stop, 60s at most (Ctrl-C again: kill now)"]


def test_who_is_in_a_hurry_waits_for_nobody(watched: Watched) -> None:
    child = start_deaf(watched)
    watched.hurry.set()
    watched.supervisor.stop()
    assert watched.lines == ["deaf was killed at once"]
    assert not psutil.pid_exists(child.pid)


def test_the_log_of_the_run_before_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "one.log"
    rotate(log)
    for text in ("first", "second"):
        log.write_text(text)
        rotate(log)
    assert not log.exists()
    assert (tmp_path / "one.log.1").read_text() == "second"


def test_backoff_doubles_to_its_limit_and_forgets_after_a_long_life() -> None:
    backoff = Backoff()
    assert [backoff.delay(1.0) for _ in range(7)] == [0.5, 1, 2, 4, 8, 10, 10]
    assert backoff.delay(STABLE_AFTER) == 0.5


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "ended with exit code 0"),
        (1, "ended with exit code 1"),
        (-9, "was killed by SIGKILL"),
        (-99, "was killed by signal 99"),
    ],
)
def test_exits_in_words(code: int, text: str) -> None:
    assert describe_exit(code) == text
