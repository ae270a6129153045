"""`[collector]`: publishing of offset events."""

from __future__ import annotations

from pydantic import Field

from warren.section import Seconds, SecondsOrNone, Section


class CollectorSettings(Section):
    """Publishing of offset events."""

    interval: Seconds = Field(
        default=5, description="Seconds between events of a group that commits"
    )
    heartbeat: Seconds = Field(
        default=10, description="Seconds after which a silent group is published again"
    )
    group_id: str = Field(
        default="",
        description="Consumer group of the collectors; empty: "
        "`<instance>-collector-<Kafka's id of the home cluster>`",
    )
    describe_interval: SecondsOrNone = Field(
        default=30,
        description="Seconds after which groups' live state (members, coordinator) is asked for "
        "again; 0 for never",
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )
