"""Partition rules: the rules of a group laid out by row, where topics may have their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from warren.settings import PolicyName

from warren_core.evaluation.rules import GroupRules, Rules
from warren_core.evaluation.windows import Bools, Int64


@dataclass(frozen=True, slots=True)
class PartitionRules:
    """A number is for all partitions, an array [partition]."""

    slots: int  # the largest number of intervals
    intervals: int | Int64
    min_distance_ms: int | Int64
    allowed_lag: int | Int64
    minimum_complete: float | NDArray[np.float64]
    policies: Mapping[PolicyName, Bools]  # who is judged by which
    grace_ms: int  # every group is observed so often
    doubt: bool | Bools  # whose windows are doubted while they fill

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
            minimum_complete=np.repeat([one.minimum_complete for one in each], counts),
            policies={one.policy: policy == one.policy for one in each},
            grace_ms=rules.group.grace_ms,
            doubt=np.repeat([one.doubt for one in each], counts),
        )

    @classmethod
    def _same(cls, rules: Rules, partitions: int) -> Self:
        return cls(
            slots=rules.intervals,
            intervals=rules.intervals,
            min_distance_ms=rules.min_distance_ms,
            allowed_lag=rules.allowed_lag,
            minimum_complete=rules.minimum_complete,
            policies={rules.policy: np.ones(partitions, np.bool_)},
            grace_ms=rules.grace_ms,
            doubt=rules.doubt,
        )

    def min_distance_of(self, rows: Int64) -> int | Int64:
        return _of(self.min_distance_ms, rows)

    def allowed_lag_of(self, rows: Int64) -> int | Int64:
        return _of(self.allowed_lag, rows)

    def capacity_of(self, rows: Int64) -> Int64 | None:
        """None when all windows have all slots."""
        return None if isinstance(self.intervals, int) else self.intervals[rows]

    def policy_of(self, row: int) -> PolicyName:
        return next(name for name, mask in self.policies.items() if mask[row])


def _of(value: int | Int64, rows: Int64) -> int | Int64:
    return value if isinstance(value, int) else value[rows]
