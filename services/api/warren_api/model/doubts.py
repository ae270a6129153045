"""Whether to believe what is shown: topics and clusters are read, groups were judged lately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from warren.words import counted, duration

from warren_api.model.cluster import TROUBLE, UNKNOWN, ClusterView
from warren_api.model.feed_state import FeedState
from warren_api.model.group import GroupView

CLOCKS_APART_MS = 10_000
"""No clocks that somebody sets differ by so much."""


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
    newest_evaluations: Mapping[str, int],
    now: int,
    stale_after: int,
    clusters: Iterable[ClusterView] = (),
) -> Doubts:
    """`newest_evaluations`: when a group of a cluster was last judged, by cluster. Times in Unix
    milliseconds.
    """
    general = []
    if feed.problem:
        general.append(f"Warren cannot read its own topics: {feed.problem}.")
    if not feed.ready:
        general.append("Warren is still reading what it knew before it was started.")
        return Doubts(general, {})
    own = {cluster.cluster: _cluster_doubts(cluster, now) for cluster in clusters}
    old = {name: at for name, at in newest_evaluations.items() if now - at > stale_after}
    if old and len(old) == len(newest_evaluations) and not any(own.values()):
        general.append(_not_judged("group", now - max(old.values())))
    else:
        for name, at in old.items():
            if not own.get(name):
                own[name] = [_not_judged(f"group of cluster {name}", now - at)]
    return Doubts(general, {name: sentences for name, sentences in own.items() if sentences})


def _not_judged(what: str, age: int) -> str:
    return f"No {what} has been judged for {duration(age)}: check the collector and the evaluator."


def _cluster_doubts(cluster: ClusterView, now: int) -> list[str]:
    if cluster.state in TROUBLE:
        since = "" if cluster.since is None else f" for {duration(now - cluster.since)}"
        problem = f": {cluster.problem}" if cluster.problem else ""
        return [f"Cluster {cluster.cluster} is {cluster.state}{since}{problem}."]
    if cluster.state == UNKNOWN and cluster.heard_at is not None:
        silent = duration(now - cluster.heard_at)
        return [f"No collector of cluster {cluster.cluster} has been heard of for {silent}."]
    return []


def group_doubts(
    view: GroupView, now: int, stale_after: int, *, is_freshness_stale: bool
) -> list[str]:
    """Why what is said of one group may not be how it is; empty when it is to be believed."""
    sentences = []
    event, measured = view.event, view.freshness
    age = now - event.evaluated_at
    if age > stale_after:
        sentences.append(f"It was judged {duration(age)} ago.")
    if -age > CLOCKS_APART_MS:
        sentences.append(
            f"It was judged by a clock that is {duration(-age)} ahead of this one, so that nobody "
            "can say how long ago: set the clocks of the evaluator and the API."
        )
    if event.complete < 1:
        share = int(event.complete * 100)
        sentences.append(
            f"Only {share} % of its partitions have a full window of commits: the others have not "
            "been watched for long enough."
        )
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
