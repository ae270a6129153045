"""Requests to the evaluators, on the topic that they read: the only thing that the API writes."""

from __future__ import annotations

import threading

from warren.contracts import OffsetEvent, group_key
from warren.contracts.topics import OFFSETS
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

DELIVERY_SECONDS = 10.0


class Requests:
    """Connects when first needed, so that an API that may only read works too."""

    def __init__(self, home: HomeSettings) -> None:
        self._home = home
        self._topic = OFFSETS.full_name(home.topic_prefix)
        self._producer: EventProducer | None = None
        self._one_at_a_time = threading.Lock()

    def send(self, request: OffsetEvent) -> None:
        """Returns when the broker has it. Raises PublishFailed."""
        with self._one_at_a_time:
            if self._producer is None:
                self._producer = EventProducer(HOME, HOME, self._home, DELIVERY_SECONDS)
            key = group_key(request.cluster, request.group)
            self._producer.send(self._topic, key, request.to_bytes())
            self._producer.flush()


def forget(cluster: str, group: str, topics: list[str], until: int) -> OffsetEvent:
    """To forget what these topics, or all of the group's, committed; `until` is Unix milliseconds.

    Of no position: whoever else reads the topic takes it for older than what it knows.
    """
    return OffsetEvent(
        cluster=cluster,
        group=group,
        source="offsets_topic",
        observed_at=until,
        position=-1,
        forget=topics,
    )
