"""The newest live state, and which groups it is news about."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from warren.clock import Clock
from warren.contracts import GroupEvent
from warren.errors import KafkaError
from warren.kafka.connection import Trouble

from warren_collector.groups.live.group import LiveGroup, LiveState, enriched
from warren_collector.sources.polling import GONE_AFTER, Owns, Polling
from warren_collector.sources.shards import Shards


@dataclass(slots=True)
class Requested:
    """Somebody who describes groups. `is_source`: groups are there because he says so, not only
    because records do.
    """

    polling: Polling[LiveState]
    trouble: Trouble
    is_source: bool
    state: LiveState = field(default_factory=LiveState)


@dataclass(frozen=True, slots=True)
class News:
    """Groups that are described otherwise than before. `sourced` ones may be new, or gone."""

    described: frozenset[str]
    sourced: frozenset[str]


class LiveGroups:
    """For the stack's thread. What cannot be asked leaves the events as they are recorded."""

    def __init__(
        self, requested: Sequence[Requested], shards: Shards, on_failed: Callable[[], None]
    ) -> None:
        """Of a group that several describe, the first one's word counts if he knows its members."""
        self._requested = requested
        self._shards = shards
        self._on_failed = on_failed

    def poll(self) -> News:
        """Takes in what was answered meanwhile."""
        owned = self._shards.owned or frozenset()
        described: set[str] = set()
        sourced: set[str] = set()
        for one in self._requested:
            one.polling.own(owned)
            names = self._take(one)
            described |= names
            if one.is_source:
                sourced |= names
        return News(frozenset(described), frozenset(sourced))

    def complete(self, event: GroupEvent) -> GroupEvent:
        """The event with its live and derived fields."""
        partitions = {
            t: n for one in reversed(self._requested) for t, n in one.state.partitions.items()
        }
        found = [
            one.state.groups[event.group]
            for one in self._requested
            if event.group in one.state.groups
        ]
        return enriched(
            event, max(found, key=lambda live: bool(live.members), default=None), partitions
        )

    def knows(self, group: str) -> bool:
        """Whether the group is there, though nothing may have been recorded of it."""
        return any(one.is_source and group in one.state.groups for one in self._requested)

    def shard_of(self, group: str) -> int:
        return self._shards.of(group)

    def _take(self, one: Requested) -> set[str]:
        try:
            state = one.polling.take(0)
        except KafkaError as error:
            self._on_failed()
            one.trouble.tell(error)
            return set()
        if state is None:
            return set()
        one.trouble.over()
        before, one.state = one.state, state
        if before.partitions != state.partitions:
            return {*before.groups, *state.groups}
        names = before.groups.keys() | state.groups.keys()
        return {name for name in names if before.groups.get(name) != state.groups.get(name)}


class Describer(Protocol):
    """Who is asked. Its methods raise KafkaError."""

    def listed(self) -> tuple[Mapping[str, LiveGroup], bool]:
        """All groups with what the list tells of them; False: there may be others."""

    def describe(self, groups: Iterable[LiveGroup]) -> Sequence[LiveGroup]:
        """Listed groups with all that can be had; those that nobody answered for are missing."""

    def partition_counts(self, topics: Iterable[str]) -> Mapping[str, int]:
        """Partitions by topic, of those that may be described; 0: there is no such topic."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Look:
    """When a group was described (monotonic seconds), as what, and how it was listed then."""

    at: float
    group: LiveGroup
    listed: LiveGroup


class LiveReader:
    """A group is described when it is new or listed otherwise than before, and every `interval`.

    For one thread.
    """

    def __init__(self, describer: Describer, interval: float, clock: Clock) -> None:
        """`interval` in seconds."""
        self._describer = describer
        self._interval = interval
        self._clock = clock
        self._looks: dict[str, _Look] = {}
        self._absences: Counter[str] = Counter()
        self._partitions: dict[str, int] = {}

    def read(self, shards: frozenset[int], owns: Owns) -> LiveState:
        """Raises KafkaError."""
        listed, is_complete = self._describer.listed()
        owned = {name: group for name, group in listed.items() if owns(name)}
        for name in list(self._looks):
            if name in owned:
                self._absences.pop(name, None)
                continue
            self._absences[name] += is_complete
            if not owns(name) or self._absences[name] >= GONE_AFTER:
                del self._looks[name]
                del self._absences[name]
        now = self._clock.monotonic()
        due = [group for group in owned.values() if self._is_due(group, now)]
        for group in self._describer.describe(due):
            self._looks[group.name] = self._look(group, owned[group.name], now)
        if due:
            topics = {
                topic
                for look in self._looks.values()
                for member in look.group.members or ()
                for topic in member.subscription
            }
            self._partitions = dict(self._describer.partition_counts(topics)) if topics else {}
        groups = {name: look.group for name, look in self._looks.items()}
        return LiveState(shards, groups, self._partitions)

    def close(self) -> None:
        self._describer.close()

    def _is_due(self, listed: LiveGroup, now: float) -> bool:
        look = self._looks.get(listed.name)
        return look is None or look.listed != listed or now - look.at >= self._interval

    def _look(self, group: LiveGroup, listed: LiveGroup, now: float) -> _Look:
        before = self._looks.get(group.name)
        if before is not None:
            is_other = _is_rebalanced(before.group, group)
            group = replace(
                group,
                rebalances=before.group.rebalances + is_other,
                last_rebalance_at=(
                    self._clock.now_ms() if is_other else before.group.last_rebalance_at
                ),
            )
        return _Look(now, group, listed)


def _is_rebalanced(before: LiveGroup, now: LiveGroup) -> bool:
    """Another generation or, where none is told, others who have something assigned."""
    if now.generation >= 0 and before.generation >= 0:
        return now.generation != before.generation
    if not now.members:  # all have left, or it is in the middle of one
        return False
    return _assignments(before) != _assignments(now)


def _assignments(group: LiveGroup) -> dict[str, Mapping[str, Sequence[int]]]:
    return {member.member_id: member.assignment for member in group.members or ()}
