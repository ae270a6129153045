"""What the worker must be allowed to do on the home cluster, checked before it starts.

A refusal in the middle of Faust's work ends in a traceback; here it is one line with the right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient
from warren.contracts.topics import DEAD_LETTERS, GROUPS, LAG, LAG_STATUS, OFFSETS
from warren.errors import AuthorizationFailed
from warren.kafka.connection import classify
from warren.kafka.topics import HOME, TIMEOUT
from warren.settings import Settings

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
        LAG.full_name(prefix): {WRITE},
        LAG_STATUS.full_name(prefix): {WRITE},
        DEAD_LETTERS.full_name(prefix): {WRITE},
        **{changelog_name(app, table): {READ, WRITE} for table in TABLES},
    }
    answers = admin.describe_topics(
        TopicCollection(list(needed)), include_authorized_operations=True, request_timeout=TIMEOUT
    )
    _require("topic", answers, needed)
    groups = admin.describe_consumer_groups(
        [app], include_authorized_operations=True, request_timeout=TIMEOUT
    )
    _require("group", groups, {app: {READ}})


def _require(
    kind: str, answers: Mapping[str, Any], needed: Mapping[str, set[AclOperation]]
) -> None:
    for name, operations in needed.items():
        try:
            allowed = answers[name].result().authorized_operations
        except KafkaException as error:
            raise classify(HOME, "home", error.args[0]) from None
        missing = [] if allowed is None else sorted(op.name for op in operations - set(allowed))
        if missing:
            rights = " and ".join(missing)
            raise AuthorizationFailed(HOME, "home.kafka", f"not authorised: {rights} {kind} {name}")
