"""Reasons in a few words, for lists; without the contracts, which a quick command does not load."""

from collections.abc import Mapping
from typing import Literal

_SHORT: Mapping[str, str] = {
    "no_commit": "Stopped",
    "no_progress": "Stuck at one offset",
    "rewind": "Went back",
    "lag_not_shrinking": "Lag does not shrink",
    "beyond_log_end": "Beyond the log end",
    "lag_growing": "Falling behind",
    "not_catching_up": "Far behind, not catching up",
    "catching_up": "Far behind, catching up",
    "never_committed": "Never committed",
    "log_end_unknown": "Log end unknown",
    "replaying": "Replaying",
    "unsubscribed": "Topic not subscribed to",
    "run_missed": "Run missed",
    "ignored": "Not judged",
    "left_behind": "Left behind",
}


def in_short(reason: str) -> str:
    """Without figures; of an evaluator that knows more of them the name."""
    return _SHORT.get(reason) or reason.replace("_", " ").capitalize()


BREACHES: Mapping[str, str] = {
    "lost_records": "Losing data",
    "min_time_to_loss": "Close to losing data",
    "max_freshness": "Late",
    "max_lag": "Lag too large",
    "min_produce_rate": "Producers too slow",
    "burn_rate": "Error budget burns too fast",
}
"""What it means that an objective's limit is not kept, in a few words."""


# Which limit it comes from or, for those of LOSS_UNKNOWN, why nobody knows it.
TimeToLossReason = Literal[
    "retention_ms",
    "retention_bytes",
    "size_unknown",
    "not_authorised",
    "oldest_unknown",
    "config_unknown",
]
LOSS_UNKNOWN: frozenset[TimeToLossReason] = frozenset(
    ("size_unknown", "not_authorised", "oldest_unknown", "config_unknown")
)
