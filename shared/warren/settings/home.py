"""`[home]`: Warren's own cluster."""

from __future__ import annotations

from pydantic import Field

from warren.settings.connection import KafkaConnection


class HomeSettings(KafkaConnection):
    """Warren's own cluster, where its topics live."""

    bootstrap: str = Field(default="localhost:9092", description="Bootstrap servers")
    topic_prefix: str = Field(default="warren.", description="Prefix of all of Warren's topics")
    partitions: int = Field(default=8, ge=1, description="Partitions of each topic")
    replication_factor: int = Field(default=1, ge=1, description="Replicas of each topic")
    create_topics: bool = Field(default=True, description="Services create missing topics")
