"""A cluster with passwords and rights: docs/operations.md names all that is needed, and no more."""

from collections.abc import Iterator

import pytest
from confluent_kafka import TopicPartition as Partition
from support.collector_lab import CLUSTER, Lab
from support.secured_kafka import (
    DESCRIBE,
    GROUP,
    READ,
    TOPIC,
    WRITE,
    SecuredKafka,
)
from warren.kafka.topics import ensure_topics
from warren.settings import ClusterSettings, HomeSettings, Settings
from warren_collector.cluster import stack
from warren_collector.logs import metadata


class Secured:
    """A broker as its administrator sees it, and settings of users with rights."""

    def __init__(self, lab: Lab, kafka: SecuredKafka) -> None:
        self.lab = lab
        self.publisher, self.user = kafka.user(), kafka.user()
        self._bootstrap = kafka.secured

    def prepare_home(self) -> None:
        """Warren's topics, and the rights to publish on them."""
        ensure_topics(self.lab.admin, self.lab.settings().home)
        for name in ("offsets", "groups", "clusters", "topics", "dead-letters"):
            self.publisher.grant(TOPIC, self.lab.prefix + name, WRITE)

    def commit(self, offset: int) -> tuple[str, str]:
        """A topic with 5 records and a group that has committed this offset there."""
        topic, group = self.lab.create_topic("orders"), f"{self.lab.name}-group"
        self.lab.produce(topic, [(None, b"x")] * 5)
        self.lab.commit(group, [Partition(topic, 0, offset)])
        return topic, group

    def settings(self, clusters: dict[str, str], **cluster: object) -> Settings:
        """`clusters`: passwords by name; `cluster`: other settings of each."""
        plain = self.lab.settings()
        home = HomeSettings(
            bootstrap=self._bootstrap,
            kafka=self.publisher.login(),
            topic_prefix=plain.home.topic_prefix,
            create_topics=False,
        )
        monitored = {
            name: ClusterSettings.model_validate(
                {
                    "bootstrap": self._bootstrap,
                    "kafka": self.user.login(password),
                    "groups_allow": plain.clusters[CLUSTER].groups_allow,
                    **cluster,
                }
            )
            for name, password in clusters.items()
        }
        return plain.model_copy(update={"home": home, "clusters": monitored})


@pytest.fixture
def secured(
    secured_kafka: SecuredKafka, unique: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Secured]:
    monkeypatch.setattr(stack, "RESTART_AFTER", 0.5)
    monkeypatch.setattr(metadata, "MAX_AGE", 0.5)
    with Lab.on(secured_kafka.bootstrap, unique) as lab:
        yield Secured(lab, secured_kafka)


def test_offsets_topic_with_the_rights_that_are_documented(secured: Secured) -> None:
    lab = secured.lab
    settings = secured.settings({CLUSTER: "right", "stranger": "wrong"})
    topic, group = secured.commit(3)
    secured.prepare_home()

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

        def refused_topics() -> list[str]:
            of_cluster = [e for e in events.clusters.values() if e and e.cluster == CLUSTER]
            return of_cluster[-1].refused_topics

        refused_for("stranger", "clusters.stranger.kafka")
        refused_for(CLUSTER, f"clusters.{CLUSTER}.kafka")
        assert "wrong" not in str(events.clusters)
        secured.user.grant(TOPIC, "__consumer_offsets", READ)
        refused_for(CLUSTER, "roup")  # "Group authorization failed", as the broker says it
        secured.user.grant(GROUP, settings.collector.group_id, READ)
        events.until(lambda: events.of(group), "the group is published", timeout=60)
        assert events.committed(group) == {(topic, 0): 3}
        assert events.of(group)[-1].topics[topic].log_end == [-1]
        events.until(lambda: refused_topics() == [topic], "the topic is named")
        secured.user.grant(TOPIC, topic, DESCRIBE)
        events.until(
            lambda: events.of(group)[-1].topics[topic].log_end == [5], "its log end is known"
        )
        events.until(lambda: events.cluster_states()[CLUSTER] == "ok", "all is well")
        events.until(lambda: refused_topics() == [], "no right is missing")
        assert events.cluster_states()["stranger"] == "refused"
        assert collector.is_ready, "who lets nobody in is not waited for"


def test_admin_api_with_the_rights_that_are_documented(secured: Secured) -> None:
    lab = secured.lab
    settings = secured.settings({CLUSTER: "right"}, source="admin_api")
    topic, group = secured.commit(3)
    secured.prepare_home()
    shares = f"{settings.collector.group_id}-{CLUSTER}"  # of the groups, among collectors
    secured.publisher.grant(TOPIC, f"{lab.prefix}groups", READ)
    secured.publisher.grant(GROUP, shares, READ)
    with lab.ready(settings):
        events = lab.events()
        events.until(lambda: events.cluster_states().get(CLUSTER) == "ok", "nothing is refused")
        assert events.of(group) == []  # what may not be described is not listed
        secured.user.grant(TOPIC, topic, DESCRIBE)
        secured.user.grant(GROUP, group, DESCRIBE)
        events.until(lambda: events.of(group), "the group is published", timeout=60)
        events.until(
            lambda: (
                events.committed(group) == {(topic, 0): 3}
                and events.of(group)[-1].topics[topic].log_end == [5]
            ),
            "its positions are known",
        )
