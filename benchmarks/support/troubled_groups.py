"""Consumer groups of real clients, each with a trouble or a habit of its own, as time goes by."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Partition
from confluent_kafka.admin import AdminClient, NewTopic

PREFIX = "troubled-"
RATE = 20.0  # records a second, written to each topic
RECORD = b"x" * 100
BEGINS = 180.0  # seconds after the start
STEP = 0.2
MOST = 2000  # records that one look takes


class Client:
    """Of one partition; commits each second what it has read."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.topic = PREFIX + name
        self._options = {
            "bootstrap.servers": bootstrap,
            "group.id": PREFIX + name,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }
        self._consumer: Consumer | None = None
        self._other: Consumer | None = None
        self.position = 0
        self.has_sought = False
        self._credit = 0.0
        self._commit_at = 0.0
        self.start()

    def start(self) -> None:
        if self._consumer is None:
            self._consumer = Consumer(self._options)
            self._consumer.subscribe([self.topic])

    def stop(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def read(self, rate: float = 1000.0) -> None:
        """What has come, no more than `rate` a second."""
        assert self._consumer is not None
        self._credit = min(self._credit + rate * STEP, rate)
        most = min(int(self._credit), MOST)
        for message in self._consumer.consume(most, 0.05) if most else []:
            if message.error() is None:
                self.position = (message.offset() or 0) + 1
                self._credit -= 1

    def commit(self, every: float = 1.0) -> None:
        assert self._consumer is not None
        now = time.monotonic()
        if now >= self._commit_at and self.position and self._consumer.assignment():
            self._commit_at = now + every
            self._consumer.commit(
                offsets=[Partition(self.topic, 0, self.position)], asynchronous=False
            )

    def keep_alive(self) -> None:
        """Takes part in rebalances, and reads nothing."""
        assert self._consumer is not None
        self._consumer.pause(self._consumer.assignment())
        self._consumer.poll(0)
        self._consumer.resume(self._consumer.assignment())

    def seek(self, offset: int) -> None:
        assert self._consumer is not None
        self._consumer.seek(Partition(self.topic, 0, offset))
        self.position, self.has_sought = offset, True

    def another(self, is_there: bool) -> None:
        """A second member comes, or goes."""
        if is_there and self._other is None:
            self._other = Consumer(self._options)
            self._other.subscribe([self.topic])
        elif not is_there and self._other is not None:
            self._other.close()
            self._other = None
        if self._other is not None:
            for message in self._other.consume(MOST, 0):
                if message.error() is None:
                    self._other.commit(message=message, asynchronous=False)

    def close(self) -> None:
        self.another(is_there=False)
        self.stop()


Life = Callable[[Client, float], None]
"""What a client does in the step that begins now, so many seconds after the start."""


def _works(client: Client) -> None:
    client.start()
    client.read()
    client.commit()


def periodic_pause(client: Client, at: float) -> None:
    """70 s in every 200, while it lives."""
    if at % 200 < 130:
        _works(client)
    else:
        client.keep_alive()


def crash(client: Client, at: float) -> None:
    if BEGINS <= at < BEGINS + 600:
        client.stop()
    else:
        _works(client)


def poison_record(client: Client, at: float) -> None:
    client.start()
    if at < BEGINS:
        client.read()
    else:
        client.keep_alive()
    client.commit()


def slow_consumer(client: Client, at: float) -> None:
    client.read(RATE / 2 if at >= BEGINS else 1000)
    client.commit()


def constant_backlog(client: Client, at: float) -> None:
    """Seven minutes are missing; then it reads as much as is written."""
    if BEGINS <= at < BEGINS + 420:
        client.stop()
        return
    client.start()
    client.read(RATE if at >= BEGINS else 1000)
    client.commit()


def replay(client: Client, at: float) -> None:
    """Of 500 s, at 3.5 times the rate."""
    if at >= 600 and not client.has_sought:
        client.seek(max(client.position - int(500 * RATE), 0))
    client.read(3.5 * RATE if at >= 600 else 1000)
    client.commit()


def batch(client: Client, at: float) -> None:
    """Reads everything in the last 20 s of every 240: at rest when it is first seen."""
    if at % 240 >= 220:
        _works(client)
    else:
        client.keep_alive()


def rebalance_loop(client: Client, at: float) -> None:
    """Somebody comes and goes every 20 s; whatever there is is read."""
    _works(client)
    client.another(is_there=at % 40 >= 20)


def slow_processing(client: Client, at: float) -> None:
    """It takes longer than the group waits for it, again and again: it comes back, and is out
    before it has committed anything.
    """
    if at < BEGINS:
        _works(client)
    elif at % 20 < 15:
        client.start()
        client.keep_alive()
    else:
        client.stop()


@dataclass(frozen=True, slots=True)
class Trouble:
    """`told`: what explanations must say, in their order; `may`: what others may say beside."""

    life: Life
    told: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


CATCHES_UP = "late, "
TROUBLES = {
    "periodic-pause": Trouble(periodic_pause, may=("STOP: no commit for",)),
    "crash": Trouble(crash, ("STOP: no commit for", "OK"), (CATCHES_UP,)),
    "poison-record": Trouble(poison_record, ("STALL: commits go on, but at offset",)),
    "slow-consumer": Trouble(slow_consumer, ("WARN: lag growing",)),
    "constant-backlog": Trouble(constant_backlog, ("STOP: no commit for", CATCHES_UP)),
    "replay": Trouble(
        replay, ("REWIND: committed offset went back from", "WARN: replaying: went back", "OK")
    ),
    "batch": Trouble(batch),
    "rebalance-loop": Trouble(rebalance_loop),
    "slow-processing": Trouble(slow_processing, ("STOP: no commit for",)),
}


class TroubledGroups:
    """All of them at work, a thread each, and a producer, until `close`."""

    def __init__(self, bootstrap: str) -> None:
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        topics = [NewTopic(PREFIX + name, 1, 1) for name in TROUBLES]
        for created in admin.create_topics(topics).values():
            created.result(30)
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "log_level": 0})
        self._stop = threading.Event()
        self._start = time.monotonic()
        works: list[Callable[[], None]] = [self._write]
        for name, trouble in TROUBLES.items():
            works.append(partial(self._live, bootstrap, name, trouble.life))
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _at(self) -> float:
        return time.monotonic() - self._start

    def _write(self) -> None:
        written = 0
        while not self._stop.wait(STEP):
            due = int(self._at() * RATE) - written
            written += due
            for name in TROUBLES:
                for _ in range(due):
                    self._producer.produce(PREFIX + name, RECORD)
            self._producer.poll(0)
        self._producer.flush(30)

    def _live(self, bootstrap: str, name: str, life: Life) -> None:
        client = Client(bootstrap, name)
        while not self._stop.wait(STEP):
            life(client, self._at())
        client.close()
