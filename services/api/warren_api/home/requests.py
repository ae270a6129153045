"""What people ask for, written to the home cluster."""

import threading

from warren.contracts.topics import (
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
