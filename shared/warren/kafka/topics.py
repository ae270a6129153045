"""Warren's topics on the home cluster: creating them and checking them against the catalogue."""

from __future__ import annotations

from collections.abc import Iterator

import confluent_kafka
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from warren.contracts.topics import CATALOGUE, Topic
from warren.errors import TopicMisconfigured
from warren.kafka.connection import classify
from warren.settings import HomeSettings

HOME = "home"
TIMEOUT = 30.0


def ensure_topics(admin: AdminClient, home: HomeSettings) -> list[str]:
    """Creates the topics that are missing and returns their names; existing ones are left alone.

    Raises AuthorizationFailed, ClusterUnreachable, or TopicMisconfigured where the broker refuses
    the configuration.
    """
    existing = _existing(admin)
    missing = [t for t in CATALOGUE if t.full_name(home.topic_prefix) not in existing]
    if not missing:
        return []
    requests = [
        NewTopic(
            topic.full_name(home.topic_prefix),
            num_partitions=home.partitions,
            replication_factor=home.replication_factor,
            config=topic.config(),
        )
        for topic in missing
    ]
    created = []
    for name, future in admin.create_topics(requests, operation_timeout=TIMEOUT).items():
        try:
            future.result()
            created.append(name)
        except KafkaException as error:
            _tolerate_existing(name, error.args[0])
    _await_visible(admin, {request.topic for request in requests})
    return created


def _await_visible(admin: AdminClient, names: set[str]) -> None:
    """Brokers learn of a new topic a moment after its creation was acknowledged."""
    Retrying(
        retry=retry_if_result(lambda existing: not names <= existing.keys()),
        wait=wait_fixed(0.1),
        stop=stop_after_delay(TIMEOUT),
        retry_error_callback=lambda _: None,
    )(_existing, admin)


def _tolerate_existing(name: str, error: confluent_kafka.KafkaError) -> None:
    """Another service may have been faster."""
    if error.code() == confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS:
        return
    if error.code() in (
        confluent_kafka.KafkaError.INVALID_REPLICATION_FACTOR,
        confluent_kafka.KafkaError.INVALID_CONFIG,
        confluent_kafka.KafkaError.POLICY_VIOLATION,
    ):
        raise TopicMisconfigured(HOME, "home", f"topic {name}: {error.str()}")
    classified = classify(HOME, "home", error)
    classified.args = (f"{classified.args[0]} while creating topic {name}",)
    raise classified


def _existing(admin: AdminClient) -> dict[str, int]:
    """Number of partitions by topic name."""
    try:
        metadata = admin.list_topics(timeout=TIMEOUT)
    except KafkaException as error:
        raise classify(HOME, "home", error.args[0]) from None
    return {name: len(topic.partitions) for name, topic in metadata.topics.items()}


def check_topics(admin: AdminClient, home: HomeSettings) -> list[str]:
    """What differs from the catalogue, one sentence each; empty when all is well."""
    existing = _existing(admin)
    problems = []
    counts = set()
    for topic in CATALOGUE:
        name = topic.full_name(home.topic_prefix)
        if name not in existing:
            problems.append(f"{name}: missing; create it with `warren topics create`")
            continue
        counts.add(existing[name])
        problems += _differences(admin, topic, name)
    if len(counts) > 1:
        listed = ", ".join(str(count) for count in sorted(counts))
        problems.append(
            f"topics differ in their number of partitions ({listed}): one group must be in the "
            "same partition of all of them"
        )
    return problems


def _differences(admin: AdminClient, topic: Topic, name: str) -> Iterator[str]:
    resource = ConfigResource(ResourceType.TOPIC, name)
    try:
        entries = admin.describe_configs([resource])[resource].result(TIMEOUT)
    except KafkaException as error:
        raise classify(HOME, "home", error.args[0]) from None
    for key, wanted in topic.config().items():
        found = entries[key].value if key in entries else None
        if found is None or set(found.split(",")) != set(wanted.split(",")):
            yield f"{name}: {key} is {found}, the catalogue says {wanted}"
