"""A broker with an authorizer, and a user who may not read everything."""

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from freshness.events import GROUP
from freshness.measured_cluster import MeasuredCluster
from freshness.timed_logs import MINUTE, TimedLogs
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from support.secured_kafka import TOPIC, SecuredKafka, User
from support.waiting import eventually
from warren.settings import ClusterSettings


@pytest.fixture
def user(secured_kafka: SecuredKafka) -> User:
    return secured_kafka.user()


def connection_of(user: User) -> ClusterSettings:
    return ClusterSettings.model_validate({"bootstrap": user.secured, "kafka": user.login()})


# Records' times in a cluster of two brokers, one of which ends and comes back.


@pytest.fixture
def logs(secured_kafka: SecuredKafka, unique: str) -> TimedLogs:
    return TimedLogs(secured_kafka.bootstrap, unique)


@pytest.fixture
def cluster(
    logs: TimedLogs, clock: ManualClock, no_redis: str, user: User
) -> Iterator[MeasuredCluster]:
    measured = MeasuredCluster(logs, clock, no_redis, cluster=connection_of(user))
    yield measured
    measured.close()


def test_each_topic_on_its_own(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, user: User
) -> None:
    readable, described, hidden = (logs.topic(n) for n in ("readable", "described", "hidden"))
    user.grant(TOPIC, readable, AclOperation.READ)
    user.grant(TOPIC, described, AclOperation.DESCRIBE)
    for topic in (readable, described, hidden):
        logs.produce(topic, [clock.now_ms() - MINUTE] * 3)
        cluster.commit(topic, [1])
    clock.advance(2)
    with capture_logs() as lines:
        topics = cluster.measure()[GROUP].topics
    found = {topic: (c.reason, c.freshness_ms, c.bound_ms) for topic, c in topics.items()}
    assert found == {
        readable: (["exact"], [MINUTE + 2000], [0]),
        # By offsets by time: between when all three were appended and when they were seen.
        described: (["estimated"], [MINUTE + 2000], [MINUTE]),
        hidden: (["not_authorised"], [None], [2000]),
    }
    # DESCRIBE_CONFIGS was granted nowhere: until when data is safe is unknown.
    assert topics[readable].time_to_loss_ms == [None]
    problems = [line["problem"] for line in lines if line["log_level"] == "warning"]
    assert any(f"READ on topic {described}" in problem for problem in problems)
    assert any(f"READ on topic {hidden}" in problem for problem in problems)


def test_who_may_not_see_sizes_is_told_so(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, user: User
) -> None:
    topic = logs.topic(retention_ms=str(60 * MINUTE), retention_bytes="2000000")
    user.grant(TOPIC, topic, AclOperation.READ, AclOperation.DESCRIBE_CONFIGS)
    logs.produce(topic, [clock.now_ms() - MINUTE] * 3)
    cluster.commit(topic, [1])
    with capture_logs() as lines:
        for _ in range(3):
            clock.advance(10)
            found = cluster.measure()[GROUP].topics[topic]
            assert (found.freshness_ms[0] is not None, found.time_to_loss_ms) == (True, [None])
            assert found.time_to_loss_reason == ["not_authorised"]
    problems = [line["problem"] for line in lines if "retention.bytes" in line.get("problem", "")]
    assert len(problems) == 1
    user.grant(ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE)

    def known_later() -> bool:
        clock.advance(301)  # when the right is asked for again
        cluster.commit(topic, [1])
        return cluster.measure()[GROUP].topics[topic].time_to_loss_reason == ["retention_ms"]

    eventually(known_later, message="the sizes are known")


def test_a_transaction_is_named_where_that_is_granted(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster, user: User
) -> None:
    """Its producer by READ on the topic, its name by DESCRIBE on the transactional id."""
    topic = logs.topic()
    user.grant(TOPIC, topic, AclOperation.READ)
    told = []
    for since in (30, 20):  # minutes
        with logs.open_transaction(topic, [clock.now_ms() - since * MINUTE]) as end:
            cluster.commit(topic, [(logs.range(topic)[1] - 1)])
            event = cluster.measure()[GROUP]
            assert event.topics[topic].reason == ["open_transaction"]
            told += event.open_transactions
            end(False)
        named = f"{logs.name}-{topic}-0"
        user.grant(ResourceType.TRANSACTIONAL_ID, named, AclOperation.DESCRIBE)
    assert [one.transactional_id for one in told] == [None, named]
    assert [one.hanging for one in told] == [True, True]
    assert told[0].producer_id == told[1].producer_id is not None
