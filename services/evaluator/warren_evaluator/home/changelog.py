"""The changelog topics, from which the tables are recovered."""

from __future__ import annotations

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from warren.contracts.topics import MAX_MESSAGE_BYTES
from warren.errors import TopicMisconfigured, TopicMissing
from warren.kafka.connection import classify
from warren.kafka.topics import HOME, TIMEOUT, create_topics
from warren.settings import HomeSettings, Settings

TABLE = "windows"
MEMBERS = "members"
LATENESS = "lateness"
TABLES = (TABLE, MEMBERS, LATENESS)
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
        raise classify(HOME, "home", error.args[0]) from None
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
        _create(admin, home, name, partitions)
        return True
    if existing != partitions:
        raise TopicMisconfigured(
            HOME,
            SETTING,
            f"topic {name} has {existing} partitions but warren.offsets has {partitions}; "
            "delete the former, or choose another app_id: windows then begin anew",
        )
    return False


def _create(admin: AdminClient, home: HomeSettings, name: str, partitions: int) -> None:
    refusal = create_topics(admin, home, {name: CONFIG}, partitions)[name]
    # Another worker may be faster.
    if refusal is not None and refusal.code() != Code.TOPIC_ALREADY_EXISTS:
        raise classify(HOME, "home", refusal)
