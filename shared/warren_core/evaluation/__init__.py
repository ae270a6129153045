"""Evaluation: windows of commits in, statuses out. Pure functions on NumPy columns, no I/O.

The same windows at the same moment always give the same statuses: live, replayed, or in a batch.
"""

from warren_core.evaluation.commit_convention import (
    REST_MS,
    CommitEvidence,
    Commits,
    Rest,
    last_processed,
)
from warren_core.evaluation.evidence import Evidence, Uncommitted
from warren_core.evaluation.explanations import Explanation, explain, rebalanced_for
from warren_core.evaluation.lateness import late_ms, reads_a_burst, trend
from warren_core.evaluation.onset import Began, Onset, onset_of
from warren_core.evaluation.presence import Presence, presence_of
from warren_core.evaluation.progress import POLICIES, Policy, Statuses, by_partition, see, waited_ms
from warren_core.evaluation.rule import BY, meanings
from warren_core.evaluation.rules import GroupRules, PartitionRules, RuleBook, Rules, of_rows
from warren_core.evaluation.track import (
    LATE_LOOK,
    LONGEST_MS,
    NARROW,
    Alarm,
    Figure,
    Mark,
    Sighting,
    Track,
)
from warren_core.evaluation.verdicts import (
    OF_A_LAG,
    GroupSummary,
    GroupVerdict,
    GroupVerdicts,
    PartitionVerdicts,
    are_expired,
    is_expired,
    judge_group,
    judge_groups,
    judge_partitions,
    told_beyond_end,
    told_never_committed,
)
from warren_core.evaluation.waits import expect, inherit, usual_gap
from warren_core.evaluation.windows import MAX_TIME, UNKNOWN, Bools, Column, Int64, Windows

__all__ = [
    "BY",
    "LATE_LOOK",
    "LONGEST_MS",
    "MAX_TIME",
    "NARROW",
    "OF_A_LAG",
    "POLICIES",
    "REST_MS",
    "UNKNOWN",
    "Alarm",
    "Began",
    "Bools",
    "Column",
    "CommitEvidence",
    "Commits",
    "Evidence",
    "Explanation",
    "Figure",
    "GroupRules",
    "GroupSummary",
    "GroupVerdict",
    "GroupVerdicts",
    "Int64",
    "Mark",
    "Onset",
    "PartitionRules",
    "PartitionVerdicts",
    "Policy",
    "Presence",
    "Rest",
    "RuleBook",
    "Rules",
    "Sighting",
    "Statuses",
    "Track",
    "Uncommitted",
    "Windows",
    "are_expired",
    "by_partition",
    "expect",
    "explain",
    "inherit",
    "is_expired",
    "judge_group",
    "judge_groups",
    "judge_partitions",
    "last_processed",
    "late_ms",
    "meanings",
    "of_rows",
    "onset_of",
    "presence_of",
    "reads_a_burst",
    "rebalanced_for",
    "see",
    "told_beyond_end",
    "told_never_committed",
    "trend",
    "usual_gap",
    "waited_ms",
]
