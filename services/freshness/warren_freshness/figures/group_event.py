"""A group's event from its partitions' rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warren.contracts import FreshnessEvent, OpenTransaction, TopicFreshness
from warren_core.evaluation.commit_convention import CommitEvidence, Commits
from warren_core.group_freshness import figures_of

from warren_freshness.figures.partition_figures import Row
from warren_freshness.positions.group_positions import GroupSnapshot


def group_event(
    group: GroupSnapshot,
    rows: Mapping[str, Sequence[Row]],
    measured_at: int,
    commits: Commits | None = None,
    open_transactions: Sequence[OpenTransaction] = (),
) -> FreshnessEvent:
    """`rows` and `commits` by topic; `measured_at` in Unix ms."""
    topics = {
        topic: _columns(listed, (commits or {}).get(topic))
        for topic, listed in rows.items()
        if listed
    }
    return FreshnessEvent(
        cluster=group.cluster,
        group=group.group,
        measured_at=measured_at,
        observed_at=group.observed_at,
        open_transactions=list(open_transactions),
        topics=topics,
        **figures_of(topics),
    )


def _columns(rows: Sequence[Row], commits: CommitEvidence | None) -> TopicFreshness:
    columns = list(zip(*rows, strict=True))
    return TopicFreshness.model_validate(
        {
            **dict(zip(Row._fields, map(list, columns), strict=True)),
            "commit_convention": commits.convention if commits else None,
        }
    )
