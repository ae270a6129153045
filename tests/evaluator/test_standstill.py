"""A worker that does not move on what waits: its cause is mended, the rest is told and ends."""

import dataclasses
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from support.evaluator_process import Home, Worker
from support.group_lives import interleaved, lives
from support.offset_events import commits
from support.suspended import suspended
from support.waiting import eventually
from warren_local.kafka import EmbeddedKafka

SLOW = str(Path(__file__).parents[1] / "support" / "slow_worker.py")
SOON = {"WARREN_STANDSTILL__NOT_READY_AFTER": "3", "WARREN_STANDSTILL__EXIT_AFTER": "8"}


@pytest.mark.heavy
def test_a_worker_with_a_long_backlog_stays_in_its_group(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    """One fetch holds more than is judged within the interval in which clients have to poll."""
    home = Home(broker.bootstrap, unique, tmp_path)
    slow = dataclasses.replace(home, program=(SLOW, "judgement"))
    events = interleaved(lives(20))
    sender = home.events()
    with slow.worker() as worker:
        worker.start().await_ready()
        sender.send(*events)
        sender.flush()
        home.await_caught_up()
        assert worker.is_ready()


def test_a_worker_that_hangs_says_so_and_ends(broker: Any, unique: str, tmp_path: Path) -> None:
    home = Home(broker.bootstrap, unique, tmp_path, SOON, program=(SLOW, "hang"))
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(*commits(5, 6))
        sender.flush()
        reason = eventually(lambda: _reason(worker), message="not ready any more")
        assert "judging: 2 events waiting, none done for" in reason
        assert worker.await_exit() == 1
        text = worker.log.read_text()
        assert text.count("standing still, not ready") == 1
        assert text.count("standing still for too long, ending") == 1


def test_a_broker_that_stops_answering_ends_nobody(
    own_kafka: EmbeddedKafka, unique: str, tmp_path: Path
) -> None:
    home = Home(own_kafka.bootstrap, unique, tmp_path, SOON)
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(*commits(5, 6))
        sender.flush()
        home.await_caught_up()
        with suspended(own_kafka.child):
            reason = eventually(lambda: _reason(worker), timeout=60, message="it says so")
            assert reason.startswith("judging: cluster home: ")
        sender.send(*commits(5, 6, 7, 8))
        sender.flush()
        home.await_caught_up()
        eventually(worker.is_ready, message="ready again")


def _reason(worker: Worker) -> str:
    """Why it is not ready; empty when it is."""
    try:
        with urllib.request.urlopen(worker.address + "/ready", timeout=5):
            return ""
    except urllib.error.HTTPError as error:
        return error.read().decode()
