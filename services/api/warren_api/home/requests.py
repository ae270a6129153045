"""What people ask for, written to the home cluster: of the notifiers, on the topics that they
follow, and of the evaluators, to forget a group.
"""

from __future__ import annotations

import threading

from warren.contracts import (
    Acknowledgement,
    NotificationTest,
    OffsetEvent,
    Silence,
    group_key,
)
from warren.contracts.topics import (
    ACKNOWLEDGEMENTS,
    NOTIFICATION_TESTS,
    OFFSETS,
    SILENCES,
    Topic,
)
from warren.errors import MaybePublished
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

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
                self._producer = EventProducer(HOME, HOME, self._home, DELIVERY_SECONDS)
            self._producer.send(topic.full_name(self._home.topic_prefix), key, value)
            try:
                self._producer.flush()
            except MaybePublished as error:
                unknown = "it is not known whether it was written: look before you try again"
                problem = f"{unknown} ({error.problem})"
                raise MaybePublished(error.cluster, error.setting, problem) from None


class AskedOnTopics:
    """Each call returns when the broker has it. All raise PublishFailed."""

    def __init__(self, home: HomeSettings) -> None:
        self._writer = HomeWriter(home)

    def silence(self, silence: Silence) -> None:
        self._writer.write(SILENCES, silence.id.encode(), silence.to_bytes())

    def acknowledge(self, acknowledgement: Acknowledgement) -> None:
        key = acknowledgement.incident_id.encode()
        self._writer.write(ACKNOWLEDGEMENTS, key, acknowledgement.to_bytes())

    def test(self, test: NotificationTest) -> None:
        self._writer.write(NOTIFICATION_TESTS, test.id.encode(), test.to_bytes())

    def withdraw(self, incident_id: str) -> None:
        self._writer.write(ACKNOWLEDGEMENTS, incident_id.encode(), None)


class ForgetRequests:
    """What is asked of the evaluators."""

    def __init__(self, home: HomeSettings) -> None:
        self._writer = HomeWriter(home)

    def forget(self, cluster: str, group: str, topics: list[str], until: int) -> None:
        """What these topics, or all of the group's, committed up to `until` (Unix milliseconds).

        Returns when the broker has the request. Raises PublishFailed.
        """
        self.send(_request(cluster, group, topics, until))

    def send(self, request: OffsetEvent) -> None:
        """Returns when the broker has it. Raises PublishFailed."""
        key = group_key(request.cluster, request.group)
        self._writer.write(OFFSETS, key, request.to_bytes())


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
