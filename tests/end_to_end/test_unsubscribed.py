"""A new release reads one topic less: both ways to be rid of the old one, with real clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from support.kafka_schemas import load_schemas
from support.raw_requests import RawBroker, error_code
from support.running import Running
from support.servers import jars_directory
from support.waiting import eventually

pytestmark = [pytest.mark.timeout(600), pytest.mark.heavy]

OLD, KEPT = "release-old", "release-kept"


def produce(warren: Running, count: int) -> None:
    producer = Producer({"bootstrap.servers": warren.run["kafka"]})
    for topic in (OLD, KEPT):
        for _ in range(count):
            producer.produce(topic, b"x", partition=0)
    assert producer.flush(30) == 0


@contextmanager
def release(warren: Running, group: str, topics: list[str]) -> Iterator[Consumer]:
    options = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": warren.run["kafka"], **options})
    with closing(consumer):
        consumer.subscribe(topics)
        yield consumer


def read_all(consumer: Consumer, topics: list[str]) -> None:
    """Reads a record of each topic at least, and commits."""
    seen: set[str] = set()

    def has_read() -> bool:
        for message in consumer.consume(10, 0.5):
            if message.error() is None:
                seen.add(str(message.topic()))
        return seen.issuperset(topics)

    eventually(has_read, timeout=60, message=f"{topics} are read")
    consumer.commit(asynchronous=False)


def known(warren: Running, group: str) -> dict[str, Any]:
    """What the API says of the group; without partitions before it is known."""
    found: dict[str, Any] = warren.get(f"/api/v1/groups/{warren.run['cluster']}/{group}").json()
    return found


def topics_of(warren: Running, group: str) -> set[str]:
    return {each["topic"] for each in known(warren, group).get("partitions", [])}


def subscribed(warren: Running, group: str) -> list[str]:
    membership = known(warren, group).get("membership") or {"members": []}
    return [topic for each in membership["members"] for topic in each["subscription"]]


def test_both_remedies_end_it_while_warren_runs(
    warren: Running, pytestconfig: pytest.Config
) -> None:
    admin = AdminClient({"bootstrap.servers": warren.run["kafka"]})
    for future in admin.create_topics([NewTopic(OLD, 1, 1), NewTopic(KEPT, 1, 1)]).values():
        future.result(30)
    produce(warren, 20)
    groups = "release-kafka", "release-warren"
    for group in groups:
        with release(warren, group, [OLD, KEPT]) as consumer:
            read_all(consumer, [OLD, KEPT])
    with (
        release(warren, groups[0], [KEPT]) as first,
        release(warren, groups[1], [KEPT]) as second,
    ):
        produce(warren, 20)
        for group, consumer in zip(groups, (first, second), strict=True):
            read_all(consumer, [KEPT])
            eventually(lambda g=group: subscribed(warren, g) == [KEPT], message=f"{group} is new")
            eventually(lambda g=group: topics_of(warren, g) == {OLD, KEPT}, message=group)

        schemas = load_schemas(jars_directory(pytestconfig.rootpath), "kafka-clients")
        raw = RawBroker(warren.run["kafka"], schemas)
        partitions = [{"partition_index": 0}]
        deleted = raw.send(
            "OffsetDelete",
            {"group_id": groups[0], "topics": [{"name": OLD, "partitions": partitions}]},
        )
        assert error_code(deleted, 0) == 0
        path = f"/v3/kafka/{warren.run['cluster']}/consumer/{groups[1]}/topic/{OLD}"
        asked = httpx.delete(warren.run["api"] + path, timeout=10)
        assert asked.status_code == 200, asked.text
        for group in groups:
            eventually(lambda g=group: topics_of(warren, g) == {KEPT}, message=f"{group} is rid")
        at = {group: known(warren, group)["evaluated_at"] for group in groups}
        produce(warren, 20)
        for group, consumer in zip(groups, (first, second), strict=True):
            read_all(consumer, [KEPT])
            eventually(
                lambda g=group: known(warren, g)["evaluated_at"] != at[g],
                message=f"{group} is judged again",
            )
            assert topics_of(warren, group) == {KEPT}, "its old commit is still there"
