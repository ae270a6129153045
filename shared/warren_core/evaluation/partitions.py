"""Judging of partitions: how complete each window is, and the policy's word where it counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status

from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.policies import Policy, Statuses
from warren_core.evaluation.windows import Int64

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PartitionVerdicts:
    """[partition] each."""

    status: Statuses
    complete: Floats  # filled share of the window, 0 to 1


def judge_partitions(
    evidence: Evidence,
    policy: Policy,
    *,
    intervals: int | Int64,
    allowed_lag: int | Int64,
    minimum_complete: float | Floats,
) -> PartitionVerdicts:
    """A partition without commits, or with a window not complete enough to judge, is OK."""
    filled = evidence.windows.filled
    complete: Floats = filled / intervals
    # In single precision, as Burrow compares: 1/3 is enough for a minimum of 0.33333334.
    enough = complete.astype(np.float32) >= np.float32(minimum_complete)
    judged = (filled > 0) & enough
    status = np.where(judged, policy(evidence, allowed_lag), np.uint8(Status.OK))
    return PartitionVerdicts(status.astype(np.uint8, copy=False), complete)
