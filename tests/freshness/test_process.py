"""warren-freshness as a process: settings, signals, sudden death."""

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import pytest
from freshness.events import CLUSTER, At, offset_event
from freshness.service_lab import ServiceLab
from freshness.timed_logs import MINUTE, TimedLogs
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import FreshnessEvent, OffsetEvent
from warren_local.server import free_port

CLOCK = SystemClock()
GROUPS = [f"group-{number}" for number in range(6)]


def config(lab: ServiceLab, file: Path, metrics_port: int) -> Path:
    home = lab.settings.home
    file.write_text(
        f"""
        [home]
        bootstrap = "{home.bootstrap}"
        topic_prefix = "{home.topic_prefix}"
        [clusters.{CLUSTER}]
        bootstrap = "{home.bootstrap}"
        [redis]
        url = "{lab.settings.redis.url.get_secret_value()}"
        [collector]
        heartbeat = 20
        [freshness]
        group_id = "{lab.settings.freshness.group_id}"
        interval = 0.3
        metrics_port = {metrics_port}
        """
    )
    return file


@contextmanager
def running(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "warren_freshness", "--config", str(file)]
    environ = {name: text for name, text in os.environ.items() if not name.startswith("WARREN_")}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def answer(port: int, path: str) -> tuple[int, str] | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
            return response.status, response.read().decode()
    except URLError:
        return None


def committed(topic: str, offset: int, position: int, group: str) -> OffsetEvent:
    now = CLOCK.now_ms()
    place = At(offset, 10, committed_at=now)
    return offset_event({topic: [place]}, group=group, position=position, observed_at=now)


def _stands_at(topic: str, offset: int) -> Callable[[FreshnessEvent], bool]:
    return lambda event: event.topics[topic].committed == [offset]


def test_a_signal_ends_it(logs: TimedLogs, no_redis: str, tmp_path: Path) -> None:
    lab, port = ServiceLab(logs, no_redis), free_port()
    topic = logs.topic()
    logs.produce(topic, [CLOCK.now_ms() - MINUTE] * 10)
    with running(config(lab, tmp_path / "warren.toml", port)) as process:
        eventually(lambda: answer(port, "/ready"), message="ready")
        lab.publish(committed(topic, 4, 1, "billing"))
        lab.await_figures(lambda _: True, "billing")
        eventually(lambda: lab.committed() == 1, message="the event is committed")
        status, metrics = answer(port, "/metrics") or (0, "")
        assert status == 200
        assert 'warren_freshness_partitions{cluster="prod",reason="exact"} 1.0' in metrics
        assert "warren_freshness_redis_up 0.0" in metrics
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.heavy
def test_nothing_is_lost_by_sudden_death(logs: TimedLogs, no_redis: str, tmp_path: Path) -> None:
    lab = ServiceLab(logs, no_redis)
    topic = logs.topic()
    logs.produce(topic, [CLOCK.now_ms() - n * MINUTE for n in range(10, 0, -1)])
    file = config(lab, tmp_path / "warren.toml", 0)
    deleted = GROUPS[-1]
    for turn in range(2):
        with running(file) as process:
            lab.publish(*(committed(topic, 1 + turn, 10 * turn + 1, group) for group in GROUPS))
            lab.await_figures(_stands_at(topic, 1 + turn), GROUPS[0])
            # These events find it dying, or dead.
            lab.publish(*(committed(topic, 5 + turn, 10 * turn + 2, group) for group in GROUPS))
            process.kill()
            process.wait(30)
        gone = offset_event({}, group=deleted, deleted=True, position=10 * turn + 3)
        lab.publish(gone.model_copy(update={"observed_at": CLOCK.now_ms()}))
    with running(file):
        for group in GROUPS[:-1]:
            event = lab.await_figures(_stands_at(topic, 6), group)
            assert event.topics[topic].oldest_at == [logs.times(topic)[6]]
        lab.await_tombstone(deleted)


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text("[freshness]\nintervall = 3\n")
    with running(file) as process:
        _, error = process.communicate(timeout=60)
        assert process.returncode == 2
    assert error.decode() == (
        "warren-freshness: freshness.intervall: unknown setting; did you mean freshness.interval?\n"
    )


def test_no_cluster_to_watch(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text("")
    with running(file) as process:
        _, error = process.communicate(timeout=60)
        assert process.returncode == 2
    assert error.decode().startswith("warren-freshness: clusters: no cluster is configured")
