"""The reports of `warren up`: written in time, and said when that fails."""

from pathlib import Path

import pytest
from support.archive_events import lag_event
from support.lake_files import write_table
from support.report_lake import moment
from support.waiting import eventually
from warren.clock import ManualClock, SystemClock
from warren.report_files import REPORT_FILES, group_anchor
from warren_local.services import FIRST_AFTER, Reports


@pytest.fixture
def said() -> list[str]:
    return []


def _reports(state: Path, folder: Path, clock: ManualClock, said: list[str]) -> Reports:
    config = state / "warren.toml"
    config.write_text(f'[archiver]\npath = "{state / "lake"}"\n')
    log = state / "logs" / "reports.log"
    lake = str(state / "lake")
    return Reports(config, folder, lake, log=log, clock=clock, interval=300, say=said.append)


def _look_until_written(reports: Reports) -> None:
    def is_written() -> bool:
        reports.look()
        return not reports.writing

    eventually(is_written, timeout=120, message="the process has ended")


def _archive_something(lake: Path) -> None:
    at = SystemClock().now_ms() - 60_000
    columns = {"topic": "VARCHAR", "key": "BLOB", "value": "BLOB", "timestamp": "TIMESTAMPTZ"}
    row = {"topic": "warren.lag", "key": b"prod|billing"}
    rows = [
        row | {"value": lag_event("billing", then, "ERR", 7).to_bytes(), "timestamp": moment(then)}
        for then in (at, at + 30_000)
    ]
    write_table(lake, "bronze/events", columns, rows)


def test_they_are_written_when_there_is_something_archived(tmp_path: Path, said: list[str]) -> None:
    clock, folder = ManualClock(0), tmp_path / "reports"
    reports = _reports(tmp_path, folder, clock, said)
    reports.look()
    assert not reports.writing
    clock.advance(FIRST_AFTER)
    reports.look()
    assert reports.writing
    _look_until_written(reports)
    assert list(folder.iterdir()) == []
    clock.advance(FIRST_AFTER)
    reports.look()
    assert not reports.writing, "there is nothing yet"
    _archive_something(tmp_path / "lake")
    clock.advance(FIRST_AFTER)
    reports.look()
    _look_until_written(reports)
    assert {file.name for file in folder.iterdir()} == {report.name for report in REPORT_FILES}
    assert f'id="{group_anchor("prod", "billing")}"' in (folder / "last-day.html").read_text()
    clock.advance(300)
    reports.look()
    assert not reports.writing, "nothing has been archived since"
    _archive_something(tmp_path / "lake")
    clock.advance(300)
    reports.look()
    assert reports.writing
    reports.stop()
    assert said == []


def test_what_cannot_be_written_is_said_once(tmp_path: Path, said: list[str]) -> None:
    clock, no_folder = ManualClock(0), tmp_path / "file"
    no_folder.write_text("")
    reports = _reports(tmp_path, no_folder, clock, said)
    for _ in range(2):
        clock.advance(300)
        reports.look()
        _look_until_written(reports)
    log = tmp_path / "logs" / "reports.log"
    assert said == [f"reports are not written: exit code 1, see {log}"]
    assert "file" in log.read_text()


def test_one_that_takes_too_long_gives_way(tmp_path: Path, said: list[str]) -> None:
    clock = ManualClock(0)
    reports = _reports(tmp_path, tmp_path / "reports", clock, said)
    clock.advance(FIRST_AFTER)
    reports.look()
    assert reports.writing
    clock.advance(300)
    reports.look()
    reports.stop()
    assert not reports.writing
    # Unless it was done by then: nothing is archived, and it has nothing to do.
    assert said == [] or "not done after 300s" in said[0]
