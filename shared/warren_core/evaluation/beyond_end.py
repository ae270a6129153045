"""Committed offsets beyond the log end: what no policy asks, since the lag then looks like none.

The log end is read after the commits, so it is below one of them only where records are gone that
the group had read (truncated, or the topic was made anew) or where the offset was never the log's.
A leader that has just moved may say too little once, so two looks are needed. Where nobody could
read a log end since, the group may have read what came meanwhile.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from warren.contracts.status import Status

from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.partitions import PartitionVerdicts
from warren_core.evaluation.windows import Bools, Column

LOOKS = 2


def told_beyond_end(verdicts: PartitionVerdicts, evidence: Evidence) -> PartitionVerdicts:
    """The verdicts with BEYOND_END where it holds, whatever policy said the others."""
    windows = evidence.windows
    newest = windows.newest(Column.OFFSET)
    if not (newest > windows.log_ends[:, -1]).any():  # as nearly always
        return verdicts
    status = np.where(beyond_end(evidence), np.uint8(Status.BEYOND_END), verdicts.status)
    return replace(verdicts, status=status)


def beyond_end(evidence: Evidence) -> Bools:
    """[partition] the last two remembered log ends are below the newest commit, which was there
    at an earlier look; or the one before it was, and they are below both (a client that goes on
    committing such an offset).
    """
    windows = evidence.windows
    looks = windows.log_ends[:, -LOOKS:]
    known = (looks >= 0).all(axis=1)
    offset = windows.column(Column.OFFSET)[:, -2:]
    is_beyond = windows.occupied[:, -2:] & (offset > looks.max(axis=1)[:, None])
    seen_at = windows.column(Column.OBSERVED_AT)[:, -2:]
    seen_before = is_beyond & (seen_at < np.reshape(evidence.now_ms, (-1, 1)))
    seen_before &= seen_at <= windows.log_ends_at[:, None]
    found: Bools = known & is_beyond[:, -1] & seen_before.any(axis=1)
    return found
