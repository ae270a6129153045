"""Warren's topics on the home cluster: creating them.

The home cluster before a service works there: connected, and prepared; waits until it is.

Checking compares them with the catalogue and the settings.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

import confluent_kafka
from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ClusterMetadata,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from tenacity import (
    Retrying,
    retry,
    retry_if_exception_type,
    retry_if_result,
    stop_after_delay,
    wait_fixed,
)

from warren.contracts.topics import CATALOGUE, Topic
from warren.errors import KafkaError, TopicMisconfigured, TopicMissing
from warren.kafka.connection import Trouble, await_connection, awaited, classify, log_retry
from warren.settings import HomeSettings

HOME = "home"


def home_error(error: confluent_kafka.KafkaError) -> KafkaError:
    """The class of error of the home cluster's that an operator can act on."""
    return classify(HOME, HOME, error)


MIN_INSYNC_REPLICAS = "min.insync.replicas"
TIMEOUT = 30.0  # seconds
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # not annotated there
_COMMITTED = IsolationLevel.READ_COMMITTED
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # not annotated there


def ensure_topics(admin: AdminClient, home: HomeSettings) -> list[str]:
    """Creates the topics that are missing and returns their names; existing ones are left alone.

    Raises AuthorizationFailed, ClusterUnreachable, or TopicMisconfigured where the broker refuses
    the configuration.
    """
    existing = cluster_metadata(admin).topics
    missing = [t for t in CATALOGUE if t.full_name(home.topic_prefix) not in existing]
    if not missing:
        return []
    configs = {topic.full_name(home.topic_prefix): topic.config() for topic in missing}
    created = []
    for name, refusal in create_topics(admin, home, configs, home.partitions).items():
        if refusal is None:
            created.append(name)
        else:
            _tolerate_existing(name, refusal)
    metadata_with(admin, configs.keys(), TIMEOUT)
    return created


def create_topics(
    admin: AdminClient,
    home: HomeSettings,
    configs: Mapping[str, Mapping[str, str]],
    partitions: int,
) -> dict[str, confluent_kafka.KafkaError | None]:
    """Creates topics, replicated as the settings say: why each was refused, None where it was not.

    `configs`: by topic, as Kafka names things. Brokers before 2.4 want the number of replicas:
    `home.replication_factor`.
    """
    requests = [
        NewTopic(
            name,
            num_partitions=partitions,
            replication_factor=home.replication_factor,
            config={**config, **replication_config(home)},
        )
        for name, config in configs.items()
    ]
    answers = admin.create_topics(requests, operation_timeout=TIMEOUT, request_timeout=TIMEOUT)
    return {name: _refusal(future) for name, future in answers.items()}


def replication_config(home: HomeSettings) -> dict[str, str]:
    """What each topic has beside the catalogue's; nothing where the cluster decides."""
    wanted = home.min_insync_replicas
    return {} if wanted is None else {MIN_INSYNC_REPLICAS: str(wanted)}


def _refusal(created: Future[None]) -> confluent_kafka.KafkaError | None:
    try:
        awaited(created, TIMEOUT)
    except KafkaException as error:
        refusal: confluent_kafka.KafkaError = error.args[0]
        return refusal
    return None


def metadata_with(admin: AdminClient, names: Set[str], seconds: float) -> ClusterMetadata:
    """`cluster_metadata` with these topics; without those that are still not there after so long.

    Brokers learn of a new topic a moment after its creation was acknowledged.
    """
    return Retrying(
        retry=retry_if_result(lambda metadata: not names <= metadata.topics.keys()),
        wait=wait_fixed(0.1),
        stop=stop_after_delay(seconds),
        retry_error_callback=lambda _: cluster_metadata(admin),
    )(cluster_metadata, admin)


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
    classified = home_error(error)
    classified.args = (f"{classified.args[0]} while creating topic {name}",)
    raise classified


def cluster_id(admin: AdminClient) -> str:
    """Kafka's id of the home cluster; empty where it has none. Raises warren.errors.KafkaError."""
    return cluster_metadata(admin).cluster_id or ""  # type: ignore[redundant-expr]  # may be None


def cluster_metadata(admin: AdminClient) -> ClusterMetadata:
    """The home cluster's brokers and topics. Raises warren.errors.KafkaError."""
    try:
        return admin.list_topics(timeout=TIMEOUT)
    except KafkaException as error:
        raise home_error(error.args[0]) from None


def log_starts(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Log start offsets by partition. Raises KafkaException."""
    return _list(admin, topic, _EARLIEST)


def log_ends(admin: AdminClient, topic: str) -> Mapping[int, int]:
    """Where what can be read ends, by partition: before transactions that are open.

    Raises KafkaException.
    """
    return _list(admin, topic, _LATEST)


def _list(admin: AdminClient, topic: str, spec: OffsetSpec) -> Mapping[int, int]:
    # Besides the partitions, this brings their leaders, which list_offsets does not ask for where a
    # new topic had none: librdkafka would keep that for 15 minutes (metadata.max.age.ms).
    metadata = admin.list_topics(topic, timeout=TIMEOUT).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    wanted = {TopicPartition(topic, partition): spec for partition in metadata.partitions}
    answers = admin.list_offsets(wanted, isolation_level=_COMMITTED, request_timeout=TIMEOUT)
    return {place.partition: awaited(answer, TIMEOUT).offset for place, answer in answers.items()}


LONGEST_WAIT = 15.0  # seconds between two attempts; they begin 2 s apart
CONNECT_WITHIN = 5.0  # seconds
Prepared = TypeVar("Prepared")


def await_home(
    home: HomeSettings,
    prepare: Callable[[AdminClient], Prepared],
    stop: threading.Event,
    trouble: Trouble,
) -> Prepared | None:
    """What `prepare` returns once it raises no KafkaError; None when `stop` was set.

    What it waits for, a cluster that does not answer or a right that is missing, is told once an
    attempt, and is the `trouble` meanwhile.
    """
    attempt = 0
    while not stop.is_set():
        admin = await_connection(HOME, HOME, home, stop, CONNECT_WITHIN, trouble.note)
        if admin is None:
            return None
        try:
            prepared = prepare(admin)
        except KafkaError as error:
            log_retry(error)
            trouble.note(error)
        else:
            trouble.over()
            return prepared
        attempt += 1
        stop.wait(min(LONGEST_WAIT, 2.0 ** min(attempt, 4)))
    return None


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
        raise home_error(error.args[0]) from None
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
