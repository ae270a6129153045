"""Passes over one monitored cluster's groups: look up, read what is missing, measure."""

from __future__ import annotations

from collections.abc import Sequence

from warren.clock import Clock
from warren.contracts import FreshnessEvent
from warren.settings import FreshnessSettings

from warren_freshness.figures.group_event import group_event
from warren_freshness.figures.partition_figures import Evidence, measure, unheard_of
from warren_freshness.log_position import UNKNOWN, Position, Reading, RecordTimes
from warren_freshness.passes.log_end_samples import NewestRecords
from warren_freshness.positions.group_positions import GroupSnapshot
from warren_freshness.positions.partition_state import PartitionState
from warren_freshness.reading.broker_fetches import ByteBudget
from warren_freshness.reading.record_reader import Reader
from warren_freshness.record_times.cache import TimeCache
from warren_freshness.topics.retention import Retention

# The last committed record is before the committed offset, and before the control records of up
# to seven transactions that ended in between.
LOOK_BACK = 8


class ClusterPass:
    """What one cluster's passes share: its reader, its cache, what stays true between passes."""

    def __init__(
        self,
        reader: Reader,
        cache: TimeCache,
        retention: Retention,
        settings: FreshnessSettings,
        clock: Clock,
        stale_after: float,
    ) -> None:
        """`stale_after`: seconds after which a group's last event says nothing about now."""
        self._reader = reader
        self._cache = cache
        self._retention = retention
        self._settings = settings
        self._clock = clock
        self._stale_ms = stale_after * 1000
        self._newest = NewestRecords(settings.samples)
        self._open_ended: dict[Position, Reading] = {}

    async def measure(self, groups: Sequence[GroupSnapshot]) -> list[FreshnessEvent]:
        """One event per group, within `freshness.read_timeout`, whatever the cluster does."""
        deadline = self._clock.monotonic() + self._settings.read_timeout
        budget = ByteBudget(self._settings.pass_bytes)
        heard_of = [group for group in groups if not self.is_stale(group)]
        states = [state for group in heard_of for state in group.states]
        await self._reader.prepare(
            {state.committed.topic for state in states}, timeout=self._left(deadline)
        )
        readings = await self._readings(states, budget, deadline)
        await self._sample(states, budget, deadline)
        behind = {position.topic for position in readings}
        await self._retention.refresh(behind, timeout=self._left(deadline))
        evidence = Evidence(
            readings, self._newest.times(), {topic: self._retention.of(topic) for topic in behind}
        )
        return [self._event(group, evidence) for group in groups]

    def is_stale(self, group: GroupSnapshot) -> bool:
        """Nothing was heard of the group for too long: the collector may be down."""
        return self._clock.now_ms() - group.observed_at > self._stale_ms

    async def close(self) -> None:
        await self._cache.flush()
        await self._reader.close()

    async def _readings(
        self, states: Sequence[PartitionState], budget: ByteBudget, deadline: float
    ) -> dict[Position, Reading]:
        """What is at the positions where groups go on reading: each position once."""
        wanted = {place: state for state in states if (place := state.to_read) is not None}
        settled = {place: r for place, r in self._open_ended.items() if _settled(wanted, place, r)}
        to_look_up = [place for place in wanted if place not in settled]
        topics = {place.topic for place in wanted}
        topic_ids = {topic: self._reader.metadata.topic_id(topic) for topic in topics}
        known = await self._cache.get_many(to_look_up, topic_ids)
        retention = {topic: self._retention.of(topic) for topic in topics}
        now = self._clock.now_ms()
        lasting = {
            place
            for place, times in known.items()
            if not _may_be_deleted(wanted[place], times, retention[place.topic], now)
        }
        missing = {p: self._from_offset(p, wanted[p]) for p in to_look_up if p not in lasting}
        read = await self._reader.read(missing, budget, timeout=self._left(deadline))
        new = {place: reading for place, reading in read.items() if place not in known}
        await self._cache.put_many(_cacheable(new), topic_ids)
        self._open_ended = {p: r for p, r in (settled | new).items() if r.first is None}
        cached = {p: Reading("record", times.first, times.before) for p, times in known.items()}
        seen = {p: r for p, r in read.items() if p in new or r.outcome != "unread"}
        return settled | cached | seen

    async def _sample(
        self, states: Sequence[PartitionState], budget: ByteBudget, deadline: float
    ) -> None:
        due = self._newest.due(states)
        wanted = {place: look_back(place, state.log_start) for place, state in due.items()}
        self._newest.take(
            await self._reader.read(wanted, budget, timeout=self._left(deadline), only_before=True)
        )

    def _from_offset(self, place: Position, state: PartitionState) -> int:
        """Where to read from: a search that was not finished in the last pass goes on."""
        unfinished = self._open_ended.get(place)
        if unfinished is not None and unfinished.resume_at != UNKNOWN:
            return unfinished.resume_at
        return look_back(place, state.log_start)

    def _event(self, group: GroupSnapshot, evidence: Evidence) -> FreshnessEvent:
        now = self._clock.now_ms()
        stale = self.is_stale(group)
        rows = {
            topic: [unheard_of(s) if stale else measure(s, evidence, now) for s in states]
            for topic, states in group.topics.items()
        }
        return group_event(group, rows, now)

    def _left(self, deadline: float) -> float:
        return max(deadline - self._clock.monotonic(), 0)


def look_back(place: Position, log_start: int) -> int:
    """The offset from which on a position's surroundings are read."""
    return max(place.offset - LOOK_BACK, log_start, 0)


def _settled(wanted: dict[Position, PartitionState], place: Position, reading: Reading) -> bool:
    """Nothing was at this position and nothing was appended since."""
    state = wanted.get(place)
    return (
        state is not None and reading.outcome == "none" and UNKNOWN != state.log_end <= reading.end
    )


def _may_be_deleted(
    state: PartitionState, times: RecordTimes, retention: int | None, now: int
) -> bool:
    """Retention has come this far: by now the log may begin after what is known of it."""
    is_old = retention is not None and times.first + retention <= now
    return is_old or state.lost_records > 0


def _cacheable(read: dict[Position, Reading]) -> dict[Position, RecordTimes]:
    """Times of records that are at their positions for good."""
    return {
        place: RecordTimes(reading.first, reading.before)
        for place, reading in read.items()
        if reading.first is not None and reading.log_start == UNKNOWN
    }
