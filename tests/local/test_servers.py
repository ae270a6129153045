from __future__ import annotations

from pathlib import Path

import pytest
import redis
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient
from support.servers import embedded_kafka, embedded_valkey, embedded_zookeeper
from warren_local.kafka import answers, new_cluster_id
from warren_local.ports import accepts_connections


def _round_trip(bootstrap: str, topic: str) -> bytes | None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, b"hello")
    assert producer.flush(30) == 0
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    message = consumer.consume(1, timeout=30)[0]
    consumer.commit(message, asynchronous=False)
    consumer.close()
    return message.value()


@pytest.mark.smoke
@pytest.mark.kafka
def test_embedded_kafka_serves_and_keeps_its_data_over_a_restart(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    with embedded_kafka(pytestconfig.rootpath, tmp_path) as kafka:
        assert _round_trip(kafka.bootstrap, "one") == b"hello"
        kafka.stop()
        assert not accepts_connections(kafka.options.port)
        kafka.start()
        assert answers(kafka.bootstrap)
        assert (
            "one"
            in AdminClient({"bootstrap.servers": kafka.bootstrap}).list_topics(timeout=10).topics
        )
    log = (tmp_path / "kafka.log").read_text()
    assert "Kafka Server started" in log


@pytest.mark.smoke
@pytest.mark.servers
def test_embedded_valkey_serves_and_stops(tmp_path: Path) -> None:
    with embedded_valkey(tmp_path) as url:
        client = redis.Redis.from_url(url)
        client.set("key", "value")
        assert client.get("key") == b"value"
        client.close()
        port = int(url.split(":")[2].split("/")[0])
        assert accepts_connections(port)
    assert not accepts_connections(port)


@pytest.mark.smoke
@pytest.mark.servers
def test_embedded_zookeeper_serves_and_stops(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    with embedded_zookeeper(pytestconfig.rootpath, tmp_path) as zookeeper:
        client = KazooClient(zookeeper.hosts)
        client.start(30)
        client.create("/one", b"hello")
        assert client.get("/one")[0] == b"hello"
        client.stop()
        client.close()
    assert not accepts_connections(zookeeper.port)


def test_the_shared_servers_answer(broker, redis_url: str, unique: str) -> None:  # type: ignore[no-untyped-def]
    assert _round_trip(broker.bootstrap, unique) == b"hello"
    client = redis.Redis.from_url(redis_url)
    assert client.ping()
    client.close()


def test_a_cluster_id_is_never_taken_for_an_option() -> None:
    ids = {new_cluster_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert {len(one) for one in ids} == {22}
    assert not [one for one in ids if one.startswith("-")]
