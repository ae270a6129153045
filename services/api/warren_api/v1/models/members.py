"""Members of a group."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import GroupMember


class Member(BaseModel):
    """A member and what it is assigned."""

    member_id: str
    instance_id: str | None = Field(description="group.instance.id of a static member")
    client_id: str
    host: str
    rack: str | None
    epoch: int | None = Field(description="Member epoch; null in classic groups")
    subscription: list[str] = Field(description="Topics that it subscribes to")
    subscribed_regex: str | None
    assignment: dict[str, list[int]] = Field(description="Partitions by topic")

    @classmethod
    def of(cls, member: GroupMember) -> Self:
        return cls(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            host=member.host,
            rack=member.rack,
            epoch=None if member.epoch < 0 else member.epoch,
            subscription=member.subscription,
            subscribed_regex=member.subscribed_regex,
            assignment=member.assignment,
        )
