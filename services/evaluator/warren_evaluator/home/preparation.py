"""What must be true of the home cluster before the worker starts."""

from __future__ import annotations

import structlog
from confluent_kafka.admin import AdminClient
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed
from warren.contracts.topics import (
    DEAD_LETTERS,
    FRESHNESS,
    GROUPS,
    LAG,
    LAG_STATUS,
    OFFSETS,
    TRENDS,
)
from warren.errors import TopicMisconfigured, TopicMissing
from warren.kafka.topics import HOME, ensure_topics
from warren.settings import Settings

from warren_evaluator.home.changelog import (
    TABLES,
    app_id,
    changelog_name,
    ensure_changelog,
    partition_counts,
)
from warren_evaluator.home.rights import check_rights

log = structlog.get_logger(__name__)
TOPICS = (OFFSETS, GROUPS, FRESHNESS, LAG, LAG_STATUS, TRENDS, DEAD_LETTERS)
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
