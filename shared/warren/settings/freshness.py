"""`[freshness]`: reading of record times."""

from __future__ import annotations

from pydantic import Field

from warren.section import Seconds, Section
from warren.settings.expressions import Expressions


class FreshnessSettings(Section):
    """Reading of record times from the monitored clusters."""

    interval: Seconds = Field(default=10, description="Seconds between two passes")
    group_id: str = Field(
        default="",
        description="Consumer group on the home cluster; empty: `<instance>-freshness`",
    )
    pass_bytes: int = Field(
        default=48_000_000,
        ge=2**20,
        description="Bytes that a pass reads from a cluster at most; what its last batches are "
        "larger is missing in the next pass",
    )
    topics_deny: Expressions = Field(
        default_factory=list,
        description="Topics that are not read (regular expressions): how late groups are there is "
        "estimated by offsets by time",
    )
    retention_refresh: Seconds = Field(
        default=300, description="Seconds after which topics' retention is asked for again"
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )
