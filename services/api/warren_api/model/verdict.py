"""What is to be believed of a group now: the status of its last evaluation, or UNKNOWN and why; and
whether to believe what is shown at all: topics and clusters are read, groups were judged lately.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, get_args

from warren.words import counted, duration

from warren_api.model.cluster import TROUBLE, UNKNOWN, ClusterView, FeedState, when
from warren_api.model.group import GroupView, Rank, Verdict

_IN_WORDS = {
    **dict.fromkeys(("connecting", "rebuilding"), "being read"),
    **{state: state for state in TROUBLE},
    "partial": "read in part",
}
Kind = Literal["action", "warning", "handled", "unknown", "ok"]
"""What a group asks of people, the most urgent first: tabs of the overview, `is:` of the search."""
_KINDS = get_args(Kind)


def believed_from(cluster: ClusterView, now: int, unknown_after: int) -> float:
    """Judged before, Unix milliseconds, a group's status is not to be believed `now`. Of a cluster
    whose collectors have all been in trouble for `unknown_after` milliseconds nothing is.
    """
    away = cluster.away_since
    return math.inf if away is not None and now - away > unknown_after else now - unknown_after


def verdict(
    view: GroupView, cluster: ClusterView, feed: FeedState, now: int, unknown_after: int
) -> Verdict:
    """UNKNOWN when the group was judged further than `unknown_after` from now, or all collectors of
    its cluster have been in trouble for that long. Times in milliseconds, `now` a Unix time.
    """
    event = view.event
    oldest = believed_from(cluster, now, unknown_after)
    if oldest <= event.evaluated_at <= now + unknown_after:
        return view.judged
    reason, why = _why(cluster, feed, now)
    last = f"last judged {when(event.evaluated_at, now)}: {event.status}"
    return Verdict(
        "UNKNOWN",
        event.status,
        reason,
        f"{why}; {last}" if why else last,
        cluster.away_since if oldest == math.inf else min(event.evaluated_at, now),
    )


def _why(cluster: ClusterView, feed: FeedState, now: int) -> tuple[str, str]:
    """For machines, and for people as far as it is known."""
    if feed.problem:
        return "own_topics_unreadable", "Warren cannot read its own topics"
    if cluster.state in _IN_WORDS and cluster.since is not None:
        what = _IN_WORDS[cluster.state]
        return f"cluster_{cluster.state}", f"cluster {what} for {duration(now - cluster.since)}"
    if cluster.state == UNKNOWN and cluster.heard_at is not None:
        return "collector_silent", f"a collector was last heard of {when(cluster.heard_at, now)}"
    return "not_judged_lately", ""


def kind(view: GroupView, judged: Verdict, *, is_looked_after: bool) -> Kind:
    """As last judged: who was in trouble is, until somebody knows better. `is_looked_after`:
    somebody has said so, or wants to hear nothing of it.
    """
    if view.event.status == "OK" and not view.is_losing and not view.broken:
        return "ok" if judged.is_known else "unknown"
    if is_looked_after:
        return "handled"
    return "action" if view.needs_somebody else "warning"


def rank(view: GroupView, of_kind: Kind) -> tuple[int, *Rank]:
    """Sorts groups, worst first: by kind, then as GroupView's."""
    return _KINDS.index(of_kind), *view.rank


class Doubts(NamedTuple):
    """Sentences for people; empty when there is no doubt. `general` ones are about everything,
    the others about what is said of one cluster.
    """

    general: list[str]
    by_cluster: Mapping[str, list[str]]

    def of(self, cluster: str | None) -> list[str]:
        """What concerns one cluster; None: all of them."""
        if cluster is not None:
            return [*self.general, *self.by_cluster.get(cluster, ())]
        return [*self.general, *(each for own in self.by_cluster.values() for each in own)]


def doubts(
    feed: FeedState,
    last_judged: Mapping[str, int],
    now: int,
    stale_after: int,
    clusters: Iterable[ClusterView] = (),
) -> Doubts:
    """`last_judged`: when a group of a cluster was, by cluster. Times in Unix milliseconds."""
    general = []
    if feed.problem:
        general.append(f"Warren cannot read its own topics: {feed.problem}.")
    if not feed.ready:
        general.append("Warren is still reading what it knew before it was started.")
        return Doubts(general, {})
    own = {cluster.cluster: _cluster_doubts(cluster, now) for cluster in clusters}
    old = {name: at for name, at in last_judged.items() if abs(now - at) > stale_after}
    if old and len(old) == len(last_judged) and not any(own.values()):
        general.append(_not_judged("group", max(old.values()), now))
    else:
        for name, at in old.items():
            if not own.get(name):
                own[name] = [_not_judged(f"group of cluster {name}", at, now)]
    return Doubts(general, {name: sentences for name, sentences in own.items() if sentences})


def _not_judged(what: str, at: int, now: int) -> str:
    return f"A {what} was last judged {when(at, now)}: check the collector and the evaluator."


def _cluster_doubts(cluster: ClusterView, now: int) -> list[str]:
    if cluster.state in (*TROUBLE, "partial"):
        since = "" if cluster.since is None else f" for {duration(now - cluster.since)}"
        problem = f": {cluster.problem}" if cluster.problem else ""
        return [f"Cluster {cluster.cluster} is {_IN_WORDS[cluster.state]}{since}{problem}."]
    if cluster.state == UNKNOWN and cluster.heard_at is not None:
        last = when(cluster.heard_at, now)
        return [f"A collector of cluster {cluster.cluster} was last heard of {last}."]
    if cluster.refusal:
        return [f"Cluster {cluster.cluster}: {cluster.refusal}."]
    return []


def group_doubts(
    view: GroupView, now: int, stale_after: int, *, is_freshness_stale: bool
) -> list[str]:
    """Why what is said of one group may not be how it is; empty when it is to be believed."""
    sentences = []
    event, measured = view.event, view.freshness
    if abs(now - event.evaluated_at) > stale_after:
        sentences.append(f"It was judged {when(event.evaluated_at, now)}.")
    if event.complete < 1:
        share = int(event.complete * 100)
        sentences.append(
            f"Only {share} % of its partitions have a full window of commits: the others have not "
            "been watched for long enough."
        )
    if view.membership and (absence := view.membership.absence):
        sentences.append(f"I{absence[1:]}.")
    if unknown := sum(lag is None for topic in event.topics.values() for lag in topic.lag):
        sentences.append(f"The lag of {counted(unknown, 'partition')} is not known.")
    if is_freshness_stale and measured:
        sentences.append(
            f"How late it is was measured {duration(now - measured.event.measured_at)} ago."
        )
    if measured and measured.unknown_partitions:
        sentences.append(
            f"The lateness of {counted(measured.unknown_partitions, 'partition')} is not known."
        )
    return sentences
