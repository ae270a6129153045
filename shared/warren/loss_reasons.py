"""What a time until loss comes from, for contracts, pages and the terminal: imports nothing."""

from __future__ import annotations

from typing import Literal

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
