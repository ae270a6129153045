"""Where the watched topics' logs begin and end: one ListOffsets request per broker.

Log ends do not go back, though a leader that was deposed and does not know it may say so.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from warren.clock import Clock
from warren.errors import ClusterUnreachable
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.metadata import NO_ERROR, NO_LEADER
from warren_wire.partition_requests import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    ListOffsetsRequest,
)

from warren_collector.logs.metadata import TopicMetadata

UNKNOWN = -1
TRUNCATED_AFTER = 30.0  # seconds; brokers know sooner that they lead no more
MADE_ANEW_AFTER = 1.0  # seconds; where no id tells
NEVER = np.inf

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(slots=True)
class _Log:
    """One topic's: its id; by partition the highest end, and since when lower ones are told."""

    id: str
    ends: Int64s
    lower_since: NDArray[np.float64]
    """Monotonic seconds; NEVER while no lower end is told."""

    def resize(self, partitions: int) -> None:
        both = min(partitions, len(self.ends))
        ends, lower_since = self.ends[:both], self.lower_since[:both]
        self.ends = np.full(partitions, UNKNOWN, np.int64)
        self.lower_since = np.full(partitions, NEVER)
        self.ends[:both], self.lower_since[:both] = ends, lower_since


class HighestEnds:
    """The highest end of every partition that was read, also while no group consumes the topic.

    A topic made anew begins anew: its id tells; where brokers have none, a second answer. Of the
    same topic a lower end counts when nothing else is told for 30 s: the log was truncated.
    """

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}

    def lower(self, topic: str, topic_id: str, end: Int64s) -> Bools:
        """Which of these ends are lower than those that were known. `topic_id`: may be empty."""
        log = self._logs.get(topic)
        lower = np.zeros(len(end), np.bool_)
        if log is not None and log.id == topic_id:
            both = min(len(end), len(log.ends))
            lower[:both] = (end[:both] < log.ends[:both]) & (end[:both] != UNKNOWN)
        return lower

    def hold(self, topic: str, topic_id: str, end: Int64s, now: float) -> tuple[Int64s, bool]:
        """The ends to go by, UNKNOWN where `end` is; and whether this is another log than before.

        `now`: monotonic seconds.
        """
        log = self._logs.get(topic)
        if log is None or log.id != topic_id:
            self._logs[topic] = _Log(topic_id, end.copy(), np.full(len(end), NEVER))
            return end, log is not None
        if len(log.ends) != len(end):
            log.resize(len(end))
        lower = self.lower(topic, topic_id, end)
        accepted = self._accepted(log, lower, now)
        known = end != UNKNOWN
        np.copyto(log.ends, end, where=accepted | (known & ~lower))
        held = np.where(known, log.ends, UNKNOWN) if lower.any() else end
        return held, bool(accepted.any())

    def _accepted(self, log: _Log, lower: Bools, now: float) -> Bools:
        """Which of the lower ends are true."""
        if not lower.any():
            log.lower_since.fill(NEVER)
            return lower
        log.lower_since[lower] = np.minimum(log.lower_since[lower], now)
        log.lower_since[~lower] = NEVER
        after = TRUNCATED_AFTER if log.id else MADE_ANEW_AFTER
        accepted: Bools = now - log.lower_since >= after
        log.lower_since[accepted] = NEVER
        return accepted

    def keep_only(self, topics: Container[str]) -> None:
        """Forgets the topics that are not there any more."""
        for topic in [topic for topic in self._logs if topic not in topics]:
            del self._logs[topic]


STARTS_EVERY = 30.0  # seconds; logs begin elsewhere only as retention goes on
_NOT_ASKED = -2  # nor UNKNOWN, which is asked for

_Offsets = dict[str, Int64s]


@dataclass(frozen=True, slots=True)
class TopicLog:
    """Offsets by partition; UNKNOWN where the leader did not say. `leader`: brokers by partition,
    or NO_LEADER; None where that is not told. `last_stable`: UNKNOWN where it was not asked for,
    and where it is the end; None where it is so everywhere.
    """

    start: Int64s
    end: Int64s
    leader: Int64s | None = None
    last_stable: Int64s | None = None

    def of(self, partitions: Int64s, count: int) -> TopicLog:
        """Of these partitions, which it has, and of more that it has not, `count` in all."""
        more = np.full(count - len(partitions), UNKNOWN, np.int64)
        return TopicLog(
            np.concatenate([self.start[partitions], more]),
            np.concatenate([self.end[partitions], more]),
            None if self.leader is None else np.concatenate([self.leader[partitions], more]),
        )


@dataclass(frozen=True, slots=True)
class LogEnds:
    """What was read in one go. A topic in neither of both: nothing is known about it."""

    topics: dict[str, TopicLog] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    """Topics that the cluster does not have."""
    suspected: frozenset[str] = frozenset()
    """Topics that it may not have, or with more partitions: wait for the next reading before saying
    anything of them.
    """
    refused: frozenset[str] = frozenset()
    """Topics that Warren may not describe: nothing is known of them."""
    unknown_partitions: int = 0


class LogEndsReader:
    """Reads the ends freshly each time; starts every 30 s and where they are not known yet. An end
    never goes back, whichever leader answers.

    For one thread: its event loop runs only within `read` and `close`.
    """

    def __init__(self, brokers: Brokers, metadata: TopicMetadata, clock: Clock) -> None:
        self._brokers = brokers
        self._metadata = metadata
        self._clock = clock
        self._starts: _Offsets = {}
        self._starts_before: _Offsets = {}
        """Those of the reading before, where there is one now. Who commits, and deletes what it has
        read, has lost nothing: what is told of a log's start was read before what was committed.
        """
        self._starts_read_at = -STARTS_EVERY
        self._highest = HighestEnds()
        self._runner = asyncio.Runner()

    def read(self, named: Mapping[str, int]) -> LogEnds:
        """Of these topics; `named`: how many partitions of each the commits before this name.

        Raises ClusterUnreachable or AuthenticationFailed when no end at all could be read.
        """
        return self._runner.run(self._read(dict(sorted(named.items()))))

    def with_last_stable(self, ends: LogEnds, wanted: Mapping[str, Int64s]) -> LogEnds:
        """With the last stable offsets of the `wanted` partitions, by topic, where they are not the
        ends. What no leader says stays unknown: raises nothing.
        """
        return self._runner.run(self._with_last_stable(ends, wanted)) if wanted else ends

    def read_all(self, accepts: Callable[[str], bool]) -> LogEnds:
        """Of every accepted topic that may be described. Raises what `read` raises."""
        return self._runner.run(self._read_all(accepts))

    def read_past(
        self, accepts: Callable[[str], bool], times: Sequence[int]
    ) -> list[dict[str, Int64s]]:
        """Where the accepted topics' logs ended at these times, Unix ms: before the first record
        that is not older. UNKNOWN where there is none, or nobody says. Raises what `read` raises.
        """
        return self._runner.run(self._read_past(accepts, times))

    def close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()

    async def _read_all(self, accepts: Callable[[str], bool]) -> LogEnds:
        return await self._read(dict.fromkeys(await self._all(accepts), 0))

    async def _read_past(
        self, accepts: Callable[[str], bool], times: Sequence[int]
    ) -> list[dict[str, Int64s]]:
        topics = dict.fromkeys(await self._all(accepts))
        past: list[_Offsets] = [{} for _ in times]
        for ends, time in zip(past, times, strict=True):
            self._make_room(ends, topics)
            await self._fill(ends, time)
        return past

    async def _with_last_stable(self, ends: LogEnds, wanted: Mapping[str, Int64s]) -> LogEnds:
        stable = {topic: np.full(len(ends.topics[topic].end), _NOT_ASKED) for topic in wanted}
        for topic, partitions in wanted.items():
            stable[topic][partitions] = UNKNOWN
        await self._fill(stable, LATEST, READ_COMMITTED)
        topics = dict(ends.topics)
        for topic, found in stable.items():
            log = topics[topic]
            open_there = (found >= 0) & (found < log.end)
            if open_there.any():
                topics[topic] = replace(log, last_stable=np.where(open_there, found, UNKNOWN))
        return replace(ends, topics=topics)

    async def _all(self, accepts: Callable[[str], bool]) -> list[str]:
        names = await self._metadata.refresh_all(self._brokers)
        self._highest.keep_only(self._metadata.ids.keys())
        return sorted(filter(accepts, names))

    async def _read(self, topics: Mapping[str, int]) -> LogEnds:
        if not topics:
            return LogEnds()
        await self._metadata.refresh(self._brokers, topics)
        ends: _Offsets = {}
        self._make_room(ends, topics)
        is_answered = await self._fill(ends, LATEST)
        if not is_answered or self._goes_back(ends):
            # Leaders have moved, or connections were closed since the last tick: once more.
            self._metadata.expire()
            await self._metadata.refresh(self._brokers, topics, is_second=True)
            self._make_room(ends, topics)
            await self._fill(ends, LATEST)
        if ends and all((end == UNKNOWN).all() for end in ends.values()):
            raise ClusterUnreachable(
                self._metadata.cluster,
                f"{self._metadata.setting}.bootstrap",
                "no leader says where its logs end",
            )
        # Replaces ends that are lower than before, unless they are true.
        now = self._clock.monotonic()
        for topic, end in ends.items():
            ends[topic], is_another = self._highest.hold(topic, self._metadata.ids[topic], end, now)
            if is_another:
                self._starts.pop(topic, None)
        await self._read_starts(ends)
        return LogEnds(
            topics={t: self._topic_log(t, end) for t, end in ends.items()},
            missing=self._metadata.missing.intersection(topics),
            suspected=self._metadata.suspected.intersection(topics),
            refused=self._metadata.refused,
            unknown_partitions=sum(int((end == UNKNOWN).sum()) for end in ends.values()),
        )

    def _goes_back(self, ends: _Offsets) -> bool:
        """Whether some end is lower than before; forgets it, so that it is asked for again."""
        goes_back = False
        for topic, end in ends.items():
            lower = self._highest.lower(topic, self._metadata.ids[topic], end)
            if lower.any():
                end[lower] = UNKNOWN
                goes_back = True
        return goes_back

    def _make_room(self, offsets: _Offsets, topics: Mapping[str, object]) -> None:
        """Arrays as long as the topics have partitions; what is known stays."""
        leaders = self._metadata.leaders
        for topic in topics:
            known = offsets.pop(topic, None)
            if topic in leaders:
                partitions = len(leaders[topic])
                if known is None or len(known) != partitions:
                    known = np.full(partitions, UNKNOWN, np.int64)
                offsets[topic] = known

    async def _fill(
        self, offsets: _Offsets, timestamp: int, isolation: int = READ_UNCOMMITTED
    ) -> bool:
        """Asks the leaders for what is UNKNOWN; False when asking again may help."""
        wanted: dict[int, list[tuple[str, list[int]]]] = defaultdict(list)
        for topic, known in offsets.items():
            leaders = self._metadata.leaders[topic]
            by_leader: dict[int, list[int]] = defaultdict(list)
            for partition in (known == UNKNOWN).nonzero()[0].tolist():
                by_leader[leaders[partition]].append(partition)
            for leader, partitions in by_leader.items():
                if leader != NO_LEADER:
                    wanted[leader].append((topic, partitions))
        requested = [
            self._ask(broker, partitions, timestamp, isolation, offsets)
            for broker, partitions in wanted.items()
        ]
        return all(await asyncio.gather(*requested))

    async def _ask(
        self,
        broker: int,
        wanted: list[tuple[str, list[int]]],
        timestamp: int,
        isolation: int,
        offsets: _Offsets,
    ) -> bool:
        """One broker's answer goes into `offsets`; False when asking again may help."""
        topics = [(topic, [(p, timestamp) for p in partitions]) for topic, partitions in wanted]
        try:
            answer = await self._brokers.send(broker, ListOffsetsRequest(topics, isolation))
        except TimeoutError:
            self._metadata.expire()
            return True  # asking again would make the tick too late
        except UNANSWERED:
            return False
        refused = False
        for topic, partitions in answer.topics:
            column = offsets[topic]
            for partition, error, _timestamp, offset, *_ in partitions:
                if error == NO_ERROR:
                    column[partition] = offset
                else:
                    refused = True
        return not refused

    async def _read_starts(self, ends: _Offsets) -> None:
        now = self._clock.monotonic()
        if now - self._starts_read_at >= STARTS_EVERY:
            self._starts_before, self._starts = self._starts, {}
            self._starts_read_at = now
        else:
            self._starts_before = {}
        self._make_room(self._starts, ends)
        await self._fill({topic: self._starts[topic] for topic in ends}, EARLIEST)

    def _topic_log(self, topic: str, end: Int64s) -> TopicLog:
        start = self._starts[topic]
        beyond = (start > end) & (end != UNKNOWN)
        if beyond.any():
            # The topic was created anew under its old name: what was known is of the old one.
            start[beyond] = UNKNOWN
        leader = np.array(self._metadata.leaders[topic], np.int64)
        before = self._starts_before.get(topic, start)
        if len(before) == len(start):
            start = np.where((before != UNKNOWN) & (before < start), before, start)
        return TopicLog(start.copy(), end, leader if len(leader) == len(end) else None)
