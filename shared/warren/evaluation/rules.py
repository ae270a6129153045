"""Rules: the settings by which one group is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from warren.settings import EvaluationSettings, PolicyName


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one group; times in milliseconds."""

    policy: PolicyName = "burrow"
    intervals: int = 10
    min_distance_ms: int = 1000
    allowed_lag: int = 0
    minimum_complete: float = 0.0
    expire_group_ms: int = 7 * 86_400_000

    @classmethod
    def from_settings(cls, settings: EvaluationSettings) -> Self:
        return cls(
            policy=settings.policy,
            intervals=settings.intervals,
            min_distance_ms=round(settings.min_distance * 1000),
            allowed_lag=settings.allowed_lag,
            minimum_complete=settings.minimum_complete,
            expire_group_ms=round(settings.expire_group * 1000),
        )
