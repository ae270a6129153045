"""The newest live state, and which groups it is news about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from warren.contracts import GroupEvent
from warren.errors import KafkaError
from warren.kafka.trouble import Trouble

from warren_collector.groups.live.enrichment import enriched
from warren_collector.groups.live.group import LiveGroup, LiveState
from warren_collector.sources.polling import Polling
from warren_collector.sources.shards import Shards


@dataclass(slots=True)
class Asked:
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
        self, asked: Sequence[Asked], shards: Shards, on_failed: Callable[[], None]
    ) -> None:
        """Of a group that several describe, the first one's word counts if he knows its members."""
        self._asked = asked
        self._shards = shards
        self._on_failed = on_failed

    def poll(self) -> News:
        """Takes in what was answered meanwhile."""
        owned = self._shards.owned or frozenset()
        described: set[str] = set()
        sourced: set[str] = set()
        for one in self._asked:
            one.polling.own(owned)
            names = self._take(one)
            described |= names
            if one.is_source:
                sourced |= names
        return News(frozenset(described), frozenset(sourced))

    def complete(self, event: GroupEvent) -> GroupEvent:
        """The event with its live and derived fields."""
        partitions = {
            t: n for one in reversed(self._asked) for t, n in one.state.partitions.items()
        }
        return enriched(event, self._newest(event.group), partitions)

    def knows(self, group: str) -> bool:
        """Whether the group is there, though nothing may have been recorded of it."""
        return any(one.is_source and group in one.state.groups for one in self._asked)

    def shard_of(self, group: str) -> int:
        return self._shards.of(group)

    def _newest(self, group: str) -> LiveGroup | None:
        found = [one.state.groups[group] for one in self._asked if group in one.state.groups]
        return max(found, key=lambda live: bool(live.members), default=None)

    def _take(self, one: Asked) -> set[str]:
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
