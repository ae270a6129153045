"""Evaluator workers as real processes, and what is on Warren's topics around them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from support.not_yet import is_not_yet
from support.offset_events import NOW, At, commits, offset_event
from support.waiting import eventually
from warren.contracts import OFFSETS, Cause, LagEvent, OffsetEvent, group_key
from warren_local.server import free_port

PARTITIONS = 4


@dataclass
class Home:
    """A home cluster with a topic prefix and an application of the test's own."""

    bootstrap: str
    name: str
    directory: Path
    extra: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ("-m", "warren_evaluator")

    @property
    def prefix(self) -> str:
        return f"{self.name}."

    @property
    def app_id(self) -> str:
        return self.name

    def environment(self, port: int) -> dict[str, str]:
        return {
            **os.environ,
            "WARREN_CONFIG": os.devnull,
            "WARREN_HOME__BOOTSTRAP": self.bootstrap,
            "WARREN_HOME__TOPIC_PREFIX": self.prefix,
            "WARREN_HOME__PARTITIONS": str(PARTITIONS),
            "WARREN_EVALUATION__POLICY": "burrow",  # what the tests' rules are
            "WARREN_EVALUATOR__APP_ID": self.app_id,
            "WARREN_EVALUATOR__DATA_DIR": str(self.directory / "data"),
            "WARREN_EVALUATOR__METRICS_PORT": str(port),
            "WARREN_LOG__FORMAT": "json",
            **self.extra,
        }

    @contextlib.contextmanager
    def worker(self, name: str = "worker") -> Iterator[Worker]:
        """A worker that is killed at the end if it still lives."""
        worker = Worker(self, self.directory / f"{name}.log")
        try:
            yield worker
        finally:
            worker.kill()

    def cause_after_restart(self, worker: Worker, sender: EventSender) -> Cause:
        """What is said of a group that falls silent while no worker is there."""
        worker.kill()
        sender.send(*commits(500, 500, 500))  # the last one two minutes after NOW
        for minute in (6, 7):
            silent = At(120, NOW + 120_000, lag=1000 * minute, commits=0)
            sender.send(offset_event(NOW + minute * 60_000, {"orders": {0: silent}}))
        sender.flush()
        worker.start()
        self.await_caught_up()
        last = LagEvent.from_bytes(self.records("lag")[-1].value())
        assert last.status == "ERR"
        assert last.cause is not None
        return last.cause

    def events(self) -> EventSender:
        return EventSender(self)

    def records(self, topic: str) -> list[Message]:
        """Everything that is on one of Warren's topics now."""
        return self._records(self.prefix + topic)

    def changelog(self) -> list[Message]:
        """Everything that is on the topic of the windows."""
        return self._records(f"{self.app_id}-windows-changelog")

    def members(self) -> list[Message]:
        """Everything that is on the topic of the members."""
        return self._records(f"{self.app_id}-members-changelog")

    def lateness(self) -> list[Message]:
        """Everything that is on the topic of how late groups are."""
        return self._records(f"{self.app_id}-lateness-changelog")

    def _records(self, name: str) -> list[Message]:
        consumer = self._consumer()
        ends = {
            p: consumer.get_watermark_offsets(TopicPartition(name, p))[1] for p in range(PARTITIONS)
        }
        consumer.assign([TopicPartition(name, p, 0) for p in range(PARTITIONS)])
        records: list[Message] = []

        def all_read() -> bool:
            records.extend(m for m in consumer.consume(1000, 0.2) if m.error() is None)
            at = consumer.position([TopicPartition(name, p) for p in range(PARTITIONS)])
            return all(p.offset >= ends[p.partition] or ends[p.partition] == 0 for p in at)

        eventually(all_read, message=f"{name} is read to its end")
        consumer.close()
        return records

    def damage_state(self, key: bytes, value: bytes) -> None:
        """Another value than the worker's at the end of the changelog."""
        (partition,) = {r.partition() for r in self.changelog() if r.key() == key}
        producer = Producer({"bootstrap.servers": self.bootstrap})
        name = f"{self.app_id}-windows-changelog"
        producer.produce(name, key=key, value=value, partition=partition)
        assert producer.flush(30) == 0

    def delete_events(self, cluster: str, group: str, before: int) -> None:
        """As retention does it: the offset events of a group's partition, up to an offset."""
        name = OFFSETS.full_name(self.prefix)
        key = group_key(cluster, group)
        (partition,) = {r.partition() for r in self.records("offsets") if r.key() == key}
        place = TopicPartition(name, partition, before)
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.delete_records([place])[place].result(30)

    def caught_up(self, topic: str = OFFSETS.name) -> bool:
        """Whether all events of a topic are committed by the worker's consumer group."""
        consumer = self._consumer(self.app_id)
        name = self.prefix + topic
        partitions = [TopicPartition(name, p) for p in range(PARTITIONS)]
        try:
            committed = consumer.committed(partitions, timeout=10)
            ends = [consumer.get_watermark_offsets(p, timeout=10)[1] for p in partitions]
        except KafkaException as error:
            if is_not_yet(error):
                return False
            raise
        finally:
            consumer.close()
        return all(c.offset >= e or e == 0 for c, e in zip(committed, ends, strict=True))

    def await_caught_up(self, topic: str = OFFSETS.name) -> None:
        eventually(
            lambda: self.caught_up(topic), timeout=120, message=f"all of {topic} is evaluated"
        )

    def _consumer(self, group: str = "reader") -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )


class Worker:
    """One process, `python -m warren_evaluator`. Can be killed and started again."""

    def __init__(self, home: Home, log: Path) -> None:
        self._home = home
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    def start(self) -> Worker:
        self._port = free_port()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self._home.program],
                env=self._home.environment(self._port),
                cwd=self._home.directory,
                stderr=log,
                stdout=log,
            )
        return self

    def await_ready(self) -> Worker:
        eventually(self.is_ready, message=f"{self.log.name}: ready")
        return self

    def is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/ready", timeout=5):
                return True
        except OSError:  # URLError too
            return False

    @property
    def address(self) -> str:
        """Of its probe."""
        return f"http://127.0.0.1:{self._port}"

    def metrics(self) -> str:
        with urllib.request.urlopen(f"{self.address}/metrics", timeout=5) as answer:
            text: str = answer.read().decode()
        return text

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing is said."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def await_exit(self) -> int:
        """The exit code of a worker that ends by itself."""
        assert self._process is not None
        code = self._process.wait(60)
        self._process = None
        return code

    def terminate(self) -> int:
        """SIGTERM, as an operator stops it; the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self.await_exit()


class EventSender:
    """Puts offset events on the topic, keyed and partitioned as the collector does."""

    def __init__(self, home: Home) -> None:
        self._prefix = home.prefix
        self._producer = Producer(
            {
                "bootstrap.servers": home.bootstrap,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
            }
        )

    def send(self, *events: OffsetEvent) -> None:
        for event in events:
            self.send_raw(group_key(event.cluster, event.group), event.to_bytes())

    def send_raw(self, key: bytes | None, value: bytes | None, topic: str = OFFSETS.name) -> None:
        self._producer.produce(self._prefix + topic, key=key, value=value)
        self._producer.poll(0)

    def flush(self) -> None:
        assert self._producer.flush(30) == 0
