"""What is to be believed of a group now: the status of its last evaluation, or UNKNOWN and why."""

from __future__ import annotations

import math

from warren.words import duration

from warren_api.model.cluster import TROUBLE, UNKNOWN, ClusterView
from warren_api.model.feed_state import FeedState
from warren_api.model.group import RANK_STEP, GroupView, Rank
from warren_api.model.shown_status import Verdict

_READING = ("connecting", "rebuilding")
_UNKNOWN = -15  # severities of UNKNOWN in a rank are those between OK and WARN


def believed_from(cluster: ClusterView, now: int, unknown_after: int) -> float:
    """Judged before, Unix milliseconds, a group's status is not to be believed `now`. Of a cluster
    whose collectors have all been in trouble for `unknown_after` milliseconds nothing is.
    """
    return math.inf if is_away(cluster, now, unknown_after) else now - unknown_after


def is_away(cluster: ClusterView, now: int, unknown_after: int) -> bool:
    """Whether all its collectors have been in trouble for so many milliseconds."""
    return cluster.away_since is not None and now - cluster.away_since > unknown_after


def verdict(
    view: GroupView, cluster: ClusterView, feed: FeedState, now: int, unknown_after: int
) -> Verdict:
    """UNKNOWN when the group was judged longer than `unknown_after` ago, or all collectors of its
    cluster have been in trouble for that long. Times in milliseconds, `now` a Unix time.
    """
    event = view.event
    oldest = believed_from(cluster, now, unknown_after)
    if event.evaluated_at >= oldest:
        return view.judged
    reason, why = _why(cluster, feed, now)
    last = f"last judged {duration(now - event.evaluated_at)} ago: {event.status}"
    return Verdict(
        "UNKNOWN",
        event.status,
        reason,
        f"{why}; {last}" if why else last,
        cluster.away_since if oldest == math.inf else event.evaluated_at,
    )


def _why(cluster: ClusterView, feed: FeedState, now: int) -> tuple[str, str]:
    """For machines, and for people as far as it is known."""
    if feed.problem:
        return "own_topics_unreadable", "Warren cannot read its own topics"
    if cluster.state in (*TROUBLE, *_READING) and cluster.since is not None:
        what = "being read" if cluster.state in _READING else cluster.state
        return f"cluster_{cluster.state}", f"cluster {what} for {duration(now - cluster.since)}"
    if cluster.state == UNKNOWN and cluster.heard_at is not None:
        return "collector_silent", f"no collector heard of for {duration(now - cluster.heard_at)}"
    return "not_judged_lately", ""


def rank(view: GroupView, judged: Verdict) -> Rank:
    """As GroupView's; UNKNOWN is worse than OK and better than what is known to be bad."""
    if judged.is_known:
        return view.rank
    keeps, severity, opened_at, lag, cluster, group = view.rank
    return keeps, _UNKNOWN + severity // RANK_STEP, opened_at, lag, cluster, group
