"""Rules: the settings by which one group, or one topic of it, is judged."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from warren.patterns import Expression, expressions
from warren.settings import CollectorSettings, EvaluationOverride, EvaluationSettings, PolicyName

from warren_core.evaluation.windows import LOG_ENDS_APART_MS

MOST_GROUPS = 100_000  # whose rules are kept at hand


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one group or topic; times in milliseconds."""

    policy: PolicyName = "burrow"
    intervals: int = 10
    min_distance_ms: int = 1000
    allowed_lag: int = 0
    minimum_complete: float = 0.0
    expire_group_ms: int = 7 * 86_400_000
    doubt: bool = True
    """Whether what a window says that has begun to fill is doubted; false: to the letter."""
    grace_ms: int = 15_000
    """So long, a window that has begun to fill is not taken for a group that has stopped."""
    log_ends_apart_ms: int = LOG_ENDS_APART_MS

    @classmethod
    def from_settings(
        cls, settings: EvaluationSettings, collector: CollectorSettings | None = None
    ) -> Self:
        """What holds where nothing is overridden. `collector`: how often groups are observed."""
        pace = collector or CollectorSettings()
        return cls(
            **_in_milliseconds(settings.model_dump(exclude={"overrides"})),
            grace_ms=round((pace.interval + pace.heartbeat) * 1000),
            # A tenth more: ten of them are ten heartbeats at least, though ticks come early.
            log_ends_apart_ms=round(pace.heartbeat * 1100),
        )


def _in_milliseconds(settings: Mapping[str, Any]) -> dict[str, Any]:
    seconds = ("min_distance", "expire_group")
    return {
        f"{name}_ms" if name in seconds else name: round(value * 1000) if name in seconds else value
        for name, value in settings.items()
    }


class Override:
    """One `[[evaluation.overrides]]`, compiled. Expressions are searched for anywhere in a name."""

    def __init__(self, settings: EvaluationOverride) -> None:
        self._clusters = expressions(settings.clusters)
        self._groups = expressions(settings.groups)
        self._topics = expressions(settings.topics)
        self.changes = _in_milliseconds(settings.changes())

    @property
    def names_topics(self) -> bool:
        return bool(self._topics)

    def matches(self, cluster: str, group: str) -> bool:
        return _matches(self._clusters, cluster) and _matches(self._groups, group)

    def matches_topic(self, topic: str) -> bool:
        return _matches(self._topics, topic)


class GroupRules:
    """The rules of one group: `group` holds but for topics that have their own."""

    def __init__(self, base: Rules, overrides: Sequence[Override] = ()) -> None:
        """`overrides` are those that match the group, the first one counts most."""
        self._base = base
        self._overrides = tuple(overrides)
        self._topics: dict[str, Rules] = {}
        self.group = _applied(base, [o for o in overrides if not o.names_topics])
        self.same_for_all_topics = not any(o.names_topics for o in overrides)

    def of_topic(self, topic: str) -> Rules:
        if self.same_for_all_topics:
            return self.group
        if topic not in self._topics:
            matching = [o for o in self._overrides if o.matches_topic(topic)]
            self._topics[topic] = _applied(self._base, matching)
        return self._topics[topic]


class RuleBook:
    """Which rules a group has. Groups that the same overrides match share theirs."""

    def __init__(
        self, settings: EvaluationSettings, collector: CollectorSettings | None = None
    ) -> None:
        """`collector`: how often groups are observed; None for by default."""
        base = Rules.from_settings(settings, collector)
        overrides = [Override(each) for each in settings.overrides]

        @functools.cache
        def shared(matching: tuple[Override, ...]) -> GroupRules:
            return GroupRules(base, matching)

        @functools.lru_cache(maxsize=MOST_GROUPS)
        def rules_for(cluster: str, group: str) -> GroupRules:
            return shared(tuple(o for o in overrides if o.matches(cluster, group)))

        self.rules_for = rules_for


def _matches(patterns: Sequence[Expression], name: str) -> bool:
    return not patterns or any(pattern.search(name) for pattern in patterns)


def _applied(base: Rules, overrides: Sequence[Override]) -> Rules:
    changes: dict[str, Any] = {}
    for override in overrides:
        changes = override.changes | changes
    return replace(base, **changes)
