"""What is to be believed of a group now: the status of its last evaluation, or UNKNOWN and why."""

from __future__ import annotations

from typing import Literal, NamedTuple

from warren.contracts import GroupStatusName
from warren.words import duration

from warren_api.model.cluster import TROUBLE, UNKNOWN, ClusterView
from warren_api.model.feed_state import FeedState
from warren_api.model.group import GroupView

ShownStatusName = Literal["NOTFOUND", "OK", "WARN", "ERR", "UNKNOWN"]
_READING = ("connecting", "rebuilding")
# Severities as in ranks: ten for each step of Status; UNKNOWN has those between OK and WARN.
_STEP, _UNKNOWN = 10, -15


class Verdict(NamedTuple):
    """`reason` and `explanation` say why the status is not OK, `since` when it began (Unix
    milliseconds; None when no event told it).
    """

    status: ShownStatusName
    last_status: GroupStatusName
    reason: str | None
    explanation: str | None
    since: int | None

    @property
    def is_known(self) -> bool:
        return self.status != "UNKNOWN"


def verdict(
    view: GroupView, cluster: ClusterView, feed: FeedState, now: int, unknown_after: int
) -> Verdict:
    """UNKNOWN when the group was judged longer than `unknown_after` ago, or all collectors of its
    cluster have been in trouble for that long. Times in milliseconds, `now` a Unix time.
    """
    event = view.event
    away_since = cluster.away_since
    is_away = away_since is not None and now - away_since > unknown_after
    if not is_away and now - event.evaluated_at <= unknown_after:
        return Verdict(event.status, event.status, event.reason, event.explanation, view.since)
    reason, why = _why(cluster, feed, now)
    last = f"last judged {duration(now - event.evaluated_at)} ago: {event.status}"
    return Verdict(
        "UNKNOWN",
        event.status,
        reason,
        f"{why}; {last}" if why else last,
        away_since if is_away else event.evaluated_at,
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


def rank(view: GroupView, judged: Verdict) -> tuple[bool, int, int, int, str, str]:
    """As GroupView's; UNKNOWN is worse than OK and better than what is known to be bad."""
    keeps, severity, opened_at, lag, cluster, group = view.rank
    shown = _STEP * severity if judged.is_known else _UNKNOWN + severity
    return keeps, shown, opened_at, lag, cluster, group
