"""Real clients: members of groups that are polled while a test waits for something."""

from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaException, ShareConsumer, TopicPartition
from support.collector_lab import Lab
from support.waiting import eventually


class Members:
    """Clients of several groups; each look at something is also a poll of all."""

    def __init__(self, lab: Lab, topic: str) -> None:
        self._lab = lab
        self._topic = topic
        self._all: list[Consumer | ShareConsumer] = []

    def join(self, group: str, topics: Sequence[str] = (), **options: str) -> Consumer:
        """`options` have `_` for `.`; `topics`: others than usual."""
        more = {name.replace("_", "."): value for name, value in options.items()}
        defaults = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer({**self._connection(group), **defaults, **more})
        self._lab.closing.callback(consumer.close)
        consumer.subscribe(list(topics) or [self._topic])
        self._all.append(consumer)
        return consumer

    def share(self, group: str) -> ShareConsumer:
        consumer = ShareConsumer({**self._connection(group), "log_level": 0})
        self._lab.closing.callback(consumer.close)
        consumer.subscribe([self._topic])
        self._all.append(consumer)
        return consumer

    def commit(self, offset: int) -> None:
        """Each member commits the same offset for all that it is assigned."""

        def has_committed(consumer: Consumer) -> bool:
            places = [TopicPartition(p.topic, p.partition, offset) for p in consumer.assignment()]
            try:
                return not places or bool(consumer.commit(offsets=places, asynchronous=False))
            except KafkaException:
                return False  # a rebalance is under way

        def all_have() -> bool:
            consumers = [one for one in self._all if isinstance(one, Consumer)]
            return sum(map(has_committed, consumers)) == len(consumers)

        self.until(all_have, f"all commit {offset}")

    def leave(self, consumer: Consumer) -> None:
        self._all.remove(consumer)
        consumer.close()

    def until(self, condition: Callable[[], Any], message: str) -> None:
        def look() -> Any:
            for consumer in self._all:
                consumer.poll(0.02)
            return condition()

        eventually(look, message=message)

    def _connection(self, group: str) -> dict[str, Any]:
        return {
            "bootstrap.servers": self._lab.bootstrap,
            "group.id": group,
            "client.id": f"{group}-client",
        }
