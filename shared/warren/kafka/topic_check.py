"""Warren's topics on the home cluster, compared with the catalogue and the settings."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from warren.contracts.topics import CATALOGUE, Topic
from warren.errors import TopicMissing
from warren.kafka.connection import awaited, classify
from warren.kafka.topics import (
    HOME,
    MIN_INSYNC_REPLICAS,
    TIMEOUT,
    metadata_with,
    replication_config,
)
from warren.settings import HomeSettings

CLUSTERS_CHOICE = "the cluster's default"
_HEARD_OF = 5.0
"""Seconds; what one broker has created all of them have heard of by then."""


@dataclass(frozen=True, slots=True)
class TopicsCheck:
    """What was found, one sentence each."""

    problems: list[str]
    """What differs from the catalogue or the settings, or cannot work; empty when all is well."""
    warnings: list[str]
    """What works, but loses records when one broker is lost."""
    replication: list[str]
    """Replicas and `min.insync.replicas`, wanted and found; topics that are alike in one."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A topic as it is."""

    name: str
    partitions: int
    replicas: int
    config: Mapping[str, str | None]

    @property
    def min_insync_replicas(self) -> int:
        return int(self.config.get(MIN_INSYNC_REPLICAS) or 1)


def check_topics(admin: AdminClient, home: HomeSettings) -> TopicsCheck:
    """Raises warren.errors.KafkaError."""
    names = {topic: topic.full_name(home.topic_prefix) for topic in CATALOGUE}
    metadata = metadata_with(admin, set(names.values()), _HEARD_OF)
    found = {}
    problems = []
    for topic, name in names.items():
        if name not in metadata.topics:
            problems.append(f"{name}: missing; create it with `warren topics create`")
            continue
        partitions = metadata.topics[name].partitions
        replicas = min((len(p.replicas) for p in partitions.values()), default=0)
        found[topic] = _Found(name, len(partitions), replicas, _config(admin, name))
        problems += _differences(topic, found[topic], home)
    counts = {topic.partitions for topic in found.values()}
    if len(counts) > 1:
        listed = ", ".join(str(count) for count in sorted(counts))
        problems.append(
            f"topics differ in their number of partitions ({listed}): one group must be in the "
            "same partition of all of them"
        )
    topics = list(found.values())
    return TopicsCheck(
        problems, list(_warnings(topics, len(metadata.brokers))), _replication(topics, home)
    )


@retry(
    retry=retry_if_exception_type(TopicMissing),
    wait=wait_fixed(0.1),
    stop=stop_after_delay(_HEARD_OF),
    reraise=True,
)
def _config(admin: AdminClient, name: str) -> dict[str, str | None]:
    """Of a topic that is there, though the broker that is asked may not have heard of it yet."""
    resource = ConfigResource(ResourceType.TOPIC, name)
    try:
        answers = admin.describe_configs([resource], request_timeout=TIMEOUT)
        entries = awaited(answers[resource], TIMEOUT)
    except KafkaException as error:
        raise classify(HOME, "home", error.args[0]) from None
    return {key: entry.value for key, entry in entries.items()}


def _differences(topic: Topic, found: _Found, home: HomeSettings) -> Iterator[str]:
    for key, wanted in topic.config().items():
        value = found.config.get(key)
        if value is None or set(value.split(",")) != set(wanted.split(",")):
            yield f"{found.name}: {key} is {value}, the catalogue says {wanted}"
    if home.replication_factor not in (-1, found.replicas):
        yield (
            f"{found.name}: replication factor is {found.replicas}, "
            f"home.replication_factor says {home.replication_factor}"
        )
    for key, wanted in replication_config(home).items():
        if found.config.get(key) != wanted:
            yield (
                f"{found.name}: {key} is {found.config.get(key)}, "
                f"home.min_insync_replicas says {wanted}"
            )
    if found.min_insync_replicas > found.replicas:
        yield (
            f"{found.name}: {MIN_INSYNC_REPLICAS} is {found.min_insync_replicas}, "
            f"but the replication factor is {found.replicas}: nothing can be written"
        )


def _warnings(topics: list[_Found], brokers: int) -> Iterator[str]:
    for topic in topics:
        if topic.replicas == 1 < brokers:
            yield (
                f"{topic.name}: replication factor is 1 on a cluster of {brokers} brokers: "
                "what it holds is gone when one of them is lost"
            )
        elif topic.replicas > 1 == topic.min_insync_replicas:
            yield (
                f"{topic.name}: {MIN_INSYNC_REPLICAS} is 1: a record may count as written while "
                "only one broker has it"
            )


def _replication(topics: list[_Found], home: HomeSettings) -> list[str]:
    replicas = CLUSTERS_CHOICE if home.replication_factor < 0 else str(home.replication_factor)
    insync = CLUSTERS_CHOICE if home.min_insync_replicas is None else str(home.min_insync_replicas)
    alike = Counter((topic.replicas, topic.min_insync_replicas) for topic in topics)
    return [
        f"{count} topics: replication factor {found} (wanted: {replicas}), "
        f"{MIN_INSYNC_REPLICAS} {found_insync} (wanted: {insync})"
        for (found, found_insync), count in sorted(alike.items())
    ]
