"""Evaluation: windows of commits in, statuses out. Pure functions on NumPy columns, no I/O.

The same windows at the same moment always give the same statuses: live, replayed, or in a batch.
"""

from warren_core.evaluation.evidence import Evidence, Uncommitted
from warren_core.evaluation.explanations import Explanation, explain
from warren_core.evaluation.lateness import late_ms, reads_a_burst
from warren_core.evaluation.learning import see
from warren_core.evaluation.onset import Began, Onset, onset_of
from warren_core.evaluation.patience import usual_gap
from warren_core.evaluation.policies import POLICIES, Policy, by_partition
from warren_core.evaluation.presence import presence_of
from warren_core.evaluation.progress import waited_ms
from warren_core.evaluation.rules import GroupRules, PartitionRules, RuleBook, Rules
from warren_core.evaluation.track import Sighting, Track
from warren_core.evaluation.verdicts import (
    GroupSummary,
    GroupVerdict,
    PartitionVerdicts,
    is_expired,
    judge_group,
    judge_partitions,
    told_beyond_end,
    told_never_committed,
)
from warren_core.evaluation.waits import expect, inherit
from warren_core.evaluation.windows import MAX_TIME, UNKNOWN, Bools, Column, Int64, Windows

__all__ = [
    "MAX_TIME",
    "POLICIES",
    "UNKNOWN",
    "Began",
    "Bools",
    "Column",
    "Evidence",
    "Explanation",
    "GroupRules",
    "GroupSummary",
    "GroupVerdict",
    "Int64",
    "Onset",
    "PartitionRules",
    "PartitionVerdicts",
    "Policy",
    "RuleBook",
    "Rules",
    "Sighting",
    "Track",
    "Uncommitted",
    "Windows",
    "by_partition",
    "expect",
    "explain",
    "inherit",
    "is_expired",
    "judge_group",
    "judge_partitions",
    "late_ms",
    "onset_of",
    "presence_of",
    "reads_a_burst",
    "see",
    "told_beyond_end",
    "told_never_committed",
    "usual_gap",
    "waited_ms",
]
