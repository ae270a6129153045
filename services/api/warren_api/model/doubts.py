"""Whether to believe what is shown: topics and clusters are read, groups were judged lately."""

from __future__ import annotations

from collections.abc import Iterable

from warren.words import duration, grouped

from warren_api.model.cluster import ClusterView
from warren_api.model.feed_state import FeedState
from warren_api.model.group import GroupView

# States of a cluster in which what is known of its groups does not move on.
TROUBLE = ("unreachable", "refused", "failing")


def doubts(
    feed: FeedState,
    newest_evaluation: int | None,
    now: int,
    stale_after: int,
    clusters: Iterable[ClusterView] = (),
) -> list[str]:
    """Sentences for people; empty when there is no doubt. Times in Unix milliseconds."""
    sentences = []
    for cluster in clusters:
        if cluster.state in TROUBLE:
            since = "" if cluster.since is None else f" for {duration(now - cluster.since)}"
            problem = f": {cluster.problem}" if cluster.problem else ""
            sentences.append(f"Cluster {cluster.cluster} is {cluster.state}{since}{problem}.")
    if feed.problem:
        sentences.append(f"Warren cannot read its own topics: {feed.problem}.")
    if not feed.ready:
        sentences.append("Warren is still reading what it knew before it was started.")
    elif newest_evaluation is not None and now - newest_evaluation > stale_after:
        sentences.append(
            f"No group has been judged for {duration(now - newest_evaluation)}: "
            "check the collector and the evaluator."
        )
    return sentences


def group_doubts(
    view: GroupView, now: int, stale_after: int, *, is_freshness_stale: bool
) -> list[str]:
    """Why what is said of one group may not be how it is; empty when it is to be believed."""
    sentences = []
    event, measured = view.event, view.freshness
    age = now - event.evaluated_at
    if age > stale_after:
        sentences.append(f"It was judged {duration(age)} ago.")
    if event.complete < 1:
        share = int(event.complete * 100)
        sentences.append(
            f"Only {share} % of its partitions have a full window of commits: the others have not "
            "been watched for long enough."
        )
    if unknown := sum(lag is None for topic in event.topics.values() for lag in topic.lag):
        sentences.append(f"The lag of {_partitions(unknown)} is not known.")
    if is_freshness_stale and measured:
        sentences.append(
            f"How late it is was measured {duration(now - measured.event.measured_at)} ago."
        )
    if measured and measured.unknown_partitions:
        sentences.append(
            f"How late {_partitions(measured.unknown_partitions)} is could not be measured."
        )
    return sentences


def _partitions(count: int) -> str:
    return "1 partition" if count == 1 else f"{grouped(count)} partitions"
