"""Evaluation: windows of commits in, statuses out. Pure functions on NumPy columns, no I/O.

The same windows at the same moment always give the same statuses: live, replayed, or in a batch.
"""

from warren.evaluation.beyond_end import told_beyond_end
from warren.evaluation.evidence import Evidence, Following
from warren.evaluation.explanations import Explanation, explain
from warren.evaluation.group import GroupSummary, GroupVerdict, is_expired, judge_group
from warren.evaluation.learning import see
from warren.evaluation.onset import Began, Onset, onset_of
from warren.evaluation.partition_rules import PartitionRules
from warren.evaluation.partitions import PartitionVerdicts, judge_partitions
from warren.evaluation.policies import POLICIES, Policy, by_partition
from warren.evaluation.presence import presence_of
from warren.evaluation.rules import GroupRules, RuleBook, Rules
from warren.evaluation.track import Sighting, Track
from warren.evaluation.windows import MAX_TIME, UNKNOWN, Bools, Column, Int64, Windows

__all__ = [
    "MAX_TIME",
    "POLICIES",
    "UNKNOWN",
    "Began",
    "Bools",
    "Column",
    "Evidence",
    "Explanation",
    "Following",
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
    "Windows",
    "by_partition",
    "explain",
    "is_expired",
    "judge_group",
    "judge_partitions",
    "onset_of",
    "presence_of",
    "see",
    "told_beyond_end",
]
