from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
from support.processes import still_running
from support.waiting import eventually
from warren_local.child import Child

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


def test_a_child_dies_with_its_parent_even_when_that_one_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    parent = (
        "import sys, time; from pathlib import Path; from warren_local.child import Child;"
        f"child = Child(['sleep', '600'], log=Path({str(log)!r}));"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        eventually(lambda: psutil.Process(child).name() == "sleep", message="the child runs")
        process.kill()
    eventually(lambda: not still_running([child]), message="the child is gone as well")


def test_a_leash_whose_parent_is_gone_already_does_not_start_the_command(tmp_path: Path) -> None:
    from warren_local import leash

    wrapper = [sys.executable, "-I", "-S", leash.__file__, str(os.getppid())]
    done = subprocess.run([*wrapper, "touch", str(tmp_path / "started")], check=False)
    assert done.returncode == 1
    assert not (tmp_path / "started").exists()
