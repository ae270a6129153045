"""A cluster of two brokers, and leadership that moves between them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import ElectionType, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from support.not_yet import is_not_yet
from support.servers import OFFSETS_PARTITIONS, jars_directory
from support.waiting import eventually
from warren_local.jars import find_java
from warren_local.kafka import EmbeddedKafka, KafkaOptions, new_cluster_id
from warren_local.server import HOST, free_port

ASSIGNMENT = [[1, 2], [2, 1]]  # by partition: replicas, the preferred leader first


@contextmanager
def running_two_brokers(
    root: Path, logs: Path, second_at: str | None = None
) -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """The first broker is the controller too, the second may be stopped. `second_at`: where the
    second one says that it is.
    """
    cluster_id, controller_port, second_port = new_cluster_id(), free_port(), free_port()
    of_both = {"default.replication.factor": "2", "offsets.topic.replication.factor": "2"}
    of_second = {
        "node.id": "2",
        "process.roles": "broker",
        "listeners": f"PLAINTEXT://{HOST}:{second_port}",
    }

    if second_at is not None:
        of_second["advertised.listeners"] = f"PLAINTEXT://{second_at}"

    def broker(number: int, port: int, properties: dict[str, str]) -> EmbeddedKafka:
        options = KafkaOptions(
            port=port,
            controller_port=controller_port,
            data_dir=logs / f"broker-{number}",
            offsets_partitions=OFFSETS_PARTITIONS,
            properties=properties,
            cluster_id=cluster_id,
        )
        log = logs / f"kafka-{number}.log"
        return EmbeddedKafka(
            options, java=find_java(os.environ), jars=jars_directory(root), log=log
        )

    with (
        broker(1, free_port(), of_both) as first,
        broker(2, second_port, of_both | of_second) as second,
    ):
        yield first, second


def create_replicated(admin: AdminClient, topic: str) -> None:
    """A topic of two partitions, one led by each broker and both on both."""
    new = NewTopic(topic, len(ASSIGNMENT), replica_assignment=ASSIGNMENT)
    admin.create_topics([new])[topic].result(30)


def lead_as_preferred(admin: AdminClient) -> None:
    """Leadership goes back to who had it first, once that broker's replicas are in sync."""

    def is_elected() -> bool:
        try:
            answers = admin.elect_leaders(ElectionType.PREFERRED).result(30)
        except KafkaException as error:
            if is_not_yet(error):
                return False
            raise
        # Only of partitions that had another leader until now; None: they have the right one.
        return not any(answers.values())

    eventually(is_elected, message="leadership is as it was")
