"""Ctrl-C while a job of hours computes: a real `warren replay` in a session of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from support.group_lives import interleaved, lives
from support.lake_files import write_table
from support.offset_events import NOW
from support.processes import still_running
from support.report_lake import moment
from support.servers import jars_directory
from support.waiting import eventually
from warren.contracts import OffsetEvent, group_key
from warren_local.jars import SPARK_JARS

COPIES = 300
"""Of some events, one after the other: to judge them takes far longer than to see that it began."""
EVERY_MS = 1_000
pytestmark = pytest.mark.timeout(900)
_COLUMNS = {
    "topic": "VARCHAR",
    "topic_id": "VARCHAR",
    "partition": "INTEGER",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMPTZ",
    "key": "BLOB",
    "value": "BLOB",
}


@pytest.fixture(scope="module")
def events() -> list[OffsetEvent]:
    return interleaved(lives())[:200]


@pytest.fixture
def lake(events: Sequence[OffsetEvent], tmp_path: Path) -> Path:
    rows = [
        {
            "topic": "warren.offsets",
            "topic_id": "id",
            "partition": 0,
            "offset": number,
            "timestamp": moment(NOW + number * EVERY_MS),
            "key": group_key(event.cluster, event.group),
            "value": event.to_bytes(),
        }
        for number, event in enumerate(events * COPIES)
    ]
    lake = tmp_path / "lake"
    write_table(lake, "bronze/events", _COLUMNS, rows)
    (tmp_path / "warren.toml").write_text(f'[archiver]\npath = "{lake}"\n')
    return lake


@pytest.mark.spark
def test_it_ends_at_once_in_one_line_and_can_be_begun_again(
    lake: Path, events: Sequence[OffsetEvent], pytestconfig: pytest.Config
) -> None:
    command = [sys.executable, "-m", "warren_cli.main", "replay", "--json", "--from", str(NOW)]
    environ = {name: text for name, text in os.environ.items() if not name.startswith("WARREN_")}
    environ["WARREN_CONFIG"] = str(lake.parent / "warren.toml")
    environ["WARREN_ARCHIVER__JARS_DIR"] = str(jars_directory(pytestconfig.rootpath, SPARK_JARS))
    with subprocess.Popen(
        [*command, "--to", str(NOW + len(events) * COPIES * EVERY_MS)],
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
        start_new_session=True,
    ) as process:
        try:
            started = psutil.Process(process.pid)
            eventually(lambda: _workers(started), timeout=240, message="events are judged")
            children = started.children(recursive=True)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert said.splitlines()[-1].startswith("warren: interrupted")
    assert "Traceback" not in said
    eventually(lambda: not still_running(children), timeout=60, message="the JVM has ended")
    again = [*command, "--to", str(NOW + len(events) * EVERY_MS)]
    done = subprocess.run(again, capture_output=True, text=True, env=environ, check=True)
    # Up to a minute after the period an event may be about something in it.
    assert json.loads(done.stdout)["events"] == len(events) + 60


def _workers(started: psutil.Process) -> list[psutil.Process]:
    """Python's, which Spark starts to judge."""
    found = []
    for child in started.children(recursive=True):
        with suppress(psutil.Error):
            if "pyspark.daemon" in child.cmdline():
                found.append(child)
    return found
