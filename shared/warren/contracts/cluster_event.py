"""`warren.clusters`: how a collector gets on with a monitored cluster, compacted."""

from typing import ClassVar, Literal

from pydantic import Field

from warren.contracts.event import ClusterName, KeyedEvent, Moment, is_empty

ClusterStateName = Literal[
    "connecting", "rebuilding", "ok", "partial", "failing", "refused", "unreachable"
]
EVERY_MS = 10_000
"""How often a collector repeats an event that has not changed."""
MOST_REFUSED = 100
"""Topics that are named."""


class ClusterEvent(KeyedEvent):
    """One collector's view of one cluster: repeated every 10 s, and when the state changes.

    A collector that stops leaves a tombstone; one that was killed falls silent.
    """

    topic_name: ClassVar[str] = "clusters"

    v: Literal[1] = 1
    cluster: ClusterName
    collector: str = Field(description="Name of the process: host and process id")
    observed_at: Moment
    state: ClusterStateName = Field(
        description="connecting; rebuilding: reading what is there; ok; partial: all but what "
        "problem names is read; failing: see problem; "
        "refused: credentials or rights; unreachable"
    )
    since: Moment = Field(description="When this state began")
    problem: str = Field(default="", description="What is wrong and which setting to look at")
    sources: list[str] = Field(default_factory=list, description="Where offsets are read from")
    groups: int = Field(default=0, ge=0, description="Groups that this collector holds")
    positions: int = Field(default=0, ge=0, description="Committed positions that it holds")
    source_partitions: int = Field(default=0, ge=0, description="Of the offsets topic, owned")
    backlog: int = Field(default=0, ge=0, description="Records of them not read yet")
    published_at: Moment | None = Field(default=None, description="Last tick published")
    log_ends_at: Moment | None = Field(default=None, description="When log ends were read")
    refused_topics: list[str] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description=f"Topics of groups that Warren may not DESCRIBE, at most {MOST_REFUSED}, by "
        "name: where their logs end is unknown, and so is who is behind on them. Absent where "
        "there are none",
    )

    @property
    def about(self) -> tuple[str, str]:
        return self.cluster, self.collector
