"""Partitions of topics that no member of the group subscribes to any more: nobody is to read them.

They are told as WARN, once, however long nobody has read them. A deployment takes its time, and may
be taken back: until that has settled, what was OK stays so.
"""

from collections.abc import Iterable

import numpy as np
from warren.words import duration, records

from warren_core.evaluation import UNKNOWN, Bools, Column, Explanation, Int64, Windows
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
    state: GroupState, behind: Bools, membership: Membership | None
) -> Int64 | None:
    """[partition] Unix milliseconds since when nobody subscribes to its topic, of those that are
    `behind` and not committed since; UNKNOWN in all others. None where that is so in none.
    """
    subscription = None if membership is None else membership.subscription
    if subscription is None:
        return None
    since, now = np.full(len(behind), UNKNOWN, np.int64), state.applied.observed_at
    for topic, _, rows in state.layout.slices():
        if not behind[rows].any():
            continue
        left_at = subscription.unsubscribed_since(topic, now)
        if left_at is not None:
            since[rows] = np.where(behind[rows], left_at, UNKNOWN)
    since[state.windows.newest(Column.OBSERVED_AT) > since + APART_MS] = UNKNOWN
    return since if (since != UNKNOWN).any() else None


def topics_left(
    subscription: Subscription, topics: Iterable[str], layout: Layout, latest: Int64, now: int
) -> frozenset[str]:
    """Of these topics those that nobody subscribes to, and nobody has committed since."""
    left = set()
    for topic in topics:
        since = subscription.unsubscribed_since(topic, now)
        rows = layout.ranges.get(topic)
        if since is not None and rows is not None:
            newest = int(latest[Latest.COMMITTED_AT, rows].max())
            left |= {topic} if newest <= since + APART_MS else set()
    return frozenset(left)


def settled(state: GroupState, since: Int64) -> Bools:
    """[partition] nobody has subscribed for long enough, or it was told as bad before."""
    known = since != UNKNOWN
    long: Bools = known & (state.applied.observed_at - since >= SETTLED_MS)
    if state.onset is None:
        return long
    told: Bools = known & state.onset.was_bad
    return long | told


def explained(state: GroupState, row: int, since: int, lag: int) -> Explanation:
    topic, _ = state.layout.name(row)
    unread = f"; {records(lag)} unread" if lag > 0 else ""
    ago = duration(max(state.applied.observed_at - since, 0))
    return Explanation("unsubscribed", f"no member has subscribed to {topic} for {ago}{unread}")
