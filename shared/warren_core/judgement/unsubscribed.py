"""Partitions of topics that no member of the group subscribes to any more: nobody is to read them.

They are told as WARN, once, however long nobody has read them. A deployment takes its time, and may
be taken back: until that has settled, what was OK stays so.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from warren.contracts.group_event import FIRST_OF_FAMILY
from warren.contracts.status import Status
from warren.words import counted, duration, records

from warren_core.evaluation import (
    UNKNOWN,
    Bools,
    Column,
    Explanation,
    Int64,
    PartitionVerdicts,
    Windows,
)
from warren_core.judgement.columns import Latest, Layout
from warren_core.judgement.membership import Membership, Subscription
from warren_core.judgement.state import GroupState

SETTLED_MS = 3 * 60_000
"""A topic that nobody has subscribed to for so long is left on purpose."""
APART_MS = 15_000
"""Membership and commits are observed apart: so long one may be behind the other."""


def may_be_left(latest: Int64, windows: Windows, lag: Int64, now: int | Int64) -> Bools:
    """[partition] something is unread, and it was not committed for so long that whoever reads it
    may have left the topic, whatever a rule allows who reads it: it is worth asking the members.
    """
    made = latest[Latest.COMMITTED] >= 0
    left: Bools = made & (lag > 0) & (now - windows.newest(Column.OBSERVED_AT) >= SETTLED_MS)
    return left


def since_unsubscribed(
    state: GroupState, behind: Bools, ask: Callable[[], Membership | None]
) -> Int64:
    """[partition] Unix milliseconds since when nobody subscribes to its topic, of those that are
    `behind` and not committed since; UNKNOWN in all others. Members are asked only where some are.
    """
    since, now = np.full(len(behind), UNKNOWN, np.int64), state.applied.observed_at
    membership = ask() if behind.any() else None
    if membership is None or membership.subscription is None:
        return since
    for topic, _, rows in state.layout.slices():
        is_behind = behind[rows].any()
        left_at = membership.subscription.unsubscribed_since(topic, now) if is_behind else None
        if left_at is not None:
            since[rows] = np.where(behind[rows], left_at, UNKNOWN)
    since[state.windows.newest(Column.OBSERVED_AT) > since + APART_MS] = UNKNOWN
    return since


def topics_left(
    subscription: Subscription, topics: Iterable[str], layout: Layout, latest: Int64, now: int
) -> frozenset[str]:
    """Of these topics those that nobody subscribes to, and nobody has committed since."""
    left = set()
    for topic in topics:
        since = subscription.unsubscribed_since(topic, now)
        rows = layout.ranges.get(topic)
        if since is None or rows is None:
            continue
        if latest[Latest.COMMITTED_AT, rows].max() <= since + APART_MS:
            left.add(topic)
    return frozenset(left)


def told_unsubscribed(
    verdicts: PartitionVerdicts, state: GroupState, since: Int64
) -> PartitionVerdicts:
    """The verdicts with WARN where nobody subscribes to the topic, for long enough or when it was
    told as bad before; OK until then.
    """
    known = since != UNKNOWN
    if not known.any():  # as mostly
        return verdicts
    is_settled = state.applied.observed_at - since >= SETTLED_MS
    if state.onset is not None:
        is_settled |= state.onset.was_bad
    said = np.where(is_settled, np.uint8(Status.WARN), np.uint8(Status.OK))
    return replace(verdicts, status=np.where(known, said, verdicts.status))


def explained(state: GroupState, row: int, since: int, lag: int) -> Explanation:
    topic, _ = state.layout.name(row)
    unread = f"; {records(lag)} unread" if lag > 0 else ""
    ago = duration(max(state.applied.observed_at - since, 0))
    return Explanation("unsubscribed", f"no member has subscribed to {topic} for {ago}{unread}")


def left_alike(group: Membership | None) -> Explanation | None:
    """Why the group is not judged; None where it is."""
    if group is None or group.empty_since is None or group.left_before < FIRST_OF_FAMILY:
        return None
    others = counted(group.left_before, "other group")
    return Explanation(
        "left_behind",
        f"not judged: {others} named alike were left before it; delete them, or leave such names "
        "out with groups_deny",
    )
