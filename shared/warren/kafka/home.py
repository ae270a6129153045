"""The home cluster before a service works there: connected, and prepared; waits until it is."""

import threading
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka.admin import AdminClient

from warren.errors import KafkaError
from warren.kafka.connection import await_connection, log_retry
from warren.kafka.topics import HOME
from warren.kafka.trouble import Trouble
from warren.settings import HomeSettings

LONGEST_WAIT = 15.0  # seconds between two attempts; they begin 2 s apart
CONNECT_WITHIN = 5.0  # seconds
Prepared = TypeVar("Prepared")


def await_home(
    home: HomeSettings,
    prepare: Callable[[AdminClient], Prepared],
    stop: threading.Event,
    trouble: Trouble,
) -> Prepared | None:
    """What `prepare` returns once it raises no KafkaError; None when `stop` was set.

    What it waits for, a cluster that does not answer or a right that is missing, is told once an
    attempt, and is the `trouble` meanwhile.
    """
    attempt = 0
    while not stop.is_set():
        admin = await_connection(HOME, HOME, home, stop, CONNECT_WITHIN, trouble.note)
        if admin is None:
            return None
        try:
            prepared = prepare(admin)
        except KafkaError as error:
            log_retry(error)
            trouble.note(error)
        else:
            trouble.over()
            return prepared
        attempt += 1
        stop.wait(min(LONGEST_WAIT, 2.0 ** min(attempt, 4)))
    return None
