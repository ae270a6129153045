"""Whether to believe what is shown: the feed works and groups have been judged lately."""

from __future__ import annotations

from warren_api.durations import duration
from warren_api.feed import FeedState


def doubts(feed: FeedState, newest_evaluation: int | None, now: int, stale_after: int) -> list[str]:
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
    return sentences
