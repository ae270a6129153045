"""Offset events as a collector would publish them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warren.contracts import OffsetEvent, TopicPositions

CLUSTER = "prod"
GROUP = "billing"
NOW = 1_795_244_400_000


class At(NamedTuple):
    """Where a group stands in one partition; the list index is the partition number."""

    committed: int
    log_end: int
    log_start: int = 0
    committed_at: int = NOW - 1000
    partition: int | None = None


def offset_event(
    topics: Mapping[str, Sequence[At]],
    *,
    cluster: str = CLUSTER,
    group: str = GROUP,
    observed_at: int = NOW,
    position: int = 10,
    removed: Mapping[str, Sequence[int]] | None = None,
    deleted: bool = False,
) -> OffsetEvent:
    return OffsetEvent(
        cluster=cluster,
        group=group,
        source="offsets_topic",
        observed_at=observed_at,
        position=position,
        topics={
            topic: TopicPositions(
                partition=[
                    i if at.partition is None else at.partition for i, at in enumerate(places)
                ],
                committed=[at.committed for at in places],
                committed_at=[at.committed_at for at in places],
                commits=[1 for _ in places],
                log_start=[at.log_start for at in places],
                log_end=[at.log_end for at in places],
            )
            for topic, places in topics.items()
        },
        removed={topic: list(partitions) for topic, partitions in (removed or {}).items()},
        deleted=deleted,
    )
