"""A group that is deleted while it is in trouble: gone from everywhere, and its incident closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.running import Running
from support.waiting import eventually
from warren.contracts import STATUS_CHANGED, GroupEvent, StatusChangeEvent
from warren.kafka.topic_reader import TopicReader
from warren.settings import KafkaConnection

pytestmark = pytest.mark.timeout(600)

GROUP, TOPIC = "gone-soon", "gone-soon-topic"


@contextmanager
def reading(warren: Running, topic: str) -> Iterator[TopicReader]:
    home = KafkaConnection(bootstrap=warren.run["home_kafka"])
    reader = TopicReader("home", "home", home, [topic])
    yield reader
    reader.close()


def commit(admin: AdminClient, offset: int) -> None:
    request = ConsumerGroupTopicPartitions(GROUP, [TopicPartition(TOPIC, 0, offset)])

    def is_committed() -> bool:
        answer = admin.alter_consumer_group_offsets([request])[GROUP].result(30)
        return all(p.error is None for p in answer.topic_partitions or [])

    eventually(is_committed, message=f"{GROUP} commits {offset}")


def test_a_deleted_group_is_gone_and_its_incident_closed(warren: Running) -> None:
    bootstrap = warren.run["kafka"]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
    producer = Producer({"bootstrap.servers": bootstrap})
    for _ in range(9):
        producer.produce(TOPIC, b"x", partition=0)
    assert producer.flush(30) == 0
    status = f"/v3/kafka/{warren.run['cluster']}/consumer/{GROUP}/status"

    commit(admin, 8)
    eventually(lambda: warren.group_status(GROUP) == "OK", message="the group is seen")

    def is_in_trouble() -> bool:
        commit(admin, 3)  # again and again: a window needs some commits to be judged
        return warren.group_status(GROUP) == "ERR"

    eventually(is_in_trouble, message="it went back")
    series = f'consumer_group="{GROUP}"'
    assert series in warren.get("/metrics").text

    admin.delete_consumer_groups([GROUP])[GROUP].result(30)
    eventually(lambda: warren.get(status).status_code == 404, message="it is gone")
    assert GROUP not in warren.statuses()
    assert series not in warren.get("/metrics").text

    changes: list[StatusChangeEvent] = []
    with reading(warren, "warren.lag-status") as reader:

        def is_closed() -> bool:
            for record in reader.poll(0.5):
                change = StatusChangeEvent.from_bytes(record.value())
                is_ours = (change.data.group, change.type) == (GROUP, STATUS_CHANGED)
                changes.extend([change] if is_ours else [])
            return bool(changes) and changes[-1].data.status == "NOTFOUND"

        eventually(is_closed, message="the incident is closed")
    opened, closed = (change.data for change in changes[-2:])
    assert (closed.reason, closed.previous) == ("group_deleted", "ERR")
    assert (closed.incident_id, closed.opened_at) == (opened.incident_id, opened.opened_at)

    told: list[GroupEvent | None] = []
    with reading(warren, "warren.groups") as reader:

        def has_ended() -> bool:
            for record in reader.poll(0.5):
                if (record.key() or b"").endswith(GROUP.encode()):
                    value = record.value()
                    told.append(None if value is None else GroupEvent.from_bytes(value))
            return told[-1:] == [None]

        eventually(has_ended, message="its end is told")
