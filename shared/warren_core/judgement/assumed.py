"""Assumed commits: where a group is taken to stand that has committed nothing.

Nobody knows where it stands. It is taken to stand where the log ended when it was first seen so:
what is written from then on nobody has said to have read. Its window holds that one commit, and the
rules judge it as any other. `Latest.COMMITTED` stays UNKNOWN, which tells an assumed commit from
one that was made. Its lag is unknown; its time is that of the last look at which the log still
ended there, so that nobody waits where nothing is written.
"""

from warren.contracts import OffsetEvent

from warren_core.evaluation import Bools, Column, Int64, Windows
from warren_core.judgement.columns import Latest
from warren_core.judgement.layout import Layout


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
        told = event.topics.get(topic)
        if told is not None and tuple(told.partition) == partitions:  # as mostly
            continue
        if not (latest[Latest.COMMITTED, rows] >= 0).any():
            listed = set() if told is None else set(told.partition)
            if untold := [p for p in partitions if p not in listed]:
                gone[topic] = untold
    return gone
