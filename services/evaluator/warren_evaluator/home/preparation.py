"""What must be true of the home cluster before the worker starts; waits until it is."""

from __future__ import annotations

import threading

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
from warren.errors import KafkaError, TopicMisconfigured, TopicMissing
from warren.kafka.connection import await_connection, log_retry
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
LONGEST_WAIT = 15.0  # seconds
VISIBLE_WITHIN = 10.0
CONNECT_WITHIN = 5.0


def await_home(settings: Settings, stop: threading.Event) -> int | None:
    """The number of partitions of `warren.offsets`; None when `stop` was set.

    Everything that is wrong is logged, one line per attempt, and tried again.
    """
    attempt = 0
    while not stop.is_set():
        admin = await_connection(HOME, "home", settings.home, stop, CONNECT_WITHIN)
        if admin is None:
            return None
        try:
            return _prepare(admin, settings)
        except KafkaError as error:
            log_retry(error)
        attempt += 1
        stop.wait(min(LONGEST_WAIT, 2.0 ** min(attempt, 4)))
    return None


def _prepare(admin: AdminClient, settings: Settings) -> int:
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
