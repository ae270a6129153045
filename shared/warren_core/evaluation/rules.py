"""Rules: the settings by which one group, or one topic of it, is judged; and by row."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from warren.patterns import any_matches, expressions
from warren.settings import CollectorSettings, EvaluationOverride, EvaluationSettings, PolicyName

from warren_core.evaluation.windows import LOG_ENDS_APART_MS, Bools, Int64

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
    expected_every_ms: int = 0
    """The owner's word: a run comes so often; 0: nothing is said."""
    expected_delay_ms: int = 0
    """The owner's word: so late it is on purpose."""
    ignore: bool = False
    """The owner's word: not judged."""
    grace_ms: int = 15_000
    """Every group is observed so often."""
    log_ends_apart_ms: int = LOG_ENDS_APART_MS

    @property
    def needed(self) -> float:
        """The filled share of a window from which it is judged: only Burrow's rules need one."""
        return self.minimum_complete if self.policy == "burrow" else 0.0

    @property
    def has_owners_word(self) -> bool:
        """Whether the owner has said what to expect, or that nobody need look."""
        return self.ignore or self.expected_every_ms > 0 or self.expected_delay_ms > 0

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
    seconds = ("min_distance", "expire_group", "expected_every", "expected_delay")
    return {
        f"{name}_ms" if name in seconds else name: round(value * 1000) if name in seconds else value
        for name, value in settings.items()
    }


class Override:
    """One `[[evaluation.overrides]]`, compiled. Expressions are searched for anywhere in a name."""

    def __init__(self, settings: EvaluationOverride) -> None:
        self._clusters = expressions(settings.clusters)
        self._groups = expressions(settings.groups)
        self.topics = expressions(settings.topics)
        self.changes = _in_milliseconds(settings.changes())

    def matches(self, cluster: str, group: str) -> bool:
        return any_matches(self._clusters, cluster) and any_matches(self._groups, group)


class GroupRules:
    """The rules of one group: `group` holds but for topics that have their own."""

    def __init__(self, base: Rules, overrides: Sequence[Override] = ()) -> None:
        """`overrides` are those that match the group, the first one counts most."""
        self._base = base
        self._overrides = tuple(overrides)
        self._topics: dict[str, Rules] = {}
        self.group = _applied(base, [o for o in overrides if not o.topics])
        self.same_for_all_topics = not any(o.topics for o in overrides)

    def of_topic(self, topic: str) -> Rules:
        if self.same_for_all_topics:
            return self.group
        if topic not in self._topics:
            matching = [o for o in self._overrides if any_matches(o.topics, topic)]
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


def _applied(base: Rules, overrides: Sequence[Override]) -> Rules:
    changes: dict[str, Any] = {}
    for override in overrides:
        changes = override.changes | changes
    return replace(base, **changes)


@dataclass(frozen=True, slots=True)
class PartitionRules:
    """The rules of a group laid out by row, where topics may have their own. A number is for all
    partitions, an array [partition].
    """

    slots: int  # the largest number of intervals
    intervals: int | Int64
    min_distance_ms: int | Int64
    allowed_lag: int | Int64
    minimum_complete: float | NDArray[np.float64]
    policies: Mapping[PolicyName, Bools]  # who is judged by which
    grace_ms: int  # every group is observed so often
    expected_every_ms: int | Int64 = 0  # the owner's word, as in `Rules`
    expected_delay_ms: int | Int64 = 0
    ignore: bool | Bools = False

    @classmethod
    def of(cls, rules: GroupRules, topics: Iterable[tuple[str, int]]) -> Self:
        """`topics` are names and numbers of partitions, in the order of the rows."""
        if rules.same_for_all_topics:
            return cls._same(rules.group, sum(count for _, count in topics))
        listed = list(topics)
        counts = [count for _, count in listed]
        each = [rules.of_topic(topic) for topic, _ in listed]
        if len(set(each)) <= 1:
            return cls._same(each[0] if each else rules.group, sum(counts))
        policy = np.repeat([one.policy for one in each], counts)
        return cls(
            slots=max(one.intervals for one in each),
            intervals=np.repeat([one.intervals for one in each], counts),
            min_distance_ms=np.repeat([one.min_distance_ms for one in each], counts),
            allowed_lag=np.repeat([one.allowed_lag for one in each], counts),
            minimum_complete=np.repeat([one.needed for one in each], counts),
            policies={one.policy: policy == one.policy for one in each},
            grace_ms=rules.group.grace_ms,
            expected_every_ms=np.repeat([one.expected_every_ms for one in each], counts),
            expected_delay_ms=np.repeat([one.expected_delay_ms for one in each], counts),
            ignore=np.repeat([one.ignore for one in each], counts),
        )

    @classmethod
    def _same(cls, rules: Rules, partitions: int) -> Self:
        return cls(
            slots=rules.intervals,
            intervals=rules.intervals,
            min_distance_ms=rules.min_distance_ms,
            allowed_lag=rules.allowed_lag,
            minimum_complete=rules.needed,
            policies={rules.policy: np.ones(partitions, np.bool_)},
            grace_ms=rules.grace_ms,
            expected_every_ms=rules.expected_every_ms,
            expected_delay_ms=rules.expected_delay_ms,
            ignore=rules.ignore,
        )

    def ignored_rows(self, partitions: int) -> list[int]:
        """Of so many partitions those that are not judged."""
        rows: list[int] = np.flatnonzero(np.broadcast_to(self.ignore, partitions)).tolist()
        return rows


def of_rows(value: int | Int64, rows: Int64) -> int | Int64:
    """A rule's number for all rows, or those of these."""
    return value if isinstance(value, int) else value[rows]
