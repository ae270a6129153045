"""Whether to believe what is shown: topics and clusters are read, groups were judged lately."""

from __future__ import annotations

from collections.abc import Iterable

from warren_api.cluster_view import ClusterView
from warren_api.durations import duration
from warren_api.feed import FeedState


def doubts(
    feed: FeedState,
    newest_evaluation: int | None,
    now: int,
    stale_after: int,
    clusters: Iterable[ClusterView] = (),
) -> list[str]:
    """Sentences for people; empty when there is no doubt. Times in Unix milliseconds."""
    sentences = []
    if feed.problem:
        sentences.append(f"Warren cannot read its own topics: {feed.problem}.")
    if not feed.ready:
        sentences.append("Warren is still reading what it knew before it was started.")
    elif newest_evaluation is not None and now - newest_evaluation > stale_after:
        sentences.append(
            f"No group has been judged for {duration(now - newest_evaluation)}: "
            "check the collector and the evaluator."
        )
    for view in clusters:
        if view.problem and view.since is not None:
            lasts = duration(max(now - view.since, 0))
            sentences.append(f"For {lasts}: {view.problem}.")
    return sentences
