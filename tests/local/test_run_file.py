from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path

import psutil
import pytest
from support.waiting import eventually
from warren_local.child import Child
from warren_local.leftovers import stop_leftovers
from warren_local.run_file import RunFile, RunState, born_at

STATE = RunState(
    api="http://127.0.0.1:8000",
    kafka="127.0.0.1:9092",
    home_kafka="127.0.0.1:9092",
    redis="127.0.0.1:6379",
    cluster="demo",
    supervisor=1,
)


def test_what_is_written_can_be_read_and_is_gone_after_removal(tmp_path: Path) -> None:
    file = RunFile(tmp_path)
    state = STATE.with_pids({"collector": [os.getpid()]})
    file.write(state)
    assert file.read() == state
    written = json.loads((tmp_path / "run.json").read_text())
    assert written["api"] == "http://127.0.0.1:8000"
    assert written["pids"] == {"collector": [os.getpid()]}
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    file.remove()
    file.remove()
    assert file.read() is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"api": "x"}', '{"unknown": 1}'])
def test_a_file_that_is_not_ours_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    assert RunFile(tmp_path).read() is None


def test_leftovers_of_a_killed_run_are_stopped(tmp_path: Path) -> None:
    child = Child(["sleep", "600"], log=tmp_path / "log")
    file = RunFile(tmp_path)
    file.write(STATE.with_pids({"evaluator": [child.pid]}))
    assert stop_leftovers(file) == ["evaluator"]
    eventually(lambda: child.exit_code() is not None, message="it is stopped")
    assert file.read() is None


def test_a_process_that_only_has_the_same_id_is_left_alone(tmp_path: Path) -> None:
    child = Child(["sleep", "600"], log=tmp_path / "log")
    state = STATE.with_pids({"evaluator": [child.pid]})
    born = {str(child.pid): state.born[str(child.pid)] - 3600}
    file = RunFile(tmp_path)
    file.write(RunState(**{**_fields(state), "born": born}))
    assert stop_leftovers(file) == []
    assert psutil.pid_exists(child.pid)
    child.kill()


def test_a_dead_process_that_nobody_has_waited_for_is_no_leftover(tmp_path: Path) -> None:
    child = Child(["sleep", "600"], log=tmp_path / "log")
    file = RunFile(tmp_path)
    file.write(STATE.with_pids({"evaluator": [child.pid]}))
    os.kill(child.pid, signal.SIGKILL)
    process = psutil.Process(child.pid)
    eventually(lambda: process.status() == psutil.STATUS_ZOMBIE, message="it is dead")
    assert stop_leftovers(file) == []
    child.kill()


def test_nothing_is_stopped_without_a_file_or_when_all_have_gone(tmp_path: Path) -> None:
    file = RunFile(tmp_path)
    assert stop_leftovers(file) == []
    child = Child(["true"], log=tmp_path / "log")
    file.write(STATE.with_pids({"evaluator": [child.pid]}))
    eventually(lambda: child.exit_code() is not None, message="it ends")
    assert stop_leftovers(file) == []
    assert born_at(child.pid) is None


def _fields(state: RunState) -> dict[str, object]:
    return {name: getattr(state, name) for name in RunState.__slots__}
