"""Transactional producers that commit groups' offsets, in this process or in one that is killed."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, Producer, TopicPartition as Partition
from warren_collector.sources.shards import offsets_partition

TIMEOUT = 60.0  # seconds
LONGEST_MS = 900_000  # transaction.max.timeout.ms of a broker

HANGING = """
import sys, time
from confluent_kafka import TopicPartition
from support.transactions import TransactionalClient

bootstrap, name, topic, offset, *groups = sys.argv[1:]
client = TransactionalClient(bootstrap, name)
client.begin()
for group in groups:
    client.send(group, [TopicPartition(topic, 0, int(offset))])
print("open", flush=True)
time.sleep(600)
"""


class TransactionalClient:
    """`name` is its transactional id. Creating it ends what an earlier one has left open."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._bootstrap = bootstrap
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": name,
                "transaction.timeout.ms": LONGEST_MS,
            }
        )
        self._producer.init_transactions(TIMEOUT)

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, group: str, positions: list[Partition]) -> None:
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
        self._producer.send_offsets_to_transaction(
            positions, consumer.consumer_group_metadata(), TIMEOUT
        )
        consumer.close()

    def commit(self) -> None:
        self._producer.commit_transaction(TIMEOUT)

    def abort(self) -> None:
        self._producer.abort_transaction(TIMEOUT)


@contextmanager
def killed_with_an_open_transaction(
    bootstrap: str, name: str, groups: list[str], topic: str, offset: int
) -> Iterator[None]:
    """A client has sent these groups' offsets and is gone; in the end it is aborted."""
    child = subprocess.Popen(
        [sys.executable, "-c", HANGING, bootstrap, name, topic, str(offset), *groups],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert child.stdout is not None
    with child.stdout:
        line = child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    child.wait(TIMEOUT)
    try:
        assert line == "open\n"
        yield
    finally:
        TransactionalClient(bootstrap, name)


def neighbours(partitions: int, prefix: str, count: int) -> list[str]:
    """Names of groups whose records are in one partition of the offsets topic."""
    names = (f"{prefix}-{number}" for number in range(100_000))
    return [name for name in names if offsets_partition(name, partitions) == 0][:count]
