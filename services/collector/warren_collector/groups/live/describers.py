"""Who consumes for a group that is kept in ZooKeeper.

`/consumers/<group>/ids/<consumer>` is there while the consumer is, and says in JSON what it wants;
`/consumers/<group>/owners/<topic>/<partition>` names the consumer's thread that owns the partition.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from warren.contracts import GroupMember
from warren.kafka.connection import Refusals
from warren.settings import KafkaConnection
from warren_wire.brokers import Brokers
from warren_wire.metadata import GROUP_NOT_AUTHORISED

from warren_collector.admin.group_admin import (
    GroupAdmin,
    ListedGroup,
    Refusal,
)
from warren_collector.groups.live.group import LiveGroup, live_group
from warren_collector.sources.zookeeper import CONSUMERS, ZookeeperClient, list_groups

Assignment = dict[str, list[int]]
_PATTERNS = ("white_list", "black_list")


class AdminDescriber:
    """For one thread: its event loop runs only within its methods.

    All raise ClusterUnreachable when no broker answers, AuthenticationFailed.
    """

    def __init__(self, cluster: str, setting: str, connection: KafkaConnection) -> None:
        self._brokers = Brokers(cluster, setting, connection)
        self._admin = GroupAdmin(self._brokers)
        self._listed: dict[str, ListedGroup] = {}
        self._refusals = Refusals(cluster, setting, "DESCRIBE", "group", "members are unknown")
        self._runner = asyncio.Runner()

    def listed(self) -> tuple[Mapping[str, LiveGroup], bool]:
        listing = self._runner.run(self._admin.list())
        self._listed = listing.groups
        groups = {name: live_group(group, None) for name, group in listing.groups.items()}
        return groups, listing.is_complete

    def describe(self, groups: Iterable[LiveGroup]) -> Sequence[LiveGroup]:
        requested = [self._listed[group.name] for group in groups]
        answers = self._runner.run(self._admin.describe(requested))
        refused = (
            name
            for name, answer in answers.items()
            if isinstance(answer, Refusal) and answer.error == GROUP_NOT_AUTHORISED
        )
        self._refusals.observe(refused, asked=(group.name for group in requested))
        # What the list told is better than nothing.
        return [live_group(group, answers.get(group.name)) for group in requested]

    def partition_counts(self, topics: Iterable[str]) -> Mapping[str, int]:
        return self._runner.run(self._admin.partition_counts(topics))

    def close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()


class ZookeeperDescriber:
    """For one thread. Raises ClusterUnreachable, AuthenticationFailed or AuthorizationFailed."""

    def __init__(self, client: ZookeeperClient, brokers: AdminDescriber) -> None:
        """`brokers` know how many partitions the topics have."""
        self._client = client
        self._brokers = brokers

    def listed(self) -> tuple[Mapping[str, LiveGroup], bool]:
        return {name: LiveGroup(name, "classic") for name in list_groups(self._client)}, True

    def describe(self, groups: Iterable[LiveGroup]) -> Sequence[LiveGroup]:
        names = [group.name for group in groups]
        owned = self._owned(names)
        consumers: dict[str, list[GroupMember]] = {name: [] for name in names}
        for path, node in self._client.nodes(self._paths(names, "ids")):
            _, _, group, _, consumer = path.split("/")
            # A consumer calls itself <group>_<host>-<time>-<random>, unless its owner named it.
            assignment = owned[group].get(consumer, {})
            consumers[group].append(
                GroupMember(
                    member_id=consumer,
                    client_id=consumer,
                    host=consumer.removeprefix(f"{group}_").rsplit("-", 2)[0],
                    assignment={
                        topic: sorted(numbers) for topic, numbers in sorted(assignment.items())
                    },
                    subscription=sorted(_subscribed(node.value)),
                )
            )
        return [
            LiveGroup(
                name=name,
                protocol="classic",
                protocol_type="consumer",
                state="Stable" if members else "Empty",
                members=tuple(members),
            )
            for name, members in consumers.items()
        ]

    def partition_counts(self, topics: Iterable[str]) -> Mapping[str, int]:
        return self._brokers.partition_counts(topics)

    def close(self) -> None:
        self._client.close()
        self._brokers.close()

    def _paths(self, groups: Iterable[str], folder: str) -> list[str]:
        below = self._client.children(f"{CONSUMERS}/{group}/{folder}" for group in groups)
        return [f"{path}/{name}" for path, names in below for name in names]

    def _owned(self, groups: Iterable[str]) -> Mapping[str, Mapping[str, Assignment]]:
        """Assignments by group and consumer."""
        owned: dict[str, dict[str, Assignment]] = defaultdict(lambda: defaultdict(dict))
        topics = self._client.children(self._paths(groups, "owners"))
        partitions = [f"{path}/{number}" for path, numbers in topics for number in numbers]
        for path, node in self._client.nodes(partitions):
            _, _, group, _, topic, number = path.split("/")
            consumer = node.value.decode(errors="replace").rpartition("-")[0]  # without the thread
            if number.isdecimal():
                owned[group][consumer].setdefault(topic, []).append(int(number))
        return owned


def _subscribed(registration: bytes) -> list[str]:
    """Topics, by the number of threads for each; a pattern names none. Foreign bytes: none."""
    try:
        content = json.loads(registration)
    except ValueError:
        return []
    if not isinstance(content, dict) or content.get("pattern") in _PATTERNS:
        return []
    topics = content.get("subscription")
    return list(topics) if isinstance(topics, dict) else []
