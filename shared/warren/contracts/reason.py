"""Reasons: why a partition or a group is not OK, for machines.

The events carry them as plain text, so that a reader of today takes those of tomorrow.
"""

from typing import Literal, get_args

ReasonName = Literal[
    "no_commit",  # commits stopped although there is something to read
    "no_progress",  # commits come, always with the same offset
    "rewind",  # the committed offset went back and has not come back
    "lag_not_shrinking",  # the lag stayed or grew between all commits of the window
    "beyond_log_end",  # the committed offset is one that the log does not have (any more)
    "lag_growing",  # the log grows faster than the group reads, beyond its rhythm
    "not_catching_up",  # far behind, and the lag does not shrink
    "catching_up",  # far behind after it stood still, and comes nearer
    "never_committed",  # nobody has ever committed there although there is something to read
    "log_end_unknown",  # UNKNOWN: nobody has said for long where the log ends
    "replaying",  # the committed offset went back, and the group reads on from there
    "unsubscribed",  # no member subscribes to the topic any more
    "run_missed",  # a run that the owner expects has not come
    "ignored",  # not judged: the owner wants it so
    "left_behind",  # not judged: left like others before it whose names were generated alike
]
# Why an incident ended without the group being OK.
EndReasonName = Literal[
    "group_deleted",  # by an operator, and so were its offsets
    "group_expired",  # it has not committed for evaluation.expire_group
    "group_forgotten",  # on request, until it commits again
    "offsets_expired",  # it has not committed for the brokers' offsets.retention.minutes
    "offsets_deleted",  # by an operator, or with their topics, where it was not OK
    "records_skipped",  # offsets were set further on, and nobody read what was between
    "objective_removed",  # from the settings, while it was broken
    "not_watched",  # the collector's settings leave it out now
]

REASONS: tuple[ReasonName, ...] = get_args(ReasonName)
NOT_COUNTED: frozenset[ReasonName] = frozenset(("unsubscribed", "ignored", "left_behind"))
"""Partitions for which these hold count in no total, no ranking and no objective."""
REASON = f"Why it is not OK, or not judged: {', '.join(REASONS)}; more may come; null when OK"
EXPLANATION = "The reason in one sentence, with figures; null when OK"
