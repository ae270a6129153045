"""Warren's own cluster, as far as the API asks it for more than records, or writes to it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

import structlog
from confluent_kafka.admin import AdminClient
from warren.contracts.topics import (
    Topic,
)
from warren.errors import AuthorizationFailed, KafkaError, MaybePublished, TopicMisconfigured
from warren.kafka.connection import answers, connect
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME, ensure_topics
from warren.settings import HomeSettings

log = structlog.get_logger(__name__)

ANSWER_SECONDS = 3.0


class HomeCluster:
    """A connection to the home cluster."""

    def __init__(self, admin: AdminClient, home: HomeSettings) -> None:
        self._admin = admin
        self._home = home

    @classmethod
    def connected(cls, home: HomeSettings) -> HomeCluster:
        """Raises ClusterUnreachable, AuthenticationFailed or AuthorizationFailed."""
        return cls(connect(HOME, HOME, home, ANSWER_SECONDS), home)

    def create_topics(self) -> None:
        """Those that are missing, if the settings say so and it is allowed.

        What may not be created from here may be there: reading tells.
        """
        if not self._home.create_topics:
            return
        try:
            ensure_topics(self._admin, self._home)
        except (AuthorizationFailed, TopicMisconfigured) as error:
            log.warning("topics not created", problem=error.problem)

    def problem(self) -> KafkaError | None:
        """Why it does not answer; None when it does.

        A client that finds no broker is made anew: it may have lost them all for good (`hearing`).
        """
        if answers(self._admin, ANSWER_SECONDS):
            return None
        try:
            self._admin = connect(HOME, HOME, self._home, ANSWER_SECONDS)
        except KafkaError as problem:
            return problem
        return None


DELIVERY_SECONDS = 10.0


class HomeWriter:
    """Connects when first needed, so that an API that may only read works too."""

    def __init__(self, home: HomeSettings) -> None:
        self._home = home
        self._producer: EventProducer | None = None
        self._one_at_a_time = threading.Lock()

    def write(self, topic: Topic, key: bytes, value: bytes | None) -> None:
        """Returns when the broker has it. Raises PublishFailed; MaybePublished where nobody knows
        whether the broker has it.
        """
        with self._one_at_a_time:
            if self._producer is None:
                self._producer = EventProducer(self._home, DELIVERY_SECONDS)
            self._producer.send(topic.full_name(self._home.topic_prefix), key, value)
            try:
                self._producer.flush()
            except MaybePublished as error:
                problem = (
                    "it is not known whether it was written: look before you try again "
                    f"({error.problem})"
                )
                raise MaybePublished(error.cluster, error.setting, problem) from None


class HomeThread(ABC):
    """Reads topics of the home cluster, until it is stopped."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; waits for it."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @abstractmethod
    def _run(self) -> None:
        """Until `_stop` is set."""
