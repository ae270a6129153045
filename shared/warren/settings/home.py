"""`[home]`: Warren's own cluster."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from warren.installation import DEFAULT_NAME, NAME_PATTERN, Installation
from warren.settings.connection import KafkaConnection


class HomeSettings(KafkaConnection):
    """Warren's own cluster, where its topics live."""

    bootstrap: str = Field(
        default="localhost:9092", description="Bootstrap servers, host:port[,host:port]"
    )
    instance: Annotated[str, StringConstraints(pattern=NAME_PATTERN)] = Field(
        default=DEFAULT_NAME,
        description="Name of this Warren: topics, consumer groups, keys in Redis and clients begin "
        "with it. Two that share a cluster or a Redis need two names. Letters, digits, . _ -",
    )
    topic_prefix: str = Field(
        default_factory=lambda values: _topic_prefix(values),
        description="Prefix of all of Warren's topics; not set: the instance's name and a dot",
    )
    partitions: int = Field(default=8, ge=1, description="Partitions of each topic")
    replication_factor: int = Field(
        default=-1,
        ge=-1,
        description="Replicas of each topic; -1: as many as the cluster gives by default "
        "(`default.replication.factor`)",
    )
    min_insync_replicas: int | None = Field(
        default=None,
        ge=1,
        description="Replicas that must have a record before it counts as written "
        "(`min.insync.replicas` of each topic); not set: the cluster's default",
    )
    create_topics: bool = Field(default=True, description="Services create missing topics")

    @property
    def installation(self) -> Installation:
        return Installation(self.instance)

    @field_validator("replication_factor")
    @classmethod
    def _replicas(cls, factor: int) -> int:
        if factor == 0:
            raise ValueError("a topic has at least one replica; -1 leaves it to the cluster")
        return factor

    @model_validator(mode="after")
    def _can_be_written(self) -> Self:
        if self.min_insync_replicas is not None and (
            0 < self.replication_factor < self.min_insync_replicas
        ):
            raise ValueError("min_insync_replicas is more than replication_factor")
        return self


def _topic_prefix(values: dict[str, Any]) -> str:
    """`values`: the settings before it."""
    return Installation(values["instance"]).topic_prefix
