"""Warren's own cluster, as far as the feed asks it for more than records."""

from __future__ import annotations

import structlog
from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient
from warren.errors import AuthorizationFailed, KafkaError, TopicMisconfigured
from warren.kafka.connection import answers, awaited, classify, connect
from warren.kafka.topics import HOME, ensure_topics
from warren.settings import HomeSettings

log = structlog.get_logger(__name__)

ANSWER_SECONDS = 3.0


class HomeCluster:
    """A connection to the home cluster."""

    def __init__(self, admin: AdminClient, home: HomeSettings) -> None:
        self._admin = admin
        self._home = home

    @classmethod
    def connected(cls, home: HomeSettings) -> HomeCluster:
        """Raises ClusterUnreachable, AuthenticationFailed or AuthorizationFailed."""
        return cls(connect(HOME, HOME, home, ANSWER_SECONDS), home)

    def create_topics(self) -> None:
        """Those that are missing, if the settings say so and it is allowed.

        What may not be created from here may not be needed here either: reading tells.
        """
        if not self._home.create_topics:
            return
        try:
            ensure_topics(self._admin, self._home)
        except (AuthorizationFailed, TopicMisconfigured) as error:
            log.warning("topics not created", problem=error.problem)

    def can_read(self, topic: str) -> bool:
        """Whether it is there and may be read.

        Raises the classified error when the cluster does not answer.
        """
        try:
            # Of all topics: asking for one by its name may create it.
            if topic not in self._admin.list_topics(timeout=ANSWER_SECONDS).topics:
                return False
        except KafkaException as error:
            raise classify(HOME, HOME, error.args[0]) from None
        allowed = self._allowed(topic)
        return not allowed or AclOperation.READ in allowed

    def _allowed(self, topic: str) -> list[AclOperation]:
        """What may be done with it; nothing where the broker does not tell."""
        description = self._admin.describe_topics(
            TopicCollection([topic]),
            include_authorized_operations=True,
            request_timeout=ANSWER_SECONDS,
        )[topic]
        try:
            answer = awaited(description, ANSWER_SECONDS)
            return answer.authorized_operations or []
        except KafkaException:
            return []

    def problem(self) -> KafkaError | None:
        """Why it does not answer; None when it does.

        A client that finds no broker is made anew: it may have lost them all for good (`hearing`).
        """
        if answers(self._admin, ANSWER_SECONDS):
            return None
        try:
            self._admin = connect(HOME, HOME, self._home, ANSWER_SECONDS)
        except KafkaError as problem:
            return problem
        return None
