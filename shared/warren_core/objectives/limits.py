"""Limits: what the objectives ask of a group, one by one."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from warren.contracts import FRESHNESS_CHANGED, RETENTION_CHANGED, EventTypeName, LimitName, Status
from warren.patterns import Expression, any_matches, expressions
from warren.settings import RETENTION, GroupSettings, ObjectiveSettings

from warren_core.objectives.near_loss import HALF, SOON_MS
from warren_core.ownership import NOBODY_S, Ownership, OwnershipBook

DEFAULT_CLEAR_AFTER_MS = 60_000
MOST_GROUPS = 100_000  # whose limits are kept at hand

Patterns = tuple[Expression, ...]
_RETENTION_LIMITS: frozenset[LimitName] = frozenset(("min_time_to_loss", "lost_records"))


@dataclass(frozen=True, slots=True)
class Limit:
    """One of a group's. `wanted` in milliseconds, records, records a second, or a share of time."""

    objective: str
    name: LimitName
    wanted: float
    status: Status  # while it is not kept
    for_ms: int = 0
    clear_after_ms: int = DEFAULT_CLEAR_AFTER_MS
    topics: Patterns = ()
    """Only these; none: all."""
    but: Patterns = ()
    """Not these."""
    below_share: float = 1.0
    """Of the retention; more than that left is no loss to come."""
    owner: str | None = None
    runbook: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    """Of the group, as `Ownership` has them."""
    target_of: Limit | None = None
    """Of a burn rate: what is to be kept for that share of the time."""

    @property
    def key(self) -> str:
        if self.target_of is not None:
            return f"{self.target_of.key}/{self.name}"
        return f"{self.objective}/{self.name}"

    @property
    def event_type(self) -> EventTypeName:
        if self.target_of is not None:
            return self.target_of.event_type
        return RETENTION_CHANGED if self.name in _RETENTION_LIMITS else FRESHNESS_CHANGED

    @property
    def is_of_all_topics(self) -> bool:
        return not self.topics and not self.but

    def covers(self, topic: str) -> bool:
        return any_matches(self.topics, topic) and not any(p.search(topic) for p in self.but)


class ObjectiveBook:
    """Which limits a group has, and whose it is: an objective says it where `[[groups]]` do not."""

    def __init__(
        self, settings: Sequence[ObjectiveSettings], groups: Sequence[GroupSettings] = ()
    ) -> None:
        """`groups`: whose they are, where an objective does not say it."""
        owned_by = OwnershipBook(groups)
        objectives = [_Objective(each) for each in settings]

        @functools.cache
        def shared(matching: tuple[_Objective, ...]) -> tuple[Limit, ...]:
            return (*_retention(matching), *(limit for each in matching for limit in each.limits()))

        @functools.cache
        def owned(limits: tuple[Limit, ...], by: Ownership) -> tuple[Limit, ...]:
            if by == NOBODY_S:
                return limits
            return tuple(
                replace(
                    one,
                    owner=one.owner or by.owner,
                    runbook=one.runbook or by.runbook,
                    labels=by.labels,
                )
                for one in limits
            )

        @functools.lru_cache(maxsize=MOST_GROUPS)
        def limits_for(cluster: str, group: str) -> tuple[Limit, ...]:
            limits = shared(tuple(each for each in objectives if each.matches(cluster, group)))
            return owned(limits, owned_by.of(cluster, group))

        @functools.lru_cache(maxsize=MOST_GROUPS)
        def ownership_for(cluster: str, group: str) -> Ownership:
            own, limits = owned_by.of(cluster, group), limits_for(cluster, group)
            return own._replace(
                owner=own.owner or next((one.owner for one in limits if one.owner), None),
                runbook=own.runbook or next((one.runbook for one in limits if one.runbook), None),
            )

        self.limits_for = limits_for
        self.ownership_for = ownership_for

    def owner_of(self, cluster: str, group: str) -> str | None:
        return self.ownership_for(cluster, group).owner


class _Objective:
    """One of the settings, its expressions compiled. They are searched for, not anchored."""

    def __init__(self, settings: ObjectiveSettings) -> None:
        self.settings = settings
        self._clusters = expressions(settings.clusters)
        self._groups = expressions(settings.groups)
        self.topics = expressions(settings.topics)

    def matches(self, cluster: str, group: str) -> bool:
        return any_matches(self._clusters, cluster) and any_matches(self._groups, group)

    def limits(self) -> Iterator[Limit]:
        target = self.settings.target
        for limit in self._asked():
            yield limit
            if target is not None and limit.name != "lost_records":
                yield replace(limit, name="burn_rate", wanted=target, for_ms=0, target_of=limit)

    def _asked(self) -> Iterator[Limit]:
        asked = self.settings
        if asked.max_freshness is not None:
            yield self._limit("max_freshness", asked.max_freshness * 1000)
        if asked.max_lag is not None:
            yield self._limit("max_lag", asked.max_lag)
        if asked.min_produce_rate is not None:
            yield self._limit("min_produce_rate", asked.min_produce_rate)
        if asked.min_time_to_loss:
            yield self._limit("min_time_to_loss", asked.min_time_to_loss * 1000)
            # However bad it is that records may be lost, those that are lost are an error.
            yield replace(self._limit("lost_records", 0), status=Status.ERR, for_ms=0)

    def _limit(self, name: LimitName, wanted: float) -> Limit:
        asked = self.settings
        return Limit(
            asked.name,
            name,
            wanted,
            Status[asked.severity],
            round(asked.for_ * 1000),
            round(asked.clear_after * 1000),
            self.topics,
            owner=asked.owner or None,
            runbook=asked.runbook or None,
        )


def _retention(matching: Sequence[_Objective]) -> tuple[Limit, ...]:
    """The default, for the topics of which no objective says what retention is to leave."""
    said = [each.topics for each in matching if each.settings.min_time_to_loss is not None]
    if not all(said):
        return ()  # one says it of all topics
    but = tuple(pattern for topics in said for pattern in topics)
    return (
        Limit(RETENTION, "lost_records", 0, Status.ERR, but=but),
        Limit(RETENTION, "min_time_to_loss", SOON_MS, Status.WARN, but=but, below_share=HALF),
    )
