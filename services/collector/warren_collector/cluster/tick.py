"""One tick: what is due is judged against fresh log ends, published, and then stored.

The order is what makes lag right and nothing lost: the commits were folded in before, the log ends
are read now, so a log never seems to end before a commit; and the position in the offsets topic is
stored only when all that was read up to it is acknowledged.
"""

import math
from collections.abc import Callable

from warren.clock import Clock
from warren.errors import AuthenticationFailed, ClusterUnreachable, PublishFailed
from warren.kafka.connection import Trouble

from warren_collector.cluster.meters import Meters
from warren_collector.cluster.publisher import Publisher
from warren_collector.groups.recorded.records import Rejected
from warren_collector.groups.reports import GroupReport, GroupReports
from warren_collector.logs.ends import LogEnds, LogEndsReader
from warren_collector.logs.watch import LogHistory
from warren_collector.positions.base import Positions
from warren_collector.positions.events import GroupEvents, Origin, Past, group_events
from warren_collector.positions.index import UNTOLD, Group, standing
from warren_collector.sources.source import Source

AWAY = 5.0
"""Seconds for which a cluster has not answered, or after which it did: less is no outage."""
SETTLES = 10.0
"""Seconds: twice what clients take, by default, from one commit to the next."""
TickError = ClusterUnreachable | AuthenticationFailed | PublishFailed


class Settling:
    """A cluster that was away is not judged before its clients could commit again.

    While no broker answers nobody can commit. What is published at the first answer shows every
    group where it stood before, for as long as that lasted: an alarm for each, taken back a second
    later. Told of every question to the cluster: when it is asked, and what becomes of it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._requested_at: float | None = None
        self._until: float | None = None

    def requested(self) -> None:
        """Since the first question that was not answered it may be away."""
        if self._requested_at is None:
            self._requested_at = self._clock.monotonic()

    def answered(self) -> bool:
        """Whether it has to settle still. One that is always slow settles every other time."""
        now, requested_at = self._clock.monotonic(), self._requested_at
        self._requested_at = None
        if self._until is not None:
            if now < self._until:
                return True
            self._until = None
            return False
        if requested_at is not None and now - requested_at > AWAY:
            self._until = now + SETTLES
            return True
        return False


def silence(heartbeat: float, interval: float) -> float:
    """Seconds of silence after which a group is due at a tick: the last one that is not later than
    the heartbeat, though ticks are not quite regular.
    """
    ticks = max(math.floor(heartbeat / interval + 1e-6), 1)
    return (ticks - 0.5) * interval


class Ticker:
    """Publishes a cluster's due groups."""

    def __init__(
        self,
        origin: Origin,
        positions: Positions,
        source: Source,
        ends: LogEndsReader,
        publisher: Publisher,
        reports: GroupReports,
        meters: Meters,
        clock: Clock,
        heartbeat: float,
        history: LogHistory | None = None,
        offsets_retention_ms: Callable[[], int] = lambda: UNTOLD,
        is_watched: Callable[[str, str], bool] = lambda _group, _topic: True,
        offsets_topic: str | None = None,
    ) -> None:
        """`heartbeat`: seconds of silence after which a group is due without a commit, too.
        `history` gets what is read here. `offsets_retention_ms`: so long the cluster keeps offsets.
        `is_watched`: whether the settings want a group's topic. `offsets_topic`: its leaders are
        asked, too: of what is out of reach nobody knows what is committed there meanwhile.
        """
        self._origin = origin
        self._positions = positions
        self._source = source
        self._ends = ends
        self._publisher = publisher
        self._reports = reports
        self._meters = meters
        self._clock = clock
        self._heartbeat = heartbeat
        self._history = LogHistory() if history is None else history
        self._offsets_retention_ms = offsets_retention_ms
        self._is_watched = is_watched
        self._offsets_topic = offsets_topic
        self._trouble = Trouble(origin.cluster, clock)
        self._settling = Settling(clock)
        self.problem: TickError | None = None
        """Why the last tick failed."""
        self.refused_topics: frozenset[str] = frozenset()
        """Whose log ends are unknown for want of a right, as read last."""
        self.log_ends_at: int | None = None
        """When log ends were read last, and `published_at` when a tick was, Unix milliseconds."""
        self.published_at: int | None = None

    def tick(self) -> bool:
        """False when something failed: all stays due and counted, the next tick repeats it."""
        now = self._clock.monotonic()
        live = self._source.partitions.live()
        due = self._positions.due(now - self._heartbeat)
        groups = [group for group in due if group.source_partition in live]
        rejected: list[Rejected] = []
        self._reports.saw(groups)
        reports = self._reports.due(live, self._publisher.observe(), rejected)
        self._publisher.bury_rejected(rejected)
        self._meters.found(rejected)
        if not groups and not reports and not self._publisher.waiting:
            return True
        with self._meters.tick_seconds.time():
            return self._publish(groups, reports, live, now)

    def ends_were_read(self) -> None:
        """Somebody else read the log ends: the cluster answers, though no group was due since."""
        if not isinstance(self.problem, PublishFailed):
            self._trouble.over()
            self.problem = None

    def _publish(
        self,
        groups: list[Group],
        reports: list[GroupReport],
        live: dict[int, int],
        now: float,
    ) -> bool:
        self._settling.requested()
        try:
            ends = self._ends.read(self._named(groups, live))
        except (ClusterUnreachable, AuthenticationFailed) as error:
            return self._failed("log_ends", error)
        self.log_ends_at = self._clock.now_ms()
        self.refused_topics = ends.refused
        if self._settling.answered():
            return True
        groups = [group for group in groups if self._is_read(group.source_partition, ends)]
        there = [
            group
            for group in groups
            if ends.suspected.isdisjoint(group.topics)
            and ends.suspected.isdisjoint(group.owned.partitions)
        ]
        # The ends are older: what is before a last stable offset was there then, too.
        ends = self._ends.with_last_stable(ends, standing(there, self._positions.columns, ends))
        self._meters.unknown_ends.set(ends.unknown_partitions)
        observed_at = self._publisher.observe()
        past = Past(self._history, self._positions.earlier)
        results = [
            group_events(
                group,
                self._positions.columns,
                ends,
                self._origin,
                live[group.source_partition],
                observed_at,
                past,
                self._reports.state_of(
                    (group.source_partition, group.name), self._positions.columns
                ),
                self._offsets_retention_ms(),
                self._is_watched,
            )
            for group in there
        ]
        self._history.add(ends, observed_at)
        events = [event for result in results for event in result.events]
        try:
            buried = self._publisher.publish(events, reports)
        except PublishFailed as error:
            return self._failed("publish", error)
        self._remember(results, now)
        self._reports.published(reports)
        if len(results) == len(groups) and not self._reports.awaits_ends:
            self._source.store()
        self._trouble.over()
        self.problem = None
        self.published_at = self._clock.now_ms()
        self._meters.events.inc(len(events))
        self._meters.dead_letters.inc(buried)
        self._meters.published_at.set(self.published_at / 1000)
        return True

    def _is_read(self, source_partition: int, ends: LogEnds) -> bool:
        """Whether the leader of that partition of the offsets topic answers."""
        log = ends.topics.get(self._offsets_topic or "")
        return log is None or source_partition >= len(log.end) or log.end[source_partition] >= 0

    def _named(self, groups: list[Group], live: dict[int, int]) -> dict[str, int]:
        """The groups' topics, and how many partitions of each their commits name."""
        named: dict[str, int] = {}
        if self._offsets_topic is not None and live:
            named[self._offsets_topic] = max(live) + 1
        commits = self._positions.columns.commits
        for group in groups:
            for topic, rows in group.topics.items():
                named[topic] = max(named.get(topic, 0), rows.named(commits))
            for topic, partitions in group.owned.partitions.items():
                named[topic] = max(named.get(topic, 0), max(partitions) + 1)
        return named

    def _remember(self, results: list[GroupEvents], now: float) -> None:
        for result in results:
            for rows, gone in result.gone:
                rows.gone = gone
        self._positions.published(
            [result.group for result in results],
            [rows for result in results for rows in result.rows],
            now,
        )

    def _failed(self, step: str, error: TickError) -> bool:
        self.problem = error
        self._meters.failed_tick(step)
        self._trouble.tell(error)
        return False
