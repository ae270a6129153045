"""A broker with an authorizer, and a user who may not read everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import TIMEOUT, TimedLogs
from structlog.testing import capture_logs
from support.servers import embedded_kafka
from support.waiting import eventually
from warren.clock import ManualClock
from warren.settings import ClusterSettings
from warren_local.kafka_properties import Listener
from warren_local.ports import HOST, free_port

pytestmark = pytest.mark.integration

MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class GuardedBroker:
    """`open` is where everything is allowed, `guarded` where users have names and rights."""

    open: str
    guarded: str


@pytest.fixture(scope="module")
def guarded_broker(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GuardedBroker]:
    port = free_port()
    users = 'username="broker" password="-" user_monitor="secret";'
    with embedded_kafka(
        pytestconfig.rootpath,
        tmp_path_factory.mktemp("guarded"),
        listeners={"GUARDED": Listener(port, "SASL_PLAINTEXT")},
        properties={
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "listener.name.guarded.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.guarded.plain.sasl.jaas.config": (
                f"org.apache.kafka.common.security.plain.PlainLoginModule required {users}"
            ),
        },
    ) as kafka:
        yield GuardedBroker(kafka.bootstrap, f"{HOST}:{port}")


@pytest.fixture
def logs(guarded_broker: GuardedBroker, unique: str) -> TimedLogs:
    return TimedLogs(guarded_broker.open, unique)


@pytest.fixture
def cluster(
    logs: TimedLogs, clock: ManualClock, no_redis: str, guarded_broker: GuardedBroker
) -> Iterator[MeasuredCluster]:
    connection = ClusterSettings.model_validate(
        {
            "bootstrap": guarded_broker.guarded,
            "kafka": {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": "monitor",
                "sasl.password": "secret",
            },
        }
    )
    measured = MeasuredCluster(logs, clock, no_redis, cluster=connection)
    yield measured
    measured.close()


def allow(logs: TimedLogs, topic: str, operation: AclOperation) -> None:
    acl = AclBinding(
        ResourceType.TOPIC,
        topic,
        ResourcePatternType.LITERAL,
        "User:monitor",
        "*",
        operation,
        AclPermissionType.ALLOW,
    )
    logs.admin.create_acls([acl])[acl].result(TIMEOUT)


def test_each_topic_on_its_own(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    readable, described, hidden = (logs.topic(n) for n in ("readable", "described", "hidden"))
    allow(logs, readable, AclOperation.READ)
    allow(logs, described, AclOperation.DESCRIBE)
    for topic in (readable, described, hidden):
        logs.produce(topic, [clock.now_ms() - MINUTE] * 3)
        cluster.commit(topic, [1])
    clock.advance(2)
    with capture_logs() as lines:
        topics = cluster.measure()[GROUP].topics
    found = {topic: (c.reason, c.freshness_ms, c.bound_ms) for topic, c in topics.items()}
    assert found == {
        readable: (["exact"], [MINUTE + 2000], [0]),
        described: (["not_authorised"], [None], [2000]),
        hidden: (["not_authorised"], [None], [2000]),
    }
    # DESCRIBE_CONFIGS was granted nowhere: until when data is safe is unknown.
    assert topics[readable].time_to_loss_ms == [None]
    problems = [line["problem"] for line in lines if line["log_level"] == "warning"]
    assert any(f"READ on topic {described}" in problem for problem in problems)
    assert any(f"READ on topic {hidden}" in problem for problem in problems)


def test_rights_that_are_granted_later(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic(retention_ms=str(60 * MINUTE))
    logs.produce(topic, [clock.now_ms() - MINUTE] * 3)
    cluster.commit(topic, [1])
    assert cluster.measure()[GROUP].topics[topic].reason == ["not_authorised"]
    allow(logs, topic, AclOperation.READ)
    allow(logs, topic, AclOperation.DESCRIBE_CONFIGS)

    def measured_later() -> bool:
        clock.advance(400)  # when leaders and retention are asked for again
        cluster.commit(topic, [1])
        columns = cluster.measure()[GROUP].topics[topic]
        return columns.reason == ["exact"] and columns.time_to_loss_ms != [None]

    eventually(measured_later, message="the topic is read and its retention known")


def test_a_wrong_password(
    logs: TimedLogs, clock: ManualClock, no_redis: str, guarded_broker: GuardedBroker
) -> None:
    topic = logs.topic()
    logs.produce(topic, [clock.now_ms() - MINUTE] * 3)
    connection = ClusterSettings.model_validate(
        {
            "bootstrap": guarded_broker.guarded,
            "kafka": {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": "monitor",
                "sasl.password": "wrong",
            },
        }
    )
    cluster = MeasuredCluster(logs, clock, no_redis, cluster=connection)
    cluster.commit(topic, [1])
    with capture_logs() as lines:
        for _ in range(2):
            assert cluster.measure()[GROUP].topics[topic].reason == ["timeout"]
    cluster.close()
    (problem,) = [line for line in lines if line.get("setting") == "clusters.prod.kafka"]
    assert problem["problem"].startswith("authentication failed")
