"""Who a collector is in its consumer group on a monitored cluster."""

from __future__ import annotations

from dataclasses import dataclass
from socket import gethostname

from warren.settings import ClusterSettings, Settings


@dataclass(frozen=True, slots=True)
class Membership:
    """`connection` is the cluster's, with the `client.id` by which collectors know each other."""

    group: str
    connection: ClusterSettings
    own_clients: str
    """What the `client.id` of this Warren's collectors begins with."""

    @classmethod
    def of(cls, settings: Settings, cluster: str, home_cluster: str) -> Membership:
        """`home_cluster` is Kafka's id of the home cluster."""
        installation = settings.home.installation
        own_clients = installation.collector_clients(home_cluster)
        return cls(
            installation.collectors(home_cluster, settings.collector.group_id),
            settings.clusters[cluster].of_client(own_clients + gethostname()),
            own_clients,
        )

    def is_own(self, client_id: str) -> bool:
        """Whether a member is a collector of this Warren's; a `client.id` that is set is ours."""
        return client_id.startswith(self.own_clients) or client_id == self.connection.client_id
