"""`warren.groups`: what a consumer group is, its members and what they are assigned."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from warren.contracts.event import (
    EventOfGroup,
    Moment,
    Partition,
    is_empty,
    is_none,
)

FIRST_OF_FAMILY = 3
"""So many groups that were left behind, named alike, are told of each by itself."""


class GroupMember(BaseModel):
    """One member and its assignment, `{topic: [partition]}`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    member_id: str
    instance_id: str | None = None
    client_id: str
    host: str
    assignment: dict[str, list[Partition]] = Field(default_factory=dict)
    subscription: list[str] = Field(default_factory=list, description="Topics subscribed to")
    subscribed_regex: str | None = Field(default=None, description="KIP-848: matched by brokers")
    epoch: int = Field(default=-1, description="Member epoch; -1 in classic groups")
    rack: str | None = None


class GroupEvent(EventOfGroup):
    """The newest state of a group. The topic is compacted: a tombstone says that it is gone."""

    topic_name: ClassVar[str] = "groups"

    observed_at: Moment
    position: int = Field(ge=-1, description="Offset in __consumer_offsets; -1 for other sources")
    protocol: Literal["classic", "consumer", "share", "streams"]
    protocol_type: str = Field(default="", description="consumer, connect, …: classic groups only")
    state: str = Field(default="", description="As DescribeConsumerGroups names it; empty unknown")
    generation: int = Field(default=-1, description="Generation (classic) or group epoch")
    assignor: str = ""
    leader: str | None = None
    coordinator: int | None = Field(default=None, description="Broker id")
    members: list[GroupMember] = Field(default_factory=list)
    rebalances: int = Field(default=0, ge=0, description="Rebalances seen")
    last_rebalance_at: Moment | None = None
    idle_members: int | None = Field(
        default=None, description="Members that are assigned nothing; null unknown"
    )
    assignment_skew: float | None = Field(
        default=None, description="Most / mean partitions per member, 1 is even; null unknown"
    )
    unowned: dict[str, list[Partition]] = Field(
        default_factory=dict, description="Partitions of subscribed topics that no member owns"
    )
    absent: list[str] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="Topics that members subscribe to and that the cluster does not have; clients "
        "of librdkafka in a classic group do not tell of them",
    )
    left_before: int | None = Field(
        default=None,
        exclude_if=is_none,
        description="Of a group whose name was generated, that the collector saw come and, within "
        "the hour, lose its members: groups named alike, but for that, of which it saw the same "
        "before; absent of all others",
    )
    left_after: int | None = Field(
        default=None,
        exclude_if=is_none,
        description=f"And after it; counted for the first {FIRST_OF_FAMILY}, else 0",
    )
