"""How long the cluster keeps offsets that nobody commits any more: `offsets.retention.minutes`.

Asked of a broker in the background (DESCRIBE_CONFIGS on the cluster). Where that is refused it is
Kafka's default.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from warren.clock import Clock

DEFAULT_MS = 7 * 86_400_000
"""Of brokers since 2.0."""
NAME = "offsets.retention.minutes"
ASK_AGAIN_AFTER = 300.0  # seconds; an answer that never comes is asked for again then, too
REQUEST_TIMEOUT = 10.0  # seconds

AskBrokers = Callable[[], "Future[Any]"]
"""For the description of the cluster."""
AskConfig = Callable[[int], "Future[Mapping[str, Any]]"]
"""For the configuration of a broker, by its id."""


class OffsetsRetention:
    """For one thread. Nothing here waits for the cluster."""

    def __init__(self, brokers: AskBrokers, config: AskConfig, clock: Clock) -> None:
        self._ask_brokers = brokers
        self._ask_config = config
        self._clock = clock
        self._requested_at: float | None = None
        self._brokers: Future[Any] | None = None
        self._config: Future[Mapping[str, Any]] | None = None
        self.milliseconds = DEFAULT_MS

    def refresh(self) -> None:
        """Takes in what was answered meanwhile, and asks once in five minutes."""
        now = self._clock.monotonic()
        if self._requested_at is None or now - self._requested_at >= ASK_AGAIN_AFTER:
            self._requested_at = now
            self._brokers, self._config = self._ask_brokers(), None
        try:
            if self._brokers is not None and self._brokers.done():
                answered, self._brokers = self._brokers, None
                self._config = self._ask_config(answered.result().nodes[0].id)
            if self._config is not None and self._config.done():
                answer, self._config = self._config, None
                self.milliseconds = int(answer.result()[NAME].value) * 60_000
        except (KafkaException, KeyError, IndexError, ValueError):
            return  # refused, or not told: what was known stays


def retention_of(admin: AdminClient, clock: Clock) -> OffsetsRetention:
    """Of the cluster that the client is connected to."""

    def config(broker: int) -> Future[Mapping[str, Any]]:
        resource = ConfigResource(ResourceType.BROKER, str(broker))
        (answer,) = admin.describe_configs([resource], request_timeout=REQUEST_TIMEOUT).values()
        found: Future[Mapping[str, Any]] = answer
        return found

    return OffsetsRetention(
        lambda: admin.describe_cluster(request_timeout=REQUEST_TIMEOUT), config, clock
    )
