"""A pass over one monitored cluster's groups: recall, read what is missing, measure."""

from collections.abc import Collection, Mapping, Sequence

from warren.clock import Clock
from warren.contracts import FreshnessEvent, OpenTransaction, TopicFreshness
from warren.errors import KafkaError
from warren.settings import FreshnessSettings
from warren_core.evaluation.commit_convention import CommitEvidence, Commits
from warren_core.group_freshness import figures_of
from warren_wire.partition_requests import LARGEST_TIMESTAMP

from warren_freshness.figures.held_up import LateSince, begins_to_ask, held_up, open_transactions
from warren_freshness.figures.partition_figures import (
    Evidence,
    Row,
    Sizes,
    measure,
    to_remember,
    unheard_of,
)
from warren_freshness.passes.known_commits import KnownCommits, KnownLateness
from warren_freshness.passes.log_end_samples import LogEndSamples
from warren_freshness.passes.position_readings import PositionReadings
from warren_freshness.positions.group_positions import GroupKey, GroupSnapshot
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.reading.batch_sizes import ByteBudget, look_back
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.record_times.cache import TimeCache
from warren_freshness.topics.open_transactions import OpenTransactions
from warren_freshness.topics.retention import LogSizes, Retention


def group_event(
    group: GroupSnapshot,
    rows: Mapping[str, Sequence[Row]],
    measured_at: int,
    commits: Commits | None = None,
    open_transactions: Sequence[OpenTransaction] = (),
) -> FreshnessEvent:
    """`rows` and `commits` by topic; `measured_at` in Unix ms."""
    topics = {
        topic: _columns(listed, (commits or {}).get(topic))
        for topic, listed in rows.items()
        if listed
    }
    return FreshnessEvent(
        cluster=group.cluster,
        group=group.group,
        measured_at=measured_at,
        observed_at=group.observed_at,
        open_transactions=list(open_transactions),
        topics=topics,
        **figures_of(topics),
    )


def _columns(rows: Sequence[Row], commits: CommitEvidence | None) -> TopicFreshness:
    return TopicFreshness.model_validate(
        {
            **dict(zip(Row._fields, map(list, zip(*rows, strict=True)), strict=True)),
            "commit_convention": commits.convention if commits else None,
        }
    )


READ_SECONDS = 5.0  # that a pass reads from a cluster at most: half of the default interval
SAMPLES = 500  # newest records of logs that a pass reads at most, for append lag and commit lag


class Countdown:
    """Seconds that are left. What this process works on while it is paused does not count: else
    one with many groups would never come to read."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._running_since: float | None = None

    def left(self) -> float:
        """0 when there are none any more; goes on, if it was paused."""
        now = self._clock.monotonic()
        if self._running_since is None:
            self._running_since = now
        return max(self._seconds - (now - self._running_since), 0)

    def pause(self) -> None:
        """Until somebody asks what is left."""
        self._seconds = self.left()
        self._running_since = None


class ClusterMeasurer:
    """What one cluster's passes share: its reader, its cache, what stays true between passes."""

    def __init__(
        self,
        reader: RecordReader,
        cache: TimeCache,
        retention: Retention,
        settings: FreshnessSettings,
        clock: Clock,
        stale_after: float,
    ) -> None:
        """`stale_after`: seconds after which a group's last event says nothing about now."""
        self._reader = reader
        self._retention = retention
        self._settings = settings
        self._clock = clock
        self._stale_ms = stale_after * 1000
        self.lateness = KnownLateness()
        self.commits = KnownCommits()
        self._positions = PositionReadings(reader, cache, retention, settings.topics_deny, clock)
        self._budget = ByteBudget(settings.pass_bytes)
        self._sizes = LogSizes(
            reader.cluster, reader.setting, reader.brokers, reader.metadata, clock
        )
        self._transactions = OpenTransactions(reader.cluster, reader.brokers, reader.metadata)
        self._log_ends = LogEndSamples(SAMPLES)

    async def measure(self, groups: Sequence[GroupSnapshot]) -> list[FreshnessEvent]:
        """One event per group, within READ_SECONDS, whatever the cluster does."""
        deadline = Countdown(self._clock, READ_SECONDS)
        self._budget.renew()
        groups = [self.commits.applied_to(group) for group in groups]
        heard_of = [group for group in groups if not self.is_stale(group)]
        states = [state for group in heard_of for state in group.states]
        topics = {state.committed.topic for state in states}
        await self._reader.prepare(topics, timeout=deadline.left())
        deadline.pause()
        readings = await self._positions.read(heard_of, self._budget, deadline.left)
        await self._sample(states, deadline)
        await self._look_at_limits(states, deadline)
        at_transactions = held_up(readings)
        await self._transactions.refresh(
            begins_to_ask(at_transactions, self._clock.now_ms()), timeout=deadline.left()
        )
        self._reader.settle()
        evidence = Evidence(
            readings,
            self._log_ends.newest(),
            {t: self._retention.of(t) for t in topics if self._retention.is_known(t)},
            Sizes(
                {t: limit for t in topics if (limit := self._retention.limit(t))},
                self._sizes.growth,
                self._sizes.is_refused,
            ),
            at_transactions,
            self._transactions.owners(),
            largest=self._log_ends.largest(),
        )
        del heard_of, states
        events: list[FreshnessEvent] = []
        groups.reverse()
        while groups:  # each makes room for its event
            group = groups.pop()
            events.append(self._event(group, evidence))
            if not self.is_stale(group):
                self.commits.learn(group, readings)
        return events

    @property
    def obstacle(self) -> KafkaError | None:
        """Why the last pass could measure nothing of what waits."""
        return self._reader.obstacle

    def is_stale(self, group: GroupSnapshot | FreshnessEvent) -> bool:
        """Nothing was heard of the group for too long: the collector may be down."""
        return self._clock.now_ms() - group.observed_at > self._stale_ms

    def recall(self, home_partition: int, events: Sequence[FreshnessEvent]) -> None:
        """Goes on from what was published last of the groups of a home partition."""
        self.lateness.recall(home_partition, events)
        self.commits.recall(home_partition, events)

    def forget(self, groups: Sequence[GroupKey]) -> None:
        """These groups are deleted."""
        self.lateness.forget(groups)
        self.commits.forget(groups)

    def release(self, home_partitions: Collection[int]) -> None:
        """Another instance knows these from now on."""
        self.lateness.release(home_partitions)
        self.commits.release(home_partitions)

    async def close(self) -> None:
        await self._positions.flush()
        await self._reader.close()

    async def _sample(self, states: Sequence[PartitionState], deadline: Countdown) -> None:
        """Where batches are small the newest records are read, else the brokers are asked for the
        largest timestamps."""
        metadata, sizes = self._reader.metadata, self._reader.sizes
        due = self._log_ends.due(
            state for state in states if metadata.is_described(state.committed.topic)
        )
        starts = {
            place: max(state.log_start, 0)
            for place, state in due.items()
            if look_back(sizes.worthwhile(place.topic)) and metadata.is_authorised(place.topic)
        }
        self._log_ends.take(
            await self._reader.read(starts, self._budget, timeout=deadline.left(), only_before=True)
        )
        others = {(p.topic, p.partition): p for p in due if p not in starts}
        largest = await self._reader.look_up(
            dict.fromkeys(others, LARGEST_TIMESTAMP), timeout=deadline.left()
        )
        self._log_ends.take_largest(others.values(), largest)

    async def _look_at_limits(self, states: Sequence[PartitionState], deadline: Countdown) -> None:
        """How long and how large logs become and, where there is a limit, how large they are: also
        where nobody is behind, for how much comes after an offset is known of those seen only."""
        consumed = {state.committed[:2] for state in states if state.has_committed}
        await self._retention.refresh({topic for topic, _ in consumed}, timeout=deadline.left())
        limited = {place for place in consumed if self._retention.limit(place[0])}
        await self._sizes.refresh(limited, timeout=deadline.left())

    def _event(self, group: GroupSnapshot, evidence: Evidence) -> FreshnessEvent:
        now = self._clock.now_ms()
        stale = self.is_stale(group)
        before = self.lateness.of(group)
        after: dict[str, dict[int, LateSince]] = {}
        rows: dict[str, list[Row]] = {}
        for topic, states in group.topics.items():
            rows[topic] = []
            known_here, late_here = before.get(topic, {}), {}
            for state in states:
                partition = state.committed.partition
                known = known_here.get(partition)
                row = unheard_of(state, known) if stale else measure(state, evidence, now, known)
                rows[topic].append(row)
                if (late := to_remember(state, row, evidence, known)) is not None:
                    late_here[partition] = late
            if late_here:
                after[topic] = late_here
        self.lateness.keep(group, after)
        held_up_by = open_transactions(
            () if stale else group.states, evidence.held_up, evidence.owners, now
        )
        return group_event(group, rows, now, self.commits.of(group), held_up_by)
