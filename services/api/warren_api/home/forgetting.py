"""Requests to forget a group, on the topic that the evaluators read: all that the API writes."""

from __future__ import annotations

import threading

from warren.contracts import OffsetEvent, group_key
from warren.contracts.topics import OFFSETS
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

DELIVERY_SECONDS = 10.0


class ForgetRequests:
    """Connects when first needed, so that an API that may only read works too."""

    def __init__(self, home: HomeSettings) -> None:
        self._home = home
        self._topic = OFFSETS.full_name(home.topic_prefix)
        self._producer: EventProducer | None = None
        self._one_at_a_time = threading.Lock()

    def forget(self, cluster: str, group: str, topics: list[str], until: int) -> None:
        """What these topics, or all of the group's, committed up to `until` (Unix milliseconds).

        Returns when the broker has the request. Raises PublishFailed.
        """
        self.send(_request(cluster, group, topics, until))

    def send(self, request: OffsetEvent) -> None:
        """Returns when the broker has it. Raises PublishFailed."""
        with self._one_at_a_time:
            if self._producer is None:
                self._producer = EventProducer(HOME, HOME, self._home, DELIVERY_SECONDS)
            key = group_key(request.cluster, request.group)
            self._producer.send(self._topic, key, request.to_bytes())
            self._producer.flush()


def _request(cluster: str, group: str, topics: list[str], until: int) -> OffsetEvent:
    """Of no position: whoever else reads the topic takes it for older than what it knows."""
    return OffsetEvent(
        cluster=cluster,
        group=group,
        source="offsets_topic",
        observed_at=until,
        position=-1,
        forget=topics,
    )
