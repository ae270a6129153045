"""What must be true of the home cluster before the worker starts."""

import asyncio

import structlog
from confluent_kafka import KafkaError as Code, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed
from warren.contracts.topics import (
    DEAD_LETTERS,
    FRESHNESS,
    GROUPS,
    INCIDENTS,
    LAG,
    LAG_STATUS,
    MAX_MESSAGE_BYTES,
    OFFSETS,
    TRENDS,
)
from warren.errors import AuthorizationFailed, ClusterUnreachable, TopicMisconfigured, TopicMissing
from warren.kafka.connection import awaited
from warren.kafka.topics import HOME, TIMEOUT, create_topics, ensure_topics, home_error
from warren.settings import HomeSettings, Settings
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.groups import ClassicGroup, GroupRefused, describe_group

# The changelog topics, from which the tables are recovered.


TABLE = "windows"
MEMBERS = "members"
LATENESS = "lateness"
TABLES = (TABLE, MEMBERS, LATENESS, "incidents")
SETTING = "evaluator.app_id"
CONFIG = {
    "cleanup.policy": "compact",
    "compression.type": "producer",
    "max.message.bytes": str(2 * MAX_MESSAGE_BYTES),
    # Every evaluation rewrites its group's entry: small segments and an eager cleaner keep short
    # what a restart must read.
    "segment.bytes": str(32 * 2**20),
    "segment.ms": "600000",
    "min.cleanable.dirty.ratio": "0.2",
    "max.compaction.lag.ms": "900000",
    "delete.retention.ms": "3600000",
}


def app_id(settings: Settings) -> str:
    """Faust's application, its consumer group, and what the changelog's name begins with."""
    return settings.home.installation.group("evaluator", settings.evaluator.app_id)


def changelog_name(app_id: str, table: str = TABLE) -> str:
    """As Faust names it."""
    return f"{app_id}-{table}-changelog"


def partition_counts(admin: AdminClient) -> dict[str, int]:
    """Number of partitions by topic. Raises warren.errors.KafkaError."""
    try:
        metadata = admin.list_topics(timeout=TIMEOUT)
    except KafkaException as error:
        raise home_error(error.args[0]) from None
    return {name: len(topic.partitions) for name, topic in metadata.topics.items()}


def ensure_changelog(
    admin: AdminClient,
    home: HomeSettings,
    app_id: str,
    partitions: int,
    existing: int | None,
    table: str = TABLE,
) -> bool:
    """Creates it if it is missing, and says whether it did.

    `partitions` is the number that `warren.offsets` has: the changelog must have as many.
    `existing` is how many it has now. Raises warren.errors.KafkaError.
    """
    name = changelog_name(app_id, table)
    if existing is None:
        if not home.create_topics:
            raise TopicMissing(HOME, "home.create_topics", f"topic {name} does not exist")
        refusal = create_topics(admin, home, {name: CONFIG}, partitions)[name]
        # Another worker may be faster.
        if refusal is not None and refusal.code() != Code.TOPIC_ALREADY_EXISTS:
            raise home_error(refusal)
        return True
    if existing != partitions:
        raise TopicMisconfigured(
            HOME,
            SETTING,
            f"topic {name} has {existing} partitions but warren.offsets has {partitions}; "
            "delete the former, or choose another app_id: windows then begin anew",
        )
    return False


# What the worker must be allowed to do on the home cluster, checked before it starts.


READ, WRITE = AclOperation.READ, AclOperation.WRITE


def check_rights(admin: AdminClient, settings: Settings) -> None:
    """Raises AuthorizationFailed for the first right that is missing.

    A broker without authorization, or too old to tell (before 2.3), allows everything here.
    """
    prefix, app = settings.home.topic_prefix, app_id(settings)
    needed = {
        OFFSETS.full_name(prefix): {READ},
        GROUPS.full_name(prefix): {READ},
        FRESHNESS.full_name(prefix): {READ},
        LAG.full_name(prefix): {WRITE},
        LAG_STATUS.full_name(prefix): {READ, WRITE},
        INCIDENTS.full_name(prefix): {WRITE},
        TRENDS.full_name(prefix): {WRITE},
        DEAD_LETTERS.full_name(prefix): {WRITE},
        **{changelog_name(app, table): {READ, WRITE} for table in TABLES},
    }
    answers = admin.describe_topics(
        TopicCollection(list(needed)), include_authorized_operations=True, request_timeout=TIMEOUT
    )
    for topic, operations in needed.items():
        try:
            allowed = awaited(answers[topic], TIMEOUT).authorized_operations
        except KafkaException as error:
            raise home_error(error.args[0]) from None
        if allowed is not None:
            _require(f"topic {topic}", operations - set(allowed))
    _check_group(settings.home, app)


def _check_group(home: HomeSettings, group: str) -> None:
    try:
        allowed = asyncio.run(_described(home, group)).authorized_operations
    except GroupRefused:
        allowed = 0
    except UNANSWERED as error:
        problem = f"the coordinator of group {group} does not answer: {error!r}"
        raise ClusterUnreachable(HOME, "home.bootstrap", problem) from None
    if allowed is not None and not allowed & (1 << READ.value):
        _require(f"group {group}", {READ})


async def _described(home: HomeSettings, group: str) -> ClassicGroup:
    brokers = Brokers(HOME, "home", home)
    try:
        return await describe_group(brokers, group)
    finally:
        await brokers.close()


def _require(on: str, missing: set[AclOperation]) -> None:
    if missing:
        rights = " and ".join(sorted(operation.name for operation in missing))
        raise AuthorizationFailed(HOME, "home.kafka", f"not authorised: {rights} {on}")


log = structlog.get_logger(__name__)
TOPICS = (OFFSETS, GROUPS, FRESHNESS, LAG, LAG_STATUS, INCIDENTS, TRENDS, DEAD_LETTERS)
VISIBLE_WITHIN = 10.0


def prepare(admin: AdminClient, settings: Settings) -> int:
    """Make and check what the worker needs. Returns the number of partitions of `warren.offsets`.

    Raises warren.errors.KafkaError for what is missing.
    """
    home, app = settings.home, app_id(settings)
    created = ensure_topics(admin, home) if home.create_topics else []
    counts = _counts_with(admin, created)
    partitions = common_partitions(counts, home.topic_prefix)
    for table in TABLES:
        changelog = changelog_name(app, table)
        if ensure_changelog(admin, home, app, partitions, counts.get(changelog), table):
            created = [*created, changelog]
    _counts_with(admin, created)
    if created:
        log.info("topics created", topics=created)
    check_rights(admin, settings)
    return partitions


def _counts_with(admin: AdminClient, created: list[str]) -> dict[str, int]:
    """Number of partitions by topic; brokers take a moment to know what was just created."""
    visible = Retrying(
        retry=retry_if_result(lambda counts: not counts.keys() >= set(created)),
        wait=wait_fixed(0.1),
        stop=stop_after_delay(VISIBLE_WITHIN),
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    return visible(partition_counts, admin)


def common_partitions(counts: dict[str, int], prefix: str) -> int:
    """One group must be in the same partition of all topics."""
    names = [topic.full_name(prefix) for topic in TOPICS]
    for name in names:
        if name not in counts:
            raise TopicMissing(HOME, "home.topic_prefix", f"topic {name} does not exist (yet)")
    offsets, *others = names
    for name in others:
        if counts[name] != counts[offsets]:
            raise TopicMisconfigured(
                HOME,
                "home.partitions",
                f"topic {name} has {counts[name]} partitions but {offsets} has {counts[offsets]}",
            )
    return counts[offsets]
