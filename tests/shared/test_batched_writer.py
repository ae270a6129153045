"""The batched writer: acknowledged or an error."""

import asyncio
import threading

import pytest
from support.waiting import until
from warren.errors import PublishFailed
from warren.kafka.batched_writer import BatchedWriter, Record


class Broker:
    """A producer whose acknowledgements can be held back or refused."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.flushes = 0
        self.answers = threading.Event()
        self.answers.set()
        self.refuses = False

    def send(self, topic: str, key: bytes | None, value: bytes | None, *, partition: int) -> None:
        del key, value, partition
        self.sent.append(topic)

    def flush(self) -> None:
        self.flushes += 1
        self.answers.wait()
        if self.refuses:
            raise PublishFailed("home", "home", "not acknowledged")


def record(name: str) -> Record:
    return Record(name, 0, b"k", b"v")


def test_those_that_come_meanwhile_share_a_round_trip() -> None:
    broker = Broker()

    async def run() -> None:
        writer = BatchedWriter(broker)
        running = asyncio.create_task(writer.run())
        broker.answers.clear()
        first = asyncio.create_task(writer.write([record("0")]))
        await until(lambda: broker.flushes == 1)
        others = [asyncio.create_task(writer.write([record(str(n))])) for n in range(1, 5)]
        drained = asyncio.create_task(writer.drain())
        await asyncio.sleep(0)
        assert not first.done()
        broker.answers.set()
        await asyncio.gather(first, *others, drained)
        await writer.write([])
        running.cancel()
        writer.close()

    asyncio.run(run())
    assert broker.sent == ["0", "1", "2", "3", "4"]
    assert broker.flushes == 2


def test_a_refusal_ends_it_and_acknowledges_nothing() -> None:
    broker = Broker()
    broker.refuses = True

    async def run() -> None:
        writer = BatchedWriter(broker)
        running = asyncio.create_task(writer.run())
        writing = asyncio.create_task(writer.write([record("0")]))
        with pytest.raises(PublishFailed):
            await running
        assert not writing.done()
        writing.cancel()
        writer.close()

    asyncio.run(run())


def test_a_writer_that_gave_up_waiting_does_no_harm() -> None:
    broker = Broker()

    async def run() -> None:
        writer = BatchedWriter(broker)
        running = asyncio.create_task(writer.run())
        broker.answers.clear()
        writing = asyncio.create_task(writer.write([record("0")]))
        await until(lambda: broker.flushes == 1)
        writing.cancel()
        broker.answers.set()
        await writer.write([record("1")])
        running.cancel()
        writer.close()

    asyncio.run(run())
    assert broker.sent == ["0", "1"]
