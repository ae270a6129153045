"""warren-archiver as a process whose passes die in the middle: every record once."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from support import quick_passes
from support.archive_events import NOW, key, lag_event, offset_event
from support.other_readers import rows_of
from support.processes import still_running
from support.waiting import eventually
from warren.contracts.topics import ARCHIVED, LAG, OFFSETS
from warren.settings import Settings
from warren.settings_file import load_settings
from warren_local.server import free_port

pytestmark = pytest.mark.timeout(1200)
PATIENCE = 300.0  # seconds; Spark starts in 10 s on an idle machine, and in minutes on a busy one
BAD = b'{"v":1}'

Place = tuple[str, int, int]  # topic, partition, offset


@dataclass
class Stream:
    """Events that keep coming, some of them bad."""

    producer: Producer
    settings: Settings

    def __post_init__(self) -> None:
        self._numbers = itertools.count()

    def send(self) -> None:
        prefix = self.settings.home.topic_prefix
        for number in itertools.islice(self._numbers, 4):
            value = BAD if number % 4 == 3 else offset_event("g", number).to_bytes()
            self.producer.produce(OFFSETS.full_name(prefix), value, key("g"), number // 4 % 2)
        lag = lag_event("g", NOW + number, "OK", number).to_bytes()
        self.producer.produce(LAG.full_name(prefix), lag if number % 8 == 3 else None, key("g"))
        assert self.producer.flush(30) == 0


@dataclass
class Archiver:
    """`warren-archiver`, and its lake."""

    config: Path
    lake: Path

    @property
    def log(self) -> Path:
        return self.config.with_suffix(".log")

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, str(quick_passes.__file__), "--config", str(self.config)]
        environ = {n: text for n, text in os.environ.items() if not n.startswith("WARREN_")}
        environ["PYTHONPATH"] = str(Path(__file__).parents[1])
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command, env=environ, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def commits(self) -> int:
        """To the table of events."""
        return len(list((self.events / "_delta_log").glob("*.json")))

    @property
    def events(self) -> Path:
        return self.lake / "bronze" / "events"

    def archived(self) -> list[Place]:
        """One for each row, as a reader without Spark finds them."""
        rows = rows_of(self.events, 'topic, "partition", "offset"')
        return sorted((topic, partition, offset) for topic, partition, offset in rows)


def test_passes_on_a_schedule_whoever_is_stopped_or_killed_amid_one(
    spark_jars: Path, broker: Any, unique: str, tmp_path: Path
) -> None:
    archiver = Archiver(tmp_path / "warren.toml", tmp_path / "lake")
    port = free_port()
    settings = _settings(archiver, broker.bootstrap, unique, spark_jars, port)
    stream = Stream(Producer({"bootstrap.servers": broker.bootstrap}), settings)

    def served(path: str) -> str:
        return httpx.get(f"http://127.0.0.1:{port}/{path}", timeout=10).text

    with archiver.running() as parent:

        def amid_a_pass() -> list[psutil.Process]:
            """The pass and its JVM."""
            assert parent.poll() is None, archiver.log.read_text()
            found = psutil.Process(parent.pid).children(recursive=True)
            return found if any(each.name() == "java" for each in found) else []

        def has_archived_all() -> bool:
            assert parent.poll() is None, archiver.log.read_text()
            return archiver.commits() > 0 and len(archiver.archived()) == len(_records(settings))

        def await_pause() -> None:
            eventually(lambda: not amid_a_pass(), timeout=PATIENCE, message="the pass has ended")

        def kill(name: str, why: str) -> None:
            """Amid the next pass, which is tried again."""
            await_pause()
            begun = archiver.log.read_text().count('"archiving"')
            stream.send()
            amid = eventually(
                lambda: archiver.log.read_text().count('"archiving"') > begun and amid_a_pass(),
                timeout=PATIENCE,
                message="the next pass works",
            )
            next(each for each in amid if name in each.name()).kill()
            eventually(lambda: not still_running(amid), timeout=PATIENCE, message="all have ended")
            eventually(lambda: why in served("ready"), timeout=PATIENCE, message="/ready says why")
            eventually(has_archived_all, timeout=PATIENCE, message="it is tried again")

        eventually(lambda: archiver.commits(), timeout=PATIENCE, message="topics are created")
        stream.send()
        eventually(has_archived_all, timeout=PATIENCE, message="all is archived")
        kill("python", "ended by SIGKILL")
        kill("java", "Spark's JVM has ended")  # as the kernel does where memory is short
        passes = archiver.log.read_text().count('"archiving"')
        eventually(
            lambda: archiver.log.read_text().count('"archiving"') > passes and not amid_a_pass(),
            timeout=PATIENCE,
            message="a pass that finds nothing",
        )
        assert 'warren_archiver_rows_total{topic="offsets"} 12.0' in served("metrics")
        assert "warren_archiver_failures_total 2.0" in served("metrics")
        stream.send()
        amid = eventually(amid_a_pass, timeout=PATIENCE, message="another pass")
        parent.send_signal(signal.SIGTERM)  # as `docker stop` does: to the parent alone
        assert parent.wait(PATIENCE) == 0, archiver.log.read_text()
        eventually(lambda: not still_running(amid), timeout=PATIENCE, message="all have ended")
    with archiver.running() as parent:  # 30 s: something is archived already
        eventually(has_archived_all, timeout=PATIENCE, message="nothing is lost")
        # As systemd stops a service: every process of it gets the signal.
        os.killpg(parent.pid, signal.SIGTERM)
        assert parent.wait(PATIENCE) == 0, archiver.log.read_text()
    assert "Traceback" not in archiver.log.read_text()
    assert archiver.archived() == _records(settings)


def _settings(archiver: Archiver, bootstrap: str, unique: str, jars: Path, port: int) -> Settings:
    archiver.config.write_text(
        f"""
        [home]
        bootstrap = "{bootstrap}"
        topic_prefix = "{unique}."
        partitions = 2
        [archiver]
        path = "{archiver.lake}"
        jars_dir = "{jars}"
        memory = "512m"
        every = 10
        metrics_port = {port}
        [standstill]
        not_ready_after = 1  # looked at so often that it is amid whatever ends
        """
    )
    return load_settings(archiver.config)


def _records(settings: Settings) -> list[Place]:
    """Of all topics, by a plain consumer."""
    home = settings.home
    consumer = Consumer(
        {"bootstrap.servers": home.bootstrap, "group.id": "plain", "enable.partition.eof": True}
    )
    behind = {(t.full_name(home.topic_prefix), p) for t in ARCHIVED for p in range(2)}
    consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in behind])
    found: list[Place] = []
    while behind:
        for message in consumer.consume(1000, 1.0):
            place = (message.topic() or "", message.partition() or 0)
            error = message.error()
            if error is None:
                found.append((*place, message.offset() or 0))
            else:
                assert error.code() == KafkaError._PARTITION_EOF
                behind.discard(place)
    consumer.close()
    return sorted(found)
