"""Forgetting on request: a group, or a topic of it, is not known until it commits again.

The collector does not know of that and goes on telling where the group stands. So the partitions
are remembered as forgotten, and what it tells of them passes unheard until it counts a commit.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

from warren.contracts import OffsetEvent, Status, TopicPositions

from warren_core.evaluation import Column
from warren_core.judgement.columns import Latest
from warren_core.judgement.state import GroupState


def heard(event: OffsetEvent, known: GroupState | None) -> tuple[OffsetEvent, GroupState] | None:
    """The event and what is known as far as they count: without what is forgotten, or will be by
    this request. None where that leaves nothing to judge; `known` has partitions to forget.
    """
    if known is None:
        return None
    return _forgotten(event, known) if event.forget is not None else _recalled(event, known)


def _forgotten(request: OffsetEvent, known: GroupState) -> tuple[OffsetEvent, GroupState] | None:
    """The request as an event that removes what it asks for, at the moment of the last one, and the
    state that remembers it; None where there is nothing to forget.
    """
    # Partitions, by topic, whose newest commit was observed before the request. Those with a newer
    # one were forgotten already and came back: the request is being replayed.
    is_old = known.windows.newest(Column.OBSERVED_AT) <= request.observed_at
    is_old |= known.latest[Latest.COMMITTED] < 0
    wanted = request.forget or known.layout.topics
    chosen = {
        topic: [p for p, old in zip(partitions, is_old[rows].tolist(), strict=True) if old]
        for topic, partitions, rows in known.layout.slices()
        if topic in wanted
    }
    partitions = {topic: partitions for topic, partitions in chosen.items() if partitions}
    if not partitions:
        return None
    event = OffsetEvent(
        cluster=request.cluster,
        group=request.group,
        source=known.applied.source,
        observed_at=known.applied.observed_at,
        position=known.applied.position,
        removed=partitions,
    )
    more = {
        topic: known.forgotten.get(topic, frozenset()).union(listed)
        for topic, listed in partitions.items()
    }
    return event, replace(known, forgotten={**known.forgotten, **more})


def _recalled(event: OffsetEvent, known: GroupState) -> tuple[OffsetEvent, GroupState] | None:
    """The event without what is still forgotten, and the state without what has committed."""
    forgotten = dict(known.forgotten)
    topics: dict[str, TopicPositions] = {}
    for topic, positions in event.topics.items():
        hidden = _without_commits(forgotten.pop(topic, frozenset()), positions)
        if hidden:
            forgotten[topic] = hidden
        shown = _without_positions(hidden, positions) if hidden else positions
        if not hidden or any(offset >= 0 for offset in shown.committed):
            topics[topic] = shown
    for topic, partitions in event.removed.items():
        if left := forgotten.pop(topic, frozenset()).difference(partitions):
            forgotten[topic] = left
    if not known.layout.topics and not topics:
        return None
    status = Status.OK if known.status is Status.NOTFOUND else known.status
    return (
        event.model_copy(update={"topics": topics}),
        replace(known, forgotten=forgotten, status=status),
    )


def _without_commits(hidden: frozenset[int], positions: TopicPositions) -> frozenset[int]:
    """Those that did not commit."""
    counts = zip(positions.partition, positions.commits, strict=True)
    return hidden.difference(partition for partition, commits in counts if commits)


def _without_positions(hidden: frozenset[int], positions: TopicPositions) -> TopicPositions:
    """The same without these partitions."""
    shown = [partition not in hidden for partition in positions.partition]
    columns = {name: values for name, values in positions if values is not None}
    kept = {name: list(compress(values, shown)) for name, values in columns.items()}
    return positions.model_copy(update=kept)
