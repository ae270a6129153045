"""Clients of librdkafka that have lost all brokers for good, or cannot log in any more.

A broker that has just started may answer a request for metadata with no brokers at all. librdkafka
(2.10 to 2.16 at least) then drops those that it knows and never connects again; neither
`metadata.recovery.strategy` nor its trigger help, and no error is told:
https://github.com/confluentinc/librdkafka/issues/5301. Only a client made anew does. So it
is with credentials that were renewed: librdkafka reads certificates and passwords once.
"""

from collections.abc import Callable, Hashable

from confluent_kafka import Consumer, KafkaException, Producer

from warren.clock import Clock
from warren.errors import ClientLost, KafkaError
from warren.kafka.connection import connect
from warren.settings import KafkaConnection

# Silence after which the client is asked, seconds. No less: as long as a service may stand still
# before it is not ready (`standstill.not_ready_after`), and many topics are silent for long.
QUIET_SECONDS = 60.0
AGAIN_SECONDS = 30.0  # while nobody answers: brokers forget when they come back
# Without partitions. A rebalance waits 300 s (`max.poll.interval.ms`) for members that hang.
# The same two, seconds, after the credentials were renewed: our client has old ones, and cannot log
# in any more once the broker has closed its connections.
RENEWED_SECONDS = 10.0
JOIN_SECONDS = 360.0
ANSWER_SECONDS = 3.0
NEW_ANSWER_SECONDS = 5.0  # it connects and logs in first
# For one whose cluster has just come back: librdkafka waits up to 10 s before it connects again.
LAST_ANSWER_SECONDS = 15.0

Asking = Callable[[float], bool]
"""Whether the client finds a broker that answers within so many seconds."""


class Hearing:
    """Whether one client still hears of its cluster. For the thread that uses the client."""

    def __init__(
        self,
        cluster: str,
        setting: str,
        asking: Asking,
        is_reachable: Callable[[], bool],
        clock: Clock,
        login_version: Callable[[], Hashable] = lambda: None,
    ) -> None:
        """`is_reachable` asks the cluster by a client made anew; `login_version` tells the
        credentials of now from those that the client was made with just now.
        """
        self._cluster = cluster
        self._setting = setting
        self._asking = asking
        self._is_reachable = is_reachable
        self._clock = clock
        self._login_version = login_version
        self._made_with = login_version()
        self._joined_at = self._since = clock.monotonic()
        self._pause = QUIET_SECONDS

    def follow(self, *, heard: bool, joined: bool = True) -> None:
        """After each poll: whether it brought anything, and whether the client's group, if it has
        one, has said which partitions are its own. Now and then it asks, and may wait 23 s then.

        Raises ClientLost.
        """
        now = self._clock.monotonic()
        if joined:
            self._joined_at = now
        if heard:
            self._since, self._pause = now, QUIET_SECONDS
        elif now - self._since >= (RENEWED_SECONDS if self._is_renewed() else self._pause):
            self._ask()

    def _is_renewed(self) -> bool:
        return self._login_version() != self._made_with

    def _ask(self) -> None:
        if self._asking(ANSWER_SECONDS):
            self._pause = QUIET_SECONDS
            if self._clock.monotonic() - self._joined_at >= JOIN_SECONDS:
                raise self._lost("has been given no partitions for 6 m")
        elif self._is_reachable():
            if self._is_renewed():
                self._made_with = self._login_version()  # those of the client that follows
                raise self._lost("has credentials that were renewed since")
            if not self._asking(LAST_ANSWER_SECONDS):
                raise self._lost("has lost all brokers, though they answer others")
            self._pause = AGAIN_SECONDS
        else:
            self._pause = AGAIN_SECONDS
        self._since = self._clock.monotonic()

    def _lost(self, problem: str) -> ClientLost:
        return ClientLost(self._cluster, self._setting, f"our client {problem}")


def hearing_of(
    client: Consumer,
    topic: str,
    cluster: str,
    setting: str,
    connection: KafkaConnection,
    clock: Clock,
) -> Hearing:
    """Of a consumer of a topic."""
    return hearing_by(asking_client(client, topic), cluster, setting, connection, clock)


def hearing_by(
    asking: Asking,
    cluster: str,
    setting: str,
    connection: KafkaConnection,
    clock: Clock,
) -> Hearing:
    """Of a client that is asked so, with that connection to the cluster."""
    return Hearing(
        cluster,
        setting,
        asking,
        lambda: is_reachable(cluster, setting, connection),
        clock,
        lambda: connection.login_version,
    )


def is_reachable(cluster: str, setting: str, connection: KafkaConnection) -> bool:
    """Whether a broker answers a client that knows nothing yet."""
    try:
        connect(cluster, setting, connection, NEW_ANSWER_SECONDS)
    except KafkaError:
        return False
    return True


def asking_client(client: Consumer | Producer, topic: str) -> Asking:
    """Asks about a topic that the client uses anyway."""

    def asking(timeout: float) -> bool:
        try:
            client.list_topics(topic, timeout=timeout)
        except KafkaException:
            return False
        return True

    return asking
