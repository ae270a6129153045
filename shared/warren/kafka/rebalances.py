"""What a consumer's group has decided, told by callbacks and acted upon by the thread that polls.

A callback that calls its consumer can end the process: the binding has one state per thread, an
inner call clears it, and the next callback of the outer one finds none (`CallState_get`). Here the
callbacks only take down what they are told. As they assign nothing, librdkafka does so itself, from
the committed offsets; `begin_at` corrects where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from confluent_kafka import Consumer, TopicPartition

Kind = Literal["assigned", "revoked", "lost"]


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
