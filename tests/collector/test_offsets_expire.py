"""A broker that keeps offsets for a minute: what it lets expire is told from a deletion."""

from pathlib import Path

import pytest
from confluent_kafka import TopicPartition as Partition
from support.collector_lab import Lab
from support.servers import embedded_kafka

pytestmark = pytest.mark.heavy

MINUTE_MS = 60_000
SOON = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"}


@pytest.mark.kafka
def test_expired_offsets_and_a_deleted_group(
    pytestconfig: pytest.Config, tmp_path: Path, unique: str
) -> None:
    root = pytestconfig.rootpath
    with (
        embedded_kafka(root, tmp_path, properties=SOON) as kafka,
        Lab.on(kafka.bootstrap, unique) as lab,
    ):
        topic = lab.create_topic("orders")
        lab.produce(topic, [(None, b"x")] * 5)
        left, deleted = f"{unique}-left", f"{unique}-deleted"
        for group in (left, deleted):
            lab.commit(group, [Partition(topic, 0, 3)])
        with lab.collecting(lab.settings()):
            events = lab.events()
            events.until(
                lambda: events.of(left) and events.of(deleted), "both are seen", timeout=120
            )
            lab.admin.delete_consumer_groups([deleted])[deleted].result(30)
            events.until(lambda: events.of(deleted)[-1].deleted, "it was deleted")
            events.until(lambda: events.of(left)[-1].deleted, "it has expired", timeout=180)
            for group, after in ((deleted, None), (left, MINUTE_MS)):
                assert events.of(group)[-1].removed == {topic: [0]}
                assert events.of(group)[-1].expired_after_ms == after
