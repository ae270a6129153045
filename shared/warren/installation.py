"""The names that one Warren has to itself, though it shares clusters and a cache with others."""

import re
from dataclasses import dataclass

DEFAULT_NAME = "warren"
NAME_PATTERN = r"^[A-Za-z0-9._-]{1,64}$"
COLLECTOR = "collector"
_GROUPS = (COLLECTOR, "evaluator", "freshness", "notifier", "archiver", "reader")
# Kafka's ids of clusters are UUIDs, in base 64 for URLs.
COLLECTORS_ANYWHERE = r"-collector-[A-Za-z0-9_-]{22}$"
"""Which groups are those of any Warren's collectors (a regular expression)."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One Warren: all processes that work together on the topics of one home cluster."""

    name: str = DEFAULT_NAME
    """`[home] instance`."""

    @property
    def topic_prefix(self) -> str:
        return f"{self.name}."

    @property
    def cache_prefix(self) -> str:
        """Of keys in Redis."""
        return f"{self.name}:"

    def group(self, service: str, configured: str = "") -> str:
        """The consumer group of a service on the home cluster; `configured` wins."""
        return configured or f"{self.name}-{service}"

    def collectors(self, home_cluster: str, configured: str = "") -> str:
        """The consumer group of the collectors on a monitored cluster; `configured` wins.

        `home_cluster` is Kafka's id of the home cluster, empty where it has none: Warrens of the
        same name, each with a home of its own, may watch the same cluster.
        """
        if configured or not home_cluster:
            return self.group(COLLECTOR, configured)
        return f"{self.group(COLLECTOR)}-{home_cluster}"

    def client(self, service: str, host: str) -> str:
        """`client.id` of a service's connections."""
        return f"{self.name}-{service}-{host}"

    @property
    def groups(self) -> str:
        """Which groups are this Warren's, as it names them itself (a regular expression)."""
        return rf"^{re.escape(self.name)}-({'|'.join(_GROUPS)})(-|$)"
