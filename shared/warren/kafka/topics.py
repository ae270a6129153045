"""Warren's topics on the home cluster: creating them.

The home cluster before a service works there: connected, and prepared; waits until it is.
"""

import threading
from collections.abc import Callable, Mapping, Set
from concurrent.futures import Future
from typing import TypeVar

import confluent_kafka
from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ClusterMetadata, NewTopic, OffsetSpec
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from warren.contracts.topics import CATALOGUE
from warren.errors import KafkaError, TopicMisconfigured
from warren.kafka.connection import await_connection, awaited, classify, log_retry
from warren.kafka.trouble import Trouble
from warren.settings import HomeSettings

HOME = "home"
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
    classified = classify(HOME, "home", error)
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
        raise classify(HOME, "home", error.args[0]) from None


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
