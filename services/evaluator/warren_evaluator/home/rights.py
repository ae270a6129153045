"""What the worker must be allowed to do on the home cluster, checked before it starts.

A refusal in the middle of Faust's work ends in a traceback; here it is one line with the right.
"""

from __future__ import annotations

import asyncio

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient
from warren.contracts.topics import (
    DEAD_LETTERS,
    FRESHNESS,
    GROUPS,
    LAG,
    LAG_STATUS,
    OFFSETS,
    TRENDS,
)
from warren.errors import AuthorizationFailed, ClusterUnreachable
from warren.kafka.connection import awaited, classify
from warren.kafka.topics import HOME, TIMEOUT
from warren.settings import HomeSettings, Settings
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.groups import ClassicGroup, GroupRefused, describe_group

from warren_evaluator.home.changelog import TABLES, app_id, changelog_name

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
        LAG_STATUS.full_name(prefix): {WRITE},
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
            raise classify(HOME, "home", error.args[0]) from None
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
