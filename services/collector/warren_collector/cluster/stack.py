"""All that one monitored cluster needs, in one thread: isolated from the other clusters."""

import math
import threading
from contextlib import ExitStack
from dataclasses import replace

import structlog
from confluent_kafka.admin import AdminClient
from warren import garbage
from warren.clock import Clock
from warren.contracts import MOST_REFUSED, ClusterEvent
from warren.errors import ClientLost, KafkaError, SettingsError
from warren.kafka.connection import answers, await_connection, log_retry, new_client
from warren.kafka.hearing import Hearing, hearing_by, is_reachable
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME, cluster_id, ensure_topics
from warren.settings import Settings
from warren.standstill import Look, Turns
from warren_wire.brokers import Brokers

from warren_collector.cluster.filters import ClusterFilters
from warren_collector.cluster.meters import Meters
from warren_collector.cluster.opening import Membership, Sources, Watched
from warren_collector.cluster.own_group import OwnGroup, OwnGroupDescriber
from warren_collector.cluster.publisher import Publisher
from warren_collector.cluster.state import ClusterState, Figures
from warren_collector.cluster.tick import Ticker, silence
from warren_collector.groups.offsets_retention import OffsetsRetention, retention_of
from warren_collector.groups.reports import GroupReports
from warren_collector.groups.topic_ids import TopicIds, asking
from warren_collector.logs.ends import LogEndsReader
from warren_collector.logs.metadata import TopicMetadata
from warren_collector.logs.watch import LogWatch, TopicListing
from warren_collector.positions.base import Positions
from warren_collector.positions.events import EVENT_PARTITIONS, Origin
from warren_collector.sources.source import Source

log = structlog.get_logger(__name__)

POLL = 0.2  # seconds that a poll collects records; ticks and signals wait no longer
RESTART_AFTER = 5.0  # seconds between a refusal and the next attempt
NO_ANSWER = "this cluster, or Warren's own, does not answer"
MOST_DEAD_LETTERS = 10_000  # in memory; then reading waits until they are published


class ClusterStack:
    """Reads, folds and publishes until `stop` is set; begins anew after a refusal or a fault."""

    def __init__(
        self, cluster: str, settings: Settings, clock: Clock, stop: threading.Event
    ) -> None:
        """Raises SettingsError."""
        self.cluster = cluster
        self.is_ready = False
        self.has_home = threading.Event()
        """Set once Warren's own topics are there."""
        self.state = ClusterState(cluster, clock)
        self.turns = Turns()
        self._looked_at: Look | None = None
        self._setting = f"clusters.{cluster}"
        self._settings = settings
        self._cluster_settings = settings.clusters[cluster]
        self._clock = clock
        self._stop = stop
        self._meters = Meters(cluster)
        self._home_id = ""
        self._own_group: OwnGroup | None = None
        self._alone: dict[int, int] | None = None
        """Positions that were stored, while the coordinator of our group is out of reach."""
        self._stored: dict[int, int] = {}
        self._filters = ClusterFilters(settings, cluster)
        self._filters_changed = threading.Event()
        self._brokers = Brokers(cluster, self._setting, self._cluster_settings)
        """Asked for log ends. The first ones are asked nothing: they refuse bad settings."""

    @property
    def is_away(self) -> bool:
        """The cluster cannot be reached, or lets nobody in: nothing of it can be rebuilt now."""
        return self.state.now.state in ("unreachable", "refused")

    def filter_by(self, settings: Settings) -> None:
        """Other filters from now on. Called from another thread."""
        self._filters.replace(settings)
        self._filters_changed.set()

    def report(self, collector: str) -> ClusterEvent:
        """How it stands with the cluster. Called from another thread."""
        return self.state.event(collector, self._cluster_settings.sources)

    def look(self) -> Look:
        """Whether polls and ticks end. One that does not is excused only as long as a cluster
        does not answer a client made anew: ours may be what hangs. May take some seconds.
        """
        before, look = self._looked_at, self.turns.look()
        self._looked_at = look
        if (
            look != before
            or not look.waiting
            or (
                is_reachable(self.cluster, self._setting, self._cluster_settings)
                and is_reachable(HOME, HOME, self._settings.home)
            )
        ):
            return look
        return replace(look, obstacle=self.state.now.problem or NO_ANSWER)

    def run(self) -> None:
        """Returns when `stop` is set. Raises SettingsError for what librdkafka does not know."""
        while not self._stop.is_set():
            if not self._work():
                self._meters.restarts.inc()
                if self.is_ready:  # there is state to be freed, and no traceback holds it any more
                    garbage.settle()
                self.is_ready = False
                self.turns.end()
                self._stop.wait(RESTART_AFTER)
        self.is_ready = False
        self.turns.end()

    def _work(self) -> bool:
        """Until `stop` is set; False when something went wrong, which is told. Raises SettingsError
        for what librdkafka does not know.
        """
        try:
            if self._connect():
                self._collect()
        except KafkaError as error:
            log_retry(error)
            if isinstance(error, ClientLost):
                self._meters.lost_clients.inc()
            self._trouble(error)
            return False
        except SettingsError:
            raise
        except Exception as fault:  # whatever it is, the other clusters go on
            log.exception("cluster given up for now: a fault", cluster=self.cluster)
            self.state.fault(fault)
            self._meters.cluster_state(self.state.now.state)
            self._meters.faults.inc()
            return False
        return True

    def _connect(self) -> bool:
        """Waits for both clusters; False when stopped meanwhile."""
        self._meters.cluster_state(self.state.now.state)
        home = self._settings.home
        admin = await_connection(HOME, HOME, home, self._stop, on_problem=self._trouble)
        if admin is None:
            return False
        if home.create_topics:
            ensure_topics(admin, home)
        self._home_id = cluster_id(admin)
        self.has_home.set()
        monitored = await_connection(
            self.cluster,
            self._setting,
            self._cluster_settings,
            self._stop,
            on_problem=self._trouble,
        )
        return monitored is not None

    def _collect(self) -> None:
        settings, cluster = self._settings.collector, self._cluster_settings
        watched = Watched(self._filters.accepts_group, self._filters.accepts_topic)
        self._filters_changed.clear()  # what is read from now on is read with the newest
        with ExitStack() as closing:
            producer = EventProducer(self._settings.home)
            publisher = Publisher(
                producer, self._settings.home.topic_prefix, cluster.offsets_topic, self._clock
            )
            self._brokers = Brokers(self.cluster, self._setting, cluster)
            metadata = TopicMetadata(self.cluster, self._setting, self._clock)
            ends = LogEndsReader(self._brokers, metadata, self._clock)
            closing.callback(ends.close)
            logs = LogWatch(ends, watched.topic, self._clock)
            membership = Membership.of(self._settings, self.cluster, self._home_id)
            opened = Sources(
                self.cluster,
                self._settings,
                membership,
                watched,
                self._clock,
                self._meters,
                lambda partitions: reports.release(partitions),
                closing,
                self._alone,
            )
            source, positions = opened.source, opened.positions
            admin = new_client(AdminClient, self.cluster, self._setting, cluster)
            self._own_group = self._watched_group(membership, closing)
            reports = GroupReports(
                self.cluster,
                opened.states,
                positions.groups,
                TopicIds(asking(admin), self._clock),
                opened.live,
                watched.topic,
            )
            retention = retention_of(admin, self._clock)
            ticker = Ticker(
                Origin(self.cluster, cluster.sources[0], EVENT_PARTITIONS),
                positions,
                source,
                ends,
                publisher,
                reports,
                self._meters,
                self._clock,
                silence(settings.heartbeat, settings.interval),
                logs.history,
                lambda: retention.milliseconds,
                watched.has,
                cluster.offsets_topic if "offsets_topic" in cluster.sources else None,
            )
            self._meters.log_ends_age.set_function(
                lambda: (
                    math.nan
                    if (at := ticker.log_ends_at) is None
                    else (self._clock.now_ms() - at) / 1000
                )
            )
            listing = TopicListing(
                self.cluster, producer, self._settings.home.topic_prefix, self._clock
            )
            hearing = hearing_by(
                lambda timeout: answers(admin, timeout),
                self.cluster,
                self._setting,
                cluster,
                self._clock,
            )
            self._loop(source, positions, publisher, ticker, listing, logs, hearing, retention)
            ticker.tick()

    def _loop(
        self,
        source: Source,
        positions: Positions,
        publisher: Publisher,
        ticker: Ticker,
        listing: TopicListing,
        logs: LogWatch,
        admin: Hearing,
        retention: OffsetsRetention,
    ) -> None:
        interval = self._settings.collector.interval
        next_tick = self._clock.monotonic()
        rereads = False
        while not self._stop.is_set():
            self.turns.begin()
            if self._filters_changed.is_set():
                self._filters_changed.clear()
                positions.drop_denied()
                rereads, next_tick = True, self._clock.monotonic()
            if publisher.waiting < MOST_DEAD_LETTERS:
                batch = source.poll(min(POLL, max(next_tick - self._clock.monotonic(), 0.0)))
                folded = positions.fold(batch)
                publisher.bury(batch, folded)
                self._meters.folded(folded)
            was_ready, self.is_ready = self.is_ready, source.is_ready
            if self.is_ready and not was_ready:
                garbage.settle()
            now = self._clock.monotonic()
            is_crowded = publisher.waiting >= MOST_DEAD_LETTERS
            if now >= next_tick or is_crowded or (self.is_ready and not was_ready):
                all_ends = logs.look()
                if all_ends is not None:
                    ticker.ends_were_read()
                admin.follow(heard=False)
                retention.refresh()
                ticker.tick()
                if rereads and self.is_ready and not positions.groups.dirty.any():
                    source.reread()
                    rereads = False
                listing.publish(all_ends, source.partitions.live())
                self._note(source, positions, ticker, logs)
                next_tick = max(next_tick + interval, now)

    def _watched_group(self, membership: Membership, closing: ExitStack) -> OwnGroup | None:
        """None where collectors are no group on the monitored cluster."""
        if "offsets_topic" not in self._cluster_settings.sources:
            return None
        describer = OwnGroupDescriber(Brokers(self.cluster, self._setting, self._cluster_settings))
        closing.callback(describer.close)
        return OwnGroup(
            self.cluster,
            membership.group,
            membership.is_own,
            describer,
            self._clock,
            is_away=None if self._alone is None else True,
        )

    def _follow_coordinator(self, group: OwnGroup, source: Source) -> None:
        """Without it the group shares out nothing: each collector reads all then. Raises
        ClientLost, so that all begins anew.
        """
        self._stored |= {p.number: p.stored for p in source.partitions if p.stored is not None}
        if self._alone is None and group.is_away and not len(source.partitions):
            self._alone, why = self._stored, "is out of reach, it reads without its group"
        elif self._alone is not None and group.is_away is False:
            self._alone, why = None, "answers again"
        else:
            return
        raise ClientLost(self.cluster, self._setting, f"our group's coordinator {why}")

    def _trouble(self, error: KafkaError) -> None:
        self.state.trouble(error)
        self._meters.cluster_state(self.state.now.state)

    def _note(self, source: Source, positions: Positions, ticker: Ticker, logs: LogWatch) -> None:
        """Makes visible how it stands. Raises ClientLost."""
        backlog = source.backlog()
        figures = Figures(
            groups=len(positions.groups),
            positions=len(positions),
            source_partitions=len(source.partitions),
            backlog=backlog,
            published_at=ticker.published_at,
            log_ends_at=ticker.log_ends_at,
            refused_topics=tuple(sorted(ticker.refused_topics)[:MOST_REFUSED]),
        )
        # Of a cluster that is away no group may be due: then no tick tells of it.
        obstacle = logs.problem or ticker.problem or source.obstacle
        problem = obstacle or source.problem or self._brokers.problem
        if self._own_group is not None:
            self._own_group.look()
            self._meters.foreign_members.set(len(self._own_group.foreign))
            problem = problem or self._own_group.problem
            self._follow_coordinator(self._own_group, source)
        if problem is not None:
            self.state.trouble(problem, figures, goes_on=obstacle is None)
        else:
            self.state.note("ok" if self.is_ready else "rebuilding", figures)
        self._meters.pending.set(source.pending)
        self._meters.state(positions, source.partitions, backlog, self.is_ready)
        self._meters.cluster_state(self.state.now.state)
