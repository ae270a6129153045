"""Policies: which rules, in which order, give a partition its status.

A policy is a function from evidence and rules to one status per partition; it is registered under
the name that the setting `evaluation.policy` knows. It need not care for partitions without
commits or with too short a window: `judge_partitions` does.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status
from warren.settings import PolicyName

from warren_core.evaluation import predicates
from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.progress import judge, tracked
from warren_core.evaluation.windows import Bools, Int64

Statuses: TypeAlias = NDArray[np.uint8]
Policy: TypeAlias = Callable[[Evidence, "int | Int64"], Statuses]


def burrow(evidence: Evidence, allowed_lag: int | Int64) -> Statuses:
    """The rules as Burrow applies them (linkedin/Burrow 1.9.5, core/internal/evaluator).

    A partition whose current lag is unknown is OK: nothing says that it is behind.
    """
    windows = evidence.windows
    in_trouble = predicates.lag_always_above(windows, allowed_lag)
    return _first_that_holds(
        (evidence.current_lag <= allowed_lag, Status.OK),
        (
            predicates.stopped(windows, evidence.now_ms) & ~predicates.log_end_reached(windows),
            Status.STOP,
        ),
        (predicates.rewound(windows), Status.REWIND),
        (~in_trouble, Status.OK),
        (predicates.stalled(windows) & in_trouble, Status.STALL),
        (predicates.lag_never_decreasing(windows) & in_trouble, Status.WARN),
    )


def progress(evidence: Evidence, allowed_lag: int | Int64) -> Statuses:
    """Ours: by time, with what is usual for each partition (`warren_core.evaluation.progress`)."""
    status = judge(tracked(evidence, allowed_lag), evidence.now_ms)
    return np.where(evidence.current_lag <= allowed_lag, np.uint8(Status.OK), status)


POLICIES: Mapping[PolicyName, Policy] = {"burrow": burrow, "progress": progress}


def by_partition(masks: Mapping[PolicyName, Bools]) -> Policy:
    """A policy that asks another one for some partitions; each is in one of the masks."""
    if len(masks) == 1:
        return POLICIES[next(iter(masks))]

    def mixed(evidence: Evidence, allowed_lag: int | Int64) -> Statuses:
        statuses = [POLICIES[name](evidence, allowed_lag) for name in masks]
        return np.select(list(masks.values()), statuses, default=np.uint8(Status.OK))

    return mixed


def _first_that_holds(*rules: tuple[Bools, Status]) -> Statuses:
    """Per partition the status of the first rule that holds; OK when none does."""
    statuses = [np.uint8(status) for _, status in rules]
    return np.select([holds for holds, _ in rules], statuses, default=np.uint8(Status.OK))
