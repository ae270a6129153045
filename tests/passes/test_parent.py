"""The process that stays between passes, which a test plays."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from support import played_pass, scheduled_passes
from support.archive_events import lag_event
from support.processes import still_running
from support.report_lake import add_events
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts.topics import LAG
from warren.report_files import REPORT_FILES, group_anchor
from warren.settings_file import load_settings
from warren_archiver.passes.parent import report_command
from warren_archiver.report.make import SETTLE_MS
from warren_local.server import free_port


@dataclass(frozen=True)
class Parent:
    process: subprocess.Popen[bytes]
    url: str
    begun: Path
    output: Path

    def get(self, path: str) -> httpx.Response | None:
        """None while it does not listen yet."""
        assert self.process.poll() is None, self.output.read_text()
        try:
            return httpx.get(self.url + path, timeout=10, verify=False)
        except httpx.TransportError:
            return None

    def text(self, path: str) -> str:
        answer = self.get(path)
        return "" if answer is None else answer.text

    @property
    def passes(self) -> list[int]:
        """Their process ids."""
        return [int(line) for line in self.begun.read_text().split()] if self.begun.exists() else []

    def await_passes(self, count: int) -> None:
        eventually(lambda: len(self.passes) >= count, message=f"{count} passes have begun")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def running(
    tmp_path: Path, words: Sequence[str], every: float = 0.2, reports_dir: object = ""
) -> Iterator[Parent]:
    """Passes do what the words say, one after the other; the one after these lasts."""
    port = free_port()
    config, script = tmp_path / "warren.toml", tmp_path / "words"
    archiver = f'[archiver]\npath = "{tmp_path / "lake"}"\nmetrics_port = {port}\n'
    config.write_text(f'{archiver}[api]\nreports_dir = "{reports_dir}"\n')
    script.write_text(" ".join(words))
    begun, output = tmp_path / "begun", tmp_path / "output"
    command = [sys.executable, str(scheduled_passes.__file__), str(config), str(every)]
    command += [str(played_pass.__file__), str(script), str(begun)]
    with (
        output.open("wb") as sink,
        subprocess.Popen(command, stdout=sink, stderr=sink, start_new_session=True) as process,
    ):
        try:
            yield Parent(process, f"http://127.0.0.1:{port}", begun, output)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a pass of a test that failed, too


def test_counters_go_on_over_passes_and_are_there_between_them(tmp_path: Path) -> None:
    with running(tmp_path, ["well", "dies", "well"]) as parent:
        parent.await_passes(4)
        (dead, lasting) = parent.passes[1], parent.passes[3]
        metrics = parent.text("/metrics").splitlines()
        assert 'warren_archiver_rows_total{topic="offsets"} 40.0' in metrics
        assert 'warren_archiver_behind_records{topic="offsets"} 3.0' in metrics
        assert 'warren_archiver_stalled_seconds{work="archive"} 5.0' in metrics
        assert 'warren_archiver_lost_records_total{topic="lag"} 0.0' in metrics
        assert "warren_archiver_failures_total 1.0" in metrics
        assert all(line.startswith(("# ", "warren_archiver_")) for line in metrics)
        assert parent.text("/ready") == "READY"  # the one after that went well
        assert not still_running([dead])
        assert parent.stop() == 0, parent.output.read_text()
        assert not still_running([lasting])


def test_nothing_stands_still_between_two_passes(tmp_path: Path) -> None:
    with running(tmp_path, ["well"], every=3600) as parent:

        def is_over() -> bool:
            return 'work="archive"' not in parent.text("/metrics") and bool(parent.passes)

        eventually(is_over, message="the pass is over")
        metrics = parent.text("/metrics").splitlines()
        assert 'warren_archiver_stalled_seconds{work="passes"} 0.0' in metrics
        assert 'warren_archiver_rows_total{topic="offsets"} 10.0' in metrics
        assert parent.text("/live") == "LIVE"
        assert parent.stop() == 0


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("fails", "no broker answers"),
        ("breaks", "RuntimeError: a bug"),
        ("dies", "the pass was ended by SIGKILL"),
    ],
)
def test_one_that_fails_is_tried_again_and_ready_says_why(
    tmp_path: Path, word: str, why: str
) -> None:
    with running(tmp_path, [word]) as parent:
        parent.await_passes(2)
        ready = parent.get("/ready")
        assert ready is not None
        assert (ready.status_code, ready.text) == (503, why)
        assert why in parent.output.read_text()
        assert parent.stop() == 0, parent.output.read_text()
        assert not still_running(parent.passes)


def test_a_wrong_setting_ends_it(tmp_path: Path) -> None:
    with running(tmp_path, ["wrong"]) as parent:
        assert parent.process.wait(60) == 1
        last = parent.output.read_text().splitlines()[-1]
        assert last == "wrong setting: archiver.jars_dir: must be there"
        assert len(parent.passes) == 1


def test_the_first_pass_waits_where_something_is_archived_already(tmp_path: Path) -> None:
    (tmp_path / "lake" / "bronze" / "events" / "_delta_log").mkdir(parents=True)
    with running(tmp_path, [], every=3600) as parent:
        eventually(lambda: parent.get("/ready") is not None, message="it listens")
        assert parent.text("/ready") == "READY"
        assert '"first_in": 30.0' in parent.output.read_text()
        assert parent.stop() == 0
        assert not parent.passes


def test_the_reports_of_all_periods_are_written(tmp_path: Path) -> None:
    folder, config = tmp_path / "reports", tmp_path / "warren.toml"
    config.write_text(
        f'[archiver]\npath = "{tmp_path / "lake"}"\n[api]\nreports_dir = "{folder}"\n'
    )
    command = report_command(load_settings(config), config)
    subprocess.check_call(command)
    assert not any(folder.iterdir()), "nothing is archived yet"
    at = SystemClock().now_ms() - 60_000
    judged = (lag_event("billing", then, "ERR", 7) for then in (at, at + 30_000))
    add_events(tmp_path / "lake", *((LAG, each, each.evaluated_at) for each in judged))
    subprocess.check_call(command)
    assert {file.name for file in folder.iterdir()} == {report.name for report in REPORT_FILES}
    assert f'id="{group_anchor("prod", "billing")}"' in (folder / "last-day.html").read_text()
    made = {round(file.stat().st_mtime * 1000) for file in folder.iterdir()}
    assert made == {at + 30_000 - SETTLE_MS}, "as old as what is known in it"


def test_reports_that_cannot_be_written_or_take_too_long_hold_no_pass_up(tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.write_text("")
    with running(tmp_path, ["well", "well"], reports_dir=no_folder) as parent:
        parent.await_passes(3)
        assert "reports are not written" in parent.output.read_text()
        assert parent.text("/ready") == "READY"
        assert parent.stop() == 0
