"""Lags: how much of their logs partitions have left, at least, and where that is not known.

Assumed commits: where a group is taken to stand that has committed nothing.

Nobody knows where it stands. It is taken to stand where the log ended when it was first seen so:
what is written from then on nobody has said to have read. Its window holds that one commit, and the
rules judge it as any other. `Latest.COMMITTED` stays UNKNOWN, which tells an assumed commit from
one that was made. Its lag is unknown; its time is that of the last look at which the log still
ended there, so that nobody waits where nothing is written.
"""

import numpy as np
from warren.contracts import OffsetEvent

from warren_core.evaluation import LATE_LOOK, UNKNOWN, Bools, Column, Int64, Windows
from warren_core.judgement.columns import Latest, Layout


def is_assumed(latest: Int64, windows: Windows) -> Bools:
    """[partition] its one commit is assumed."""
    assumed: Bools = (latest[Latest.COMMITTED] < 0) & (windows.filled > 0)
    return assumed


def settled(latest: Int64, windows: Windows) -> Int64:
    """[Latest, partition] with assumed offsets, too."""
    assumed = is_assumed(latest, windows)
    if not assumed.any():  # as mostly
        return latest
    known = latest.copy()
    known[Latest.COMMITTED, assumed] = windows.newest(Column.OFFSET)[assumed]
    return known


def made_only(latest: Int64, windows: Windows) -> Windows:
    """The windows without commits that are assumed: what is told to others."""
    assumed = is_assumed(latest, windows)
    if not assumed.any():  # as mostly
        return windows
    made = windows.copied()
    made.clear_commits(assumed)
    return made


def left_out(event: OffsetEvent, latest: Int64, layout: Layout) -> dict[str, list[int]]:
    """Partitions that are known only because they were told, and are not told any more: those of
    topics of which nothing is committed. Nobody owns them now, and nobody was there to say so.
    """
    if not event.topics or event.parts > 1 or not (latest[Latest.COMMITTED] < 0).any():
        return {}
    gone: dict[str, list[int]] = {}
    for topic, partitions, rows in layout.slices():
        columns = event.topics.get(topic)
        untold = sorted({*partitions}.difference(() if columns is None else columns.partition))
        if untold and not (latest[Latest.COMMITTED, rows] >= 0).any():
            gone[topic] = untold
    return gone


def lag_of(latest: Int64, steps: Int64) -> Int64:
    """[partition] what can be read: log end - offset that is read next, or the log's start where
    that was deleted, at least 0; UNKNOWN when offset or end is. `steps`: from the committed offsets
    to those that are read next, 0 or 1; [partition], or for all.
    """
    committed, log_end = latest[Latest.COMMITTED], latest[Latest.LOG_END]
    known = (committed >= 0) & (log_end >= 0)
    first = np.maximum(committed + steps, latest[Latest.LOG_START])
    return np.where(known, np.maximum(log_end - first, 0), UNKNOWN)


def least_lag_of(latest: Int64, windows: Windows, lag: Int64, steps: Int64) -> Int64:
    """The lag that a partition is judged by: that of now or, while no broker says where the log
    ends, the one that follows from where it last ended. Logs only grow, so it is at least that.
    """
    if (lag != UNKNOWN).all():  # as nearly always
        return lag
    then = settled(latest, windows).copy()
    then[Latest.LOG_END] = windows.log_ends[:, -1]
    return np.where(lag == UNKNOWN, lag_of(then, steps), lag)


def unknown_of(latest: Int64, windows: Windows, now_ms: int | Int64, pace_ms: int | Int64) -> Bools:
    """[partition] the group has committed in it, and nobody says where its log ends, for longer
    than a look is only late. `windows` have the log ends of now already.
    """
    in_vain = (latest[Latest.COMMITTED] >= 0) & (latest[Latest.LOG_END] < 0)
    for_long: Bools = in_vain & (now_ms - windows.log_ends_at > LATE_LOOK * pace_ms)
    return for_long
