"""Somebody who writes to a topic all the time."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from warren.kafka.producer import EventProducer
from warren.settings import HomeSettings

EVERY = 0.02
"""Seconds: far less than librdkafka waits before it says that an end is reached."""
BEFORE = 100  # records that are there at the beginning


@contextmanager
def busy_writer(home: HomeSettings, topic: str) -> Iterator[None]:
    """Writes "0", "1", … with one key, until the end."""
    enough, begun = threading.Event(), threading.Event()

    def write() -> None:
        producer = EventProducer(home)
        for number in itertools.count():
            producer.send(topic, b"prod|g", str(number).encode())
            producer.flush()
            if number == BEFORE:
                begun.set()
            if enough.wait(EVERY):
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert begun.wait(60), "nothing is written"
        yield
    finally:
        enough.set()
        writer.join()
