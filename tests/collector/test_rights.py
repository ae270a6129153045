"""A cluster with passwords and rights: docs/operations.md names all that is needed, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as Partition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from support.collector_lab import CLUSTER, Lab
from support.servers import embedded_kafka
from warren.kafka.topics import ensure_topics
from warren.settings import ClusterSettings, HomeSettings, Settings
from warren_collector import stack, topic_metadata
from warren_local.kafka import EmbeddedKafka
from warren_local.kafka_properties import Listener
from warren_local.ports import free_port

pytestmark = pytest.mark.integration

LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
USERS = 'user_watcher="right" user_asker="right" user_publisher="right"'
PROPERTIES = {
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.secured.plain.sasl.jaas.config": f"{LOGIN} {USERS};",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",  # whoever comes through the plain listener
}
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE


class Secured:
    """A broker as its administrator sees it, and settings of users with rights."""

    def __init__(self, lab: Lab, port: int) -> None:
        self.lab = lab
        self._bootstrap = f"127.0.0.1:{port}"

    def grant(self, user: str, kind: ResourceType, name: str, operation: AclOperation) -> None:
        literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
        acl = AclBinding(kind, name, literal, f"User:{user}", "*", operation, allow)
        for future in self.lab.admin.create_acls([acl]).values():
            future.result(30)

    def asking(self) -> Settings:
        """With source `admin_api`, and a user of its own."""
        settings = self.settings()
        watched = settings.clusters[CLUSTER]
        asked = watched.model_copy(
            update={
                "source": "admin_api",
                "kafka": ClusterSettings(bootstrap="-:1", kafka=_login("asker", "right")).kafka,
            }
        )
        collector = settings.collector.model_copy(update={"describe_interval": 0.5})
        update = {"clusters": {CLUSTER: asked}, "collector": collector}
        return settings.model_copy(update=update)

    def settings(self) -> Settings:
        plain = self.lab.settings()
        home = HomeSettings(
            bootstrap=self._bootstrap,
            kafka=_login("publisher", "right"),
            topic_prefix=plain.home.topic_prefix,
            create_topics=False,
        )
        groups = plain.clusters[CLUSTER].groups_allow
        clusters = {
            name: ClusterSettings(
                bootstrap=self._bootstrap, kafka=_login("watcher", password), groups_allow=groups
            )
            for name, password in ((CLUSTER, "right"), ("stranger", "wrong"))
        }
        return plain.model_copy(update={"home": home, "clusters": clusters})


def _login(user: str, password: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": password,
    }


@pytest.fixture(scope="module")
def secured_kafka(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedKafka]:
    with embedded_kafka(
        pytestconfig.rootpath,
        tmp_path_factory.mktemp("secured"),
        listeners={"SECURED": Listener(free_port(), "SASL_PLAINTEXT")},
        properties=PROPERTIES,
    ) as kafka:
        yield kafka


@pytest.fixture
def secured(
    secured_kafka: EmbeddedKafka, unique: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Secured]:
    monkeypatch.setattr(stack, "RESTART_AFTER", 0.5)
    monkeypatch.setattr(topic_metadata, "MAX_AGE", 0.5)
    plain = {"bootstrap.servers": secured_kafka.bootstrap}
    with ExitStack() as closing:
        lab = Lab(secured_kafka.bootstrap, unique, AdminClient(plain), Producer(plain), closing)
        yield Secured(lab, secured_kafka.options.listeners["SECURED"].port)


def test_offsets_topic_with_the_rights_that_are_documented(secured: Secured) -> None:
    lab, settings = secured.lab, secured.settings()
    topic, group = lab.create_topic("orders"), f"{lab.name}-group"
    lab.produce(topic, [(None, b"x")] * 5)
    lab.commit(group, [Partition(topic, 0, 3)])
    ensure_topics(lab.admin, lab.settings().home)
    for name in ("offsets", "groups", "clusters", "dead-letters"):
        secured.grant("publisher", TOPIC, lab.prefix + name, WRITE)

    with lab.collecting(settings) as collector:
        events = lab.events()

        def refused_for(cluster: str, text: str) -> None:
            events.until(
                lambda: (
                    events.cluster_states().get(cluster) == "refused"
                    and text in events.problem(cluster)
                ),
                f"{cluster} is refused: {text}",
                timeout=60,
            )

        refused_for("stranger", "clusters.stranger.kafka")
        refused_for(CLUSTER, f"clusters.{CLUSTER}.kafka")
        assert "wrong" not in str(events.clusters)
        secured.grant("watcher", TOPIC, "__consumer_offsets", READ)
        refused_for(CLUSTER, "roup")  # "Group authorization failed", as the broker says it
        secured.grant("watcher", GROUP, settings.collector.group_id, READ)
        events.until(lambda: events.of(group), "the group is published", timeout=60)
        assert events.committed(group) == {(topic, 0): 3}
        assert events.of(group)[-1].topics[topic].log_end == [-1]
        secured.grant("watcher", TOPIC, topic, DESCRIBE)
        events.until(
            lambda: events.of(group)[-1].topics[topic].log_end == [5], "its log end is known"
        )
        events.until(lambda: events.cluster_states()[CLUSTER] == "ok", "all is well")
        assert events.cluster_states()["stranger"] == "refused"
        assert not collector.is_ready


def test_admin_api_with_the_rights_that_are_documented(secured: Secured) -> None:
    lab, settings = secured.lab, secured.asking()
    topic, group, other = lab.create_topic("orders"), f"{lab.name}-group", f"{lab.name}-other"
    lab.produce(topic, [(None, b"x")] * 5)
    for name in (group, other):
        lab.commit(name, [Partition(topic, 0, 3)])
    ensure_topics(lab.admin, lab.settings().home)
    for name in ("offsets", "groups", "clusters", "dead-letters"):
        secured.grant("publisher", TOPIC, lab.prefix + name, WRITE)
    secured.grant("publisher", TOPIC, f"{lab.prefix}groups", READ)
    secured.grant("publisher", GROUP, f"{settings.collector.group_id}-{CLUSTER}", READ)

    with lab.ready(settings):
        events = lab.events()
        events.until(lambda: events.cluster_states().get(CLUSTER) == "ok", "all is well")
        secured.grant("asker", GROUP, group, DESCRIBE)
        events.until(lambda: events.state(group), "the group is told of")
        secured.grant("asker", TOPIC, topic, DESCRIBE)
        events.until(lambda: events.committed(group) == {(topic, 0): 3}, "and published")
        events.until(
            lambda: events.of(group)[-1].topics[topic].log_end == [5], "its log end is known"
        )
        state = events.state(group)
        assert state is not None
        assert (state.state, state.coordinator) == ("Empty", 1)
        assert events.of(other) == []
        assert other not in events.groups
