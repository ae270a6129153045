"""What is at groups' positions: what is known, and what a pass reads of the rest."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from warren.clock import Clock
from warren.metrics.freshness import FRESHNESS_ROUND_PASSES
from warren.patterns import expressions
from warren_wire.partition_requests import EARLIEST_LOCAL

from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.passes.known_times import KnownTimes, TimeBrackets
from warren_freshness.passes.log_end_samples import LogStarts
from warren_freshness.positions.group_positions import GroupKey, GroupSnapshot
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.reading.batch_sizes import ByteBudget
from warren_freshness.reading.record_reader import RecordReader
from warren_freshness.record_times.cache import TimeCache
from warren_freshness.topics.retention import Retention

_Partition = tuple[str, int]

_NOTHING: Mapping[_Partition, int] = {}
_REMEMBERED = 10  # passes in a row that could not read all


class Reader(NamedTuple):
    """A group at the position where it goes on reading."""

    group: GroupKey
    position: LogPosition
    state: PartitionState


class Waiting:
    """How many passes in a row left groups' partitions unread. Of one cluster.

    As each pass begins with those that wait longest, nobody waits longer than it takes to read all
    that is wanted once: `bound` passes, at the pace of the last ones.
    """

    def __init__(self) -> None:
        self.bound = 1
        self._read: deque[int] = deque(maxlen=_REMEMBERED)
        # By group and partition: the group may move on while it waits.
        self._passes: dict[GroupKey, dict[_Partition, int]] = {}

    @property
    def longest(self) -> int:
        """Passes for which somebody has waited by now; 0: nobody waits."""
        return max(chain.from_iterable(p.values() for p in self._passes.values()), default=0)

    def in_order(
        self, readers: Iterable[Reader], missing: Collection[LogPosition]
    ) -> list[LogPosition]:
        """The missing positions, the first to be read first."""
        if not missing:
            return []
        wanted = frozenset(missing)
        ranks: dict[LogPosition, tuple[int, int, int]] = {}
        for group, position, state in readers:
            if position in wanted:
                passes = self._passes.get(group)
                waited = passes.get(position[:2], 0) if passes else 0
                since = state.known_since
                rank = (
                    -waited,
                    (state.log_observed_at if since is None else since),
                    state.committed_at,
                )
                before = ranks.get(position)
                if before is None or rank < before:
                    ranks[position] = rank
        return sorted(missing, key=ranks.__getitem__)

    def take(self, readers: Iterable[Reader], wanted: int, unread: Collection[LogPosition]) -> None:
        """Of `wanted` positions a pass left some unread."""
        self._read.append(wanted - len(unread))
        if not unread:
            self._read.clear()
        pace = max(sum(self._read), 1) / max(len(self._read), 1)
        self.bound = math.ceil(wanted / pace) if unread else 1
        passes: dict[GroupKey, dict[_Partition, int]] = defaultdict(dict)
        for group, position, _ in readers if unread else ():
            if position in unread:
                partition = position[:2]
                passes[group][partition] = self._passes.get(group, _NOTHING).get(partition, 0) + 1
        self._passes = dict(passes)


Wanted = Mapping[LogPosition, PartitionState]
SecondsLeft = Callable[[], float]


class PositionReadings:
    """Of one cluster's groups: each position once, however many groups are at it."""

    def __init__(
        self,
        reader: RecordReader,
        cache: TimeCache,
        retention: Retention,
        topics_deny: Iterable[str],
        clock: Clock,
    ) -> None:
        self._reader = reader
        self._retention = retention
        self._clock = clock
        self._known = KnownTimes(cache)
        self._starts = LogStarts(reader)
        self._waiting = Waiting()
        self._brackets = TimeBrackets(reader, clock)
        self._denied = expressions(topics_deny)

    async def read(
        self, groups: Sequence[GroupSnapshot], budget: ByteBudget, left: SecondsLeft
    ) -> dict[LogPosition, Reading]:
        """By position where a group goes on reading. `left`: seconds of the pass."""
        wanted = {
            place: state
            for group in groups
            for state in group.states
            if (place := state.to_read) is not None
        }
        topic_ids = {topic: self._reader.metadata.topic_id(topic) for topic in _topics(wanted)}
        known = await self._recall(wanted, topic_ids)
        known = await self._checked(wanted, known, topic_ids, left)
        missing = [place for place in wanted if place not in known]
        apart = await self._not_to_be_read(missing, left)
        order = self._waiting.in_order(_readers(groups), [p for p in missing if p not in apart])
        read = await self._read(order, wanted, topic_ids, budget, left)
        unread = {place for place, reading in read.items() if reading.outcome == "unread"}
        self._waiting.take(_readers(groups), len(read), unread)
        FRESHNESS_ROUND_PASSES.labels(self._reader.cluster).set(self._waiting.bound)
        apart |= {place for place, reading in read.items() if reading.outcome == "not_authorised"}
        known.update({place: Reading("unread") for place in apart})
        known.update(read)
        known.update(await self._estimate({p: wanted[p] for p in apart}, left))
        return known

    async def flush(self) -> None:
        """Waits until other instances have what was read last."""
        await self._known.flush()

    async def _recall(
        self, wanted: Wanted, topic_ids: Mapping[str, str]
    ) -> dict[LogPosition, Reading]:
        self._starts.begin(wanted, topic_ids)
        moved = self._starts.moved(wanted)
        if not moved:
            return await self._known.recall(wanted, topic_ids)
        now = {moved.get(place, place): state for place, state in wanted.items()}
        return _as_seen_from(wanted, moved, await self._known.recall(now, topic_ids))

    async def _checked(
        self,
        wanted: Wanted,
        known: dict[LogPosition, Reading],
        topic_ids: Mapping[str, str],
        left: SecondsLeft,
    ) -> dict[LogPosition, Reading]:
        """Without what is deleted by now. Where nobody answers, it counts as there."""
        kept_since = {topic: self._kept_since(topic) for topic in _topics(known)}
        doubtful = {
            place
            for place, reading in known.items()
            if reading.first is not None
            and (reading.first <= kept_since[place.topic] or wanted[place].lost_records > 0)
        }
        before = {place: self._starts.place(place) for place in doubtful}
        await self._starts.ask(doubtful, timeout=left())
        moved = {p: now_at for p in doubtful if (now_at := self._starts.place(p)) != before[p]}
        again = await self._known.recall_records(moved.values(), topic_ids) if moved else {}
        for place in moved:
            del known[place]
        known.update(_as_seen_from(moved, moved, again))
        return known

    async def _read(
        self,
        places: Sequence[LogPosition],
        wanted: Wanted,
        topic_ids: Mapping[str, str],
        budget: ByteBudget,
        left: SecondsLeft,
    ) -> dict[LogPosition, Reading]:
        """Those first that come first."""
        moved = self._starts.moved(places)
        starts = {
            (at := moved.get(place, place)): self._known.fetch_offset(at, wanted[place].log_start)
            for place in places
        }
        read = await self._reader.read(starts, budget, timeout=left())
        self._starts.learn(read)
        await self._known.keep(read, topic_ids)
        return _as_seen_from(places, moved, read) if moved else read

    async def _not_to_be_read(
        self, missing: Iterable[LogPosition], left: SecondsLeft
    ) -> set[LogPosition]:
        """Positions in topics that shall not be read, and those that are in remote storage only."""
        topics = _topics(missing)
        await self._retention.refresh(topics, timeout=left())
        denied = {topic for topic in topics if any(d.search(topic) for d in self._denied)}
        tiered = {topic for topic in topics - denied if self._retention.is_tiered(topic)}
        if not denied and not tiered:
            return set()
        partitions = {(p.topic, p.partition) for p in missing if p.topic in tiered}
        local = {}
        if partitions:
            requested = dict.fromkeys(partitions, EARLIEST_LOCAL)
            local = await self._reader.look_up(requested, timeout=left())
        return {
            place
            for place in missing
            if place.topic in denied
            or ((at := local.get((place.topic, place.partition))) and place.offset < at.offset)
        }

    async def _estimate(self, wanted: Wanted, left: SecondsLeft) -> dict[LogPosition, Reading]:
        if not wanted:
            return {}
        moved = self._starts.moved(wanted)
        now = {moved.get(place, place): state for place, state in wanted.items()}
        return _as_seen_from(wanted, moved, await self._brackets.read(now, left))

    def _kept_since(self, topic: str) -> float:
        """Retention has come this far, Unix ms: by now the log may begin after such a record."""
        if self._retention.limit(topic) is not None:
            return math.inf
        retention = self._retention.of(topic)
        return -math.inf if retention is None else self._clock.now_ms() - retention


def _readers(groups: Iterable[GroupSnapshot]) -> Iterator[Reader]:
    for group in groups:
        key = (group.cluster, group.group)
        for state in group.states:
            if (place := state.to_read) is not None:
                yield Reader(key, place, state)


def _topics(wanted: Iterable[LogPosition]) -> set[str]:
    return {place.topic for place in wanted}


def _as_seen_from(
    places: Iterable[LogPosition],
    moved: Mapping[LogPosition, LogPosition],
    found: Mapping[LogPosition, Reading],
) -> dict[LogPosition, Reading]:
    """What is known where positions are by now that may be deleted."""
    readings = {}
    for place in places:
        at = moved.get(place, place)
        reading = found.get(at)
        if reading is not None:
            is_moved = at != place and reading.log_start < at.offset
            readings[place] = reading._replace(log_start=at.offset) if is_moved else reading
    return readings
