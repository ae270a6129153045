"""Durable writing for many at once: whoever waits goes on when the broker has acknowledged."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Record:
    """A record to write, and where. Without a value it is a tombstone."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None


class Producer(Protocol):
    """What the writer needs of an EventProducer."""

    def send(
        self, topic: str, key: bytes | None, value: bytes | None, *, partition: int
    ) -> None: ...
    def flush(self) -> None: ...


class BatchedWriter:
    """Writes in the order of the calls; calls that come meanwhile share the next round trip."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._waiting: list[tuple[Sequence[Record], asyncio.Future[None]]] = []
        self._called = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batched-writer")

    async def write(self, records: Sequence[Record]) -> None:
        """Returns when all are acknowledged. While `run` has ended with an error: never."""
        if records:
            await self._enqueue(records)

    async def drain(self) -> None:
        """Returns when all that was written before is acknowledged."""
        await self._enqueue(())

    async def _enqueue(self, records: Sequence[Record]) -> None:
        acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((records, acknowledged))
        self._called.set()
        await acknowledged

    async def run(self) -> None:
        """Writes until cancelled. Raises PublishFailed; what was waiting is then lost."""
        loop = asyncio.get_running_loop()
        while True:
            await self._called.wait()
            self._called.clear()
            round_, self._waiting = self._waiting, []
            records = [record for records, _ in round_ for record in records]
            await loop.run_in_executor(self._thread, self._send, records)
            for _, acknowledged in round_:
                if not acknowledged.done():  # its task may have been cancelled
                    acknowledged.set_result(None)

    def _send(self, records: Sequence[Record]) -> None:
        for record in records:
            self._producer.send(record.topic, record.key, record.value, partition=record.partition)
        self._producer.flush()

    def close(self) -> None:
        self._thread.shutdown(wait=True)
