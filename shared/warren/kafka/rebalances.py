"""Consumers of Warren's own groups. What a group decides is told by callbacks, and acted upon by
the thread that polls.

Nobody waits for a commit. One that is under way when its coordinator goes is repeated by librdkafka
until one is back, and a consumer closes only after it (2.11 to 2.16 at least; seen for as long as
the broker was away). Nor may another thread wait: meanwhile the binding holds up every other call.

A callback that calls its consumer can end the process: the binding has one state per thread, an
inner call clears it, and the next callback of the outer one finds none (`CallState_get`). Here the
callbacks only take down what they are told. As they assign nothing, librdkafka does so itself, from
the committed offsets; `begin_at` corrects where.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

import confluent_kafka
import structlog
from confluent_kafka import Consumer, TopicPartition

from warren.kafka.connection import new_client
from warren.settings import KafkaConnection

log = structlog.get_logger(__name__)

Kind = Literal["assigned", "revoked", "lost"]
CLOSE_SECONDS = 10.0  # a commit under way, and the group is left


class GroupConsumer(Consumer):
    """A consumer whose end is bounded in time. Commits are to be asynchronous."""

    def close(self) -> None:
        """Leave the group. Where a commit has no answer, the client ends once there is one."""
        close, ended = super().close, Future[None]()

        def run() -> None:
            try:
                ended.set_result(close())
            except BaseException as error:  # noqa: BLE001  # raised again by whoever closes
                ended.set_exception(error)

        threading.Thread(target=run, name="closing", daemon=True).start()
        try:
            ended.result(CLOSE_SECONDS)
        except TimeoutError:
            log.warning("consumer not closed in time, a commit has no answer")


def group_consumer(
    cluster: str,
    setting: str,
    connection: KafkaConnection,
    group: str,
    on_error: Callable[[confluent_kafka.KafkaError], None] | None = None,
    session_seconds: float = 10.0,
    on_commit: Callable[..., None] | None = None,
    **extra: Any,
) -> GroupConsumer:
    """A consumer that commits nothing by itself, begins at the beginning, sees what is committed
    and where logs end, and keeps its partitions when others come and go. `extra` as in
    `new_client`, which says what is raised.
    """
    options: dict[str, Any] = {
        "group_id": group,
        "enable_auto_commit": False,
        "enable_auto_offset_store": False,
        "enable_partition_eof": True,
        "auto_offset_reset": "earliest",
        "isolation_level": "read_committed",
        "partition_assignment_strategy": "cooperative-sticky",
        "session_timeout_ms": round(session_seconds * 1000),
        "heartbeat_interval_ms": round(session_seconds * 1000 / 4),
        "reconnect_backoff_max_ms": 2_000,
        **extra,
    }

    def consumer(properties: dict[str, Any]) -> GroupConsumer:
        return GroupConsumer({**properties, **({"on_commit": on_commit} if on_commit else {})})

    return new_client(consumer, cluster, setting, connection, on_error, **options)


@dataclass(frozen=True, slots=True)
class Rebalance:
    """Of one consumer's partitions of its topic. "lost": the group has given it up meanwhile."""

    kind: Kind
    partitions: tuple[int, ...]


class Rebalances:
    """Of a consumer of one topic with the strategy cooperative-sticky."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._told: list[Rebalance] = []

    def subscribe(self, consumer: Consumer) -> None:
        consumer.subscribe(
            [self._topic],
            on_assign=self._note("assigned"),
            on_revoke=self._note("revoked"),
            on_lost=self._note("lost"),
        )

    def take(self) -> list[Rebalance]:
        """What was told since the last call, in order. What came with the same poll may be older
        or newer.
        """
        told, self._told = self._told, []
        return told

    def begin_at(self, consumer: Consumer, offsets: Mapping[int, int]) -> None:
        """Reads these assigned partitions from other offsets. Raises KafkaException."""
        if not offsets:
            return
        begun = [TopicPartition(self._topic, number, at) for number, at in offsets.items()]
        # A partition that was assigned only now may not be sought in yet; this drops, too, what
        # has been fetched of it.
        consumer.incremental_unassign(begun)
        consumer.incremental_assign(begun)

    def _note(self, kind: Kind) -> Callable[[Consumer, list[TopicPartition]], None]:
        def note(_consumer: Consumer, partitions: list[TopicPartition]) -> None:
            self._told.append(Rebalance(kind, tuple(p.partition for p in partitions)))

        return note
