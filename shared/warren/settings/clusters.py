"""`[clusters.<name>]`: a monitored cluster."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from warren.settings.connection import KafkaConnection
from warren.settings.filters import Expressions


class ClusterSettings(KafkaConnection):
    """A monitored cluster; its table's name, `[clusters.<name>]`, is the cluster's name."""

    source: Literal["offsets_topic"] = Field(
        default="offsets_topic", description="Where committed offsets are read from"
    )
    offsets_topic: str = Field(
        default="__consumer_offsets", description="Topic that holds the committed offsets"
    )
    groups_allow: Expressions = Field(
        default_factory=list, description="Only groups that match one (regular expressions)"
    )
    groups_deny: Expressions = Field(
        default=["^warren-"], description="Never groups that match one (regular expressions)"
    )
    topics_allow: Expressions = Field(
        default_factory=list, description="Only topics that match one (regular expressions)"
    )
    topics_deny: Expressions = Field(
        default_factory=list, description="Never topics that match one (regular expressions)"
    )
