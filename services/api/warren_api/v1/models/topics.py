"""Topics and the groups that consume them."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field

from warren_api.model.shown_status import ShownStatusName
from warren_api.model.topic_progress import TopicProgress
from warren_api.model.topics import LogRange, TopicView

_RATE = "Records per second over about a minute; null until it was measured"


class TopicSummary(BaseModel):
    """A topic."""

    cluster: str
    topic: str
    partition_count: int
    group_count: int
    produce_rate: float | None = Field(description=_RATE)
    consume_rate: float | None = Field(description=f"Of all groups together. {_RATE}")
    max_lag: int | None = Field(
        description="Lag of the group that is furthest behind, records; null: no group consumes it"
    )

    @classmethod
    def of(cls, view: TopicView) -> Self:
        return cls(
            cluster=view.cluster,
            topic=view.topic,
            partition_count=view.partition_count,
            group_count=len(view.groups),
            produce_rate=view.produce_rate,
            consume_rate=view.consume_rate,
            max_lag=view.max_lag,
        )


class Topics(BaseModel):
    """Topics, in the order that was asked for."""

    topics: list[TopicSummary]
    next: str | None = Field(description="Cursor of the next page; null: this is the last one")
    total: int = Field(description="Topics that match, on all pages")


class TopicPartition(BaseModel):
    """A partition's log, as it was last seen. Offsets that are unknown are null."""

    partition: int
    log_start: int | None
    log_end: int | None

    @classmethod
    def of(cls, log: LogRange) -> Self:
        return cls(partition=log.partition, log_start=log.log_start, log_end=log.log_end)


class TopicGroup(BaseModel):
    """A group that consumes the topic. `status` is the group's, whatever it is due to."""

    group: str
    status: ShownStatusName
    lag: int | None = Field(description="On this topic, records; null when unknown")
    consume_rate: float | None = Field(description=_RATE)
    partition_count: int
    evaluated_at: int

    @classmethod
    def of(cls, group: str, status: ShownStatusName, progress: TopicProgress) -> Self:
        return cls(
            group=group,
            status=status,
            lag=progress.lag,
            consume_rate=progress.consume_rate,
            partition_count=len(progress.columns.partition),
            evaluated_at=progress.at,
        )


class TopicDetail(TopicSummary):
    """A topic with its partitions, and the groups that consume it, by name."""

    partitions: list[TopicPartition]
    groups: list[TopicGroup]
