"""Names of topics by id: records of the newer group protocols have ids only.

Asked of the cluster in the background, by name: the groups say which topics they subscribe to.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any
from uuid import UUID

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, TopicDescription
from warren.clock import Clock
from warren.kafka.connection import GRACE_SECONDS

_LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")
ASK_AGAIN_AFTER = 30.0  # seconds; a topic may be created anew, under another id
REQUEST_TIMEOUT = 10.0  # seconds

Answers = Mapping[str, "Future[TopicDescription]"]
Ask = Callable[[Sequence[str]], Answers]


class TopicIds:
    """For one thread. Nothing here waits for the cluster."""

    def __init__(self, ask: Ask, clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._names: dict[UUID, str] = {}
        self._requested_at: dict[str, float] = {}
        self._pending: dict[str, Future[TopicDescription]] = {}
        self._wanted: set[str] = set()

    def name(self, topic_id: UUID) -> str | None:
        return self._names.get(topic_id)

    def learn(self, topic_id: UUID, name: str) -> None:
        self._names[topic_id] = name

    def want(self, names: Iterable[str]) -> bool:
        """Whether waiting for the next `refresh` may tell the ids of these topics."""
        now = self._clock.monotonic()
        # Clients may subscribe to what is no topic's name; one of those would spoil the request.
        names = {name for name in names if _LEGAL.fullmatch(name)}
        stale = {
            name
            for name in names - self._pending.keys()
            if now - self._requested_at.get(name, -ASK_AGAIN_AFTER) >= ASK_AGAIN_AFTER
        }
        self._wanted |= stale
        return bool(stale) or not names.isdisjoint(self._pending)

    def refresh(self) -> None:
        """Takes in what was answered meanwhile and asks for what is wanted."""
        now = self._clock.monotonic()
        self._pending, requested = {}, self._pending
        for name, answer in requested.items():
            if answer.done():
                self._take(name, answer)
            # One that is older never comes (`connection.awaited`): nobody shall wait for it.
            elif now - self._requested_at[name] < REQUEST_TIMEOUT + GRACE_SECONDS:
                self._pending[name] = answer
        if self._wanted:
            wanted, self._wanted = sorted(self._wanted), set()
            self._requested_at |= dict.fromkeys(wanted, now)
            self._pending |= self._ask(wanted)

    def _take(self, name: str, answer: Future[TopicDescription]) -> None:
        try:
            description = answer.result()
        except KafkaException:
            return  # deleted, or not to be described: asked again when somebody wants it
        topic_id: Any = description.topic_id  # untyped there
        # confluent-kafka has a class of its own, of two signed halves.
        halves = topic_id.get_most_significant_bits(), topic_id.get_least_significant_bits()
        high, low = (half % 2**64 for half in halves)
        self._names[UUID(int=high << 64 | low)] = name


def asking(admin: AdminClient) -> Ask:
    """Asks a cluster. The right DESCRIBE on a topic is enough."""

    def ask(names: Sequence[str]) -> Answers:
        answers: Answers = admin.describe_topics(
            TopicCollection(list(names)), request_timeout=REQUEST_TIMEOUT
        )
        return answers

    return ask
