"""The sources that a cluster's settings name, opened; and the positions that they fill."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from socket import gethostname
from typing import NamedTuple, Self

import numpy as np
from warren.clock import Clock
from warren.contracts.offset_event import SourceName
from warren.errors import KafkaError
from warren.installation import COLLECTOR
from warren.kafka.connection import Trouble
from warren.settings import ClusterSettings, Settings, shares_offsets_topic

from warren_collector.cluster.meters import Meters
from warren_collector.groups.live.describers import AdminDescriber, ZookeeperDescriber
from warren_collector.groups.live.groups import Describer, LiveGroups, LiveReader, Requested
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.positions.base import Positions
from warren_collector.positions.merged import MergedPositions, Part
from warren_collector.positions.observed import ObservedPositions
from warren_collector.positions.recorded import RecordedPositions
from warren_collector.sources.offsets_topic import OffsetsTopicSource
from warren_collector.sources.polling import AdminApiReader, Polling, Reader
from warren_collector.sources.shards import MembershipShards, OffsetsTopicShards, Shards
from warren_collector.sources.source import (
    Batch,
    Snapshot,
    Source,
    SourcePartition,
    SourcePartitions,
)
from warren_collector.sources.zookeeper import ZookeeperClient, ZookeeperReader

NO_RECORDS = Batch([], [], np.zeros(0, np.int32), np.zeros(0, np.int64))
_NO_OFFSET = -1


@dataclass(slots=True)
class PolledSource:
    """A source that is asked, and what it said so far."""

    name: SourceName
    polling: Polling[Snapshot]
    positions: ObservedPositions
    trouble: Trouble
    problem: KafkaError | None = None
    """Why it does not answer."""


class SourceSet:
    """As one source. What one of the asked ones cannot do is told and leaves the others alone.

    Without `offsets_topic` among them, the partitions are the shards.
    """

    def __init__(
        self,
        polled: list[PolledSource],
        shards: Shards,
        offsets_topic: OffsetsTopicSource | None,
        on_failed: Callable[[SourceName], None],
    ) -> None:
        self._polled = polled
        self._shards = shards
        self._offsets_topic = offsets_topic
        self._on_failed = on_failed
        self._own_partitions = SourcePartitions()

    @property
    def partitions(self) -> SourcePartitions:
        return self._offsets_topic.partitions if self._offsets_topic else self._own_partitions

    @property
    def is_ready(self) -> bool:
        if self._offsets_topic and not self._offsets_topic.is_ready:
            return False
        owned = self._shards.owned
        return owned is not None and all(
            owned <= source.positions.rebuilt for source in self._polled
        )

    @property
    def problem(self) -> KafkaError | None:
        requested = next((source.problem for source in self._polled if source.problem), None)
        return self._offsets_topic.problem or requested if self._offsets_topic else requested

    @property
    def obstacle(self) -> KafkaError | None:
        """Why none of the asked ones answers, where nothing is read beside them."""
        if self._offsets_topic or not all(source.problem for source in self._polled):
            return None
        return self.problem

    @property
    def pending(self) -> int:
        return self._offsets_topic.pending if self._offsets_topic else 0

    def poll(self, timeout: float) -> Batch:
        """Raises what the offsets topic, or sharing out the groups, raises."""
        batch = NO_RECORDS
        if self._offsets_topic:
            batch = self._offsets_topic.poll(timeout)
            timeout = 0.0
        self._shards.poll()
        owned = self._shards.owned or frozenset()
        for source in self._polled:
            source.polling.own(owned)
            self._take(source, timeout, owned)
            timeout = 0.0
        self._follow(owned)
        return batch

    def store(self) -> None:
        if self._offsets_topic:
            self._offsets_topic.store()

    def backlog(self) -> int:
        return self._offsets_topic.backlog() if self._offsets_topic else 0

    def reread(self) -> None:
        """Those that are asked tell all with every snapshot."""
        if self._offsets_topic:
            self._offsets_topic.reread()

    def _take(self, source: PolledSource, timeout: float, owned: frozenset[int]) -> None:
        try:
            snapshot = source.polling.take(timeout)
        except KafkaError as error:
            self._on_failed(source.name)
            source.trouble.tell(error)
            source.problem = error
            return
        if snapshot is not None:
            source.problem = None
            source.trouble.over()
            source.positions.observe(snapshot, owned)

    def _follow(self, owned: frozenset[int]) -> None:
        """Shards are partitions without offsets; live once any source has told of them."""
        if self._offsets_topic:
            return
        rebuilt = set().union(*(source.positions.rebuilt for source in self._polled))
        for shard in [p.number for p in self._own_partitions if p.number not in owned]:
            self._own_partitions.remove(shard)
        for shard in owned:
            self._own_partitions.add(
                SourcePartition(
                    shard,
                    count_from=_NO_OFFSET,
                    end=_NO_OFFSET,
                    stored=None,
                    position=_NO_OFFSET,
                    is_live=shard in rebuilt,
                )
            )


LIVE_STATE = "live_state"
"""In metrics, beside the names of sources."""


@dataclass(frozen=True, slots=True)
class Membership:
    """`connection` is the cluster's, with the `client.id` by which collectors know each other."""

    group: str
    connection: ClusterSettings
    own_clients: str
    """What the `client.id` of this Warren's collectors begins with."""

    @classmethod
    def of(cls, settings: Settings, cluster: str, home_cluster: str) -> Self:
        """`home_cluster` is Kafka's id of the home cluster."""
        installation = settings.home.installation
        own_clients = f"{installation.collectors(home_cluster)}-"
        configured = settings.collector.group_id
        group = installation.collectors(home_cluster, configured)
        # Collectors in one group would share the partitions out: each name would lack groups.
        is_shared = not configured and shares_offsets_topic(cluster, settings.clusters)
        return cls(
            f"{group}-{cluster}" if is_shared else group,
            settings.clusters[cluster].of_client(own_clients + gethostname()),
            own_clients,
        )

    def is_own(self, client_id: str) -> bool:
        """Whether a member is a collector of this Warren's; a `client.id` that is set is ours."""
        return client_id.startswith(self.own_clients) or client_id == self.connection.client_id


class Watched(NamedTuple):
    """Whether a group, and whether a topic is watched."""

    group: Callable[[str], bool]
    topic: Callable[[str], bool]

    def has(self, group: str, topic: str) -> bool:
        """Whether both are."""
        return self.group(group) and self.topic(topic)


class Sources:
    """Opened for one cluster: `source` fills `positions`."""

    source: Source
    positions: Positions
    states: GroupStates
    """What records tell of the groups; without `offsets_topic` nothing."""
    live: LiveGroups

    def __init__(
        self,
        cluster: str,
        settings: Settings,
        membership: Membership,
        watched: Watched,
        clock: Clock,
        meters: Meters,
        on_released: Callable[[list[int]], None],
        closing: ExitStack,
        alone: Mapping[int, int] | None = None,
    ) -> None:
        """`on_released` is told which partitions another collector owns from now on; `closing`
        closes what is opened; `alone` as in OffsetsTopicSource. Raises SettingsError, KafkaError.
        """
        self._alone = alone
        self._on_released = on_released
        self._cluster = cluster
        self._setting = f"clusters.{cluster}"
        self._settings = settings
        self._membership = membership
        self._watched = watched
        self._clock = clock
        self._meters = meters
        self._filled: list[Positions] = []
        names = settings.clusters[cluster].sources
        self.states = GroupStates(watched.group)
        offsets_topic = None
        parts: list[Part] = []
        if "offsets_topic" in names:
            offsets_topic = self._offsets_topic()
            closing.callback(offsets_topic.close)
            parts.append(Part("offsets_topic", self._filled[0]))
        shards = self._shards(offsets_topic)
        closing.callback(shards.close)
        self.live = self._live(names, shards, closing)
        if offsets_topic and len(names) == 1:
            self.source, self.positions = offsets_topic, self._filled[0]
            return
        polled = [self._polled(name, shards) for name in names if name != "offsets_topic"]
        for one in polled:
            closing.callback(one.polling.close)
        parts += [Part(one.name, one.positions) for one in polled]
        self.source = SourceSet(polled, shards, offsets_topic, meters.source_failed)
        self.positions = parts[0].positions if len(parts) == 1 else MergedPositions(parts)
        self._filled.append(self.positions)

    def _released(self, partitions: Iterable[int]) -> None:
        released = list(partitions)
        for positions in self._filled:
            positions.release(released)
        self.states.release(released)
        self._on_released(released)

    def _offsets_topic(self) -> OffsetsTopicSource:
        positions = RecordedPositions(self.states, self._watched.group, self._watched.topic)
        self._filled.append(positions)
        return OffsetsTopicSource(
            self._cluster,
            self._setting,
            self._membership.connection,
            self._membership.group,
            self._released,
            alone=self._alone,
        )

    def _shards(self, offsets_topic: OffsetsTopicSource | None) -> Shards:
        if offsets_topic:
            return OffsetsTopicShards(
                offsets_topic.partitions, lambda: offsets_topic.partition_count
            )
        home, configured = self._settings.home, self._settings.collector.group_id
        group = f"{home.installation.group(COLLECTOR, configured)}-{self._cluster}"
        return MembershipShards(home, group, self._released, self._clock)

    def _polled(self, name: SourceName, shards: Shards) -> PolledSource:
        positions = ObservedPositions(self._watched.group, shards.of, self._watched.topic)
        self._filled.append(positions)
        polling = Polling(
            f"{name} of {self._cluster}",
            self._reader(name),
            self._watched.group,
            shards.of,
            self._settings.collector.interval,
        )
        trouble = Trouble(self._cluster, self._clock, over=f"source {name} answers again")
        return PolledSource(name, polling, positions, trouble)

    def _live(self, names: Sequence[SourceName], shards: Shards, closing: ExitStack) -> LiveGroups:
        """Coordinators know their groups whether offsets are read from the topic or asked for."""
        requested: list[Requested] = []
        if self._settings.collector.describe_interval:
            if names != ["zookeeper"]:
                is_source = "offsets_topic" not in names
                requested.append(self._requested(self._admin_describer(), shards, is_source))
            if "zookeeper" in names:
                describer = ZookeeperDescriber(self._zookeeper(), self._admin_describer())
                requested.append(self._requested(describer, shards, is_source=True))
        for one in requested:
            closing.callback(one.polling.close)
        return LiveGroups(requested, shards, lambda: self._meters.source_failed(LIVE_STATE))

    def _requested(self, describer: Describer, shards: Shards, is_source: bool) -> Requested:
        settings = self._settings.collector
        polling = Polling(
            f"groups of {self._cluster}",
            LiveReader(describer, settings.describe_interval, self._clock),
            self._watched.group,
            shards.of,
            settings.interval,
        )
        over = "live state of groups is told again"
        return Requested(polling, Trouble(self._cluster, self._clock, over), is_source)

    def _admin_describer(self) -> AdminDescriber:
        return AdminDescriber(self._cluster, self._setting, self._settings.clusters[self._cluster])

    def _zookeeper(self) -> ZookeeperClient:
        hosts = self._settings.clusters[self._cluster].zookeeper
        return ZookeeperClient(self._cluster, self._setting, hosts)

    def _reader(self, name: SourceName) -> Reader[Snapshot]:
        if name == "zookeeper":
            return ZookeeperReader(self._zookeeper(), self._clock)
        connection = self._settings.clusters[self._cluster]
        return AdminApiReader(self._cluster, self._setting, connection, self._clock)
