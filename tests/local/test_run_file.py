"""What a run writes: the settings in force, where its processes are."""

import json
import os
import signal
import stat
import tomllib
from pathlib import Path

import psutil
import pytest
from hypothesis import given, strategies as st
from support.waiting import eventually
from warren.settings import Settings
from warren.settings_file import load_settings
from warren_local.run_file import (
    RunFile,
    RunState,
    born_at,
    stop_leftovers,
    to_toml,
    write_effective,
)
from warren_local.server import Child

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
    fields = {name: getattr(state, name) for name in RunState.__slots__}
    file.write(RunState(**{**fields, "born": born}))
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


SETTINGS = Settings.model_validate(
    {
        "home": {"bootstrap": "h:1", "kafka": {"sasl.password": 'a"b\\c\né'}},
        "clusters": {
            "prod.eu": {"bootstrap": "p:1", "groups_deny": []},
            "b": {"bootstrap": "p:2", "groups_allow": ["^x", "y\\d+$"]},
        },
        "collector": {"interval": 0.25, "metrics_port": 9},
        "objectives": [{"name": "on-time", "max_freshness": 60, "for": 20, "clear_after": 5}],
        "notifier": {
            "routes": [
                {
                    "name": "people",
                    "channels": ["mail"],
                    "mute": [{"days": ["sat"], "from": "22:00", "to": "06:00"}],
                }
            ],
            "channels": {"mail": {"type": "email", "host": "m", "sender": "w@x", "to": ["a@x"]}},
        },
    }
)


def test_services_read_back_what_was_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WARREN_CONFIG", "WARREN_LOCAL__JARS_DIR"):
        monkeypatch.delenv(name, raising=False)
    path = write_effective(SETTINGS, tmp_path)
    assert load_settings(path).model_dump() == SETTINGS.model_dump()


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    (tmp_path / "warren.toml").write_text("old")
    (tmp_path / "warren.toml").chmod(0o644)
    assert stat.S_IMODE(write_effective(SETTINGS, tmp_path).stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["warren.toml"]


_plain = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
_tables = st.recursive(
    st.dictionaries(_names, st.one_of(_plain, st.lists(_plain)), max_size=3),
    lambda inner: st.dictionaries(_names, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(_names, _tables, max_size=3))
def test_any_tables_survive(tables: dict[str, object]) -> None:
    assert tomllib.loads(to_toml(tables)) == tables


def test_a_secret_that_is_read_again_stays_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("right\n")
    given = tmp_path / "given.toml"
    given.write_text(f'[home.kafka]\n"sasl.password_file" = "{tmp_path / "password"}"')
    path = write_effective(load_settings(given), tmp_path)
    assert "right" not in path.read_text()
    (tmp_path / "password").write_text("renewed\n")
    assert load_settings(path).home.librdkafka()["sasl.password"] == "renewed"
