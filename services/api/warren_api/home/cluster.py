"""Warren's own cluster, as far as the feed asks it for more than records."""

from __future__ import annotations

import structlog
from confluent_kafka.admin import AdminClient
from warren.errors import AuthorizationFailed, KafkaError, TopicMisconfigured
from warren.kafka.connection import answers, connect
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

        What may not be created from here may be there: reading tells.
        """
        if not self._home.create_topics:
            return
        try:
            ensure_topics(self._admin, self._home)
        except (AuthorizationFailed, TopicMisconfigured) as error:
            log.warning("topics not created", problem=error.problem)

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
