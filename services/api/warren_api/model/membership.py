"""Who is in a consumer group and which partitions each member owns."""

from dataclasses import dataclass
from functools import cached_property

from warren.contracts import GroupEvent, GroupMember
from warren.words import counted


@dataclass(frozen=True)
class Membership:
    """The newest event of `warren.groups` about a group."""

    event: GroupEvent
    had_offsets: bool = False
    """It was judged before: its offsets were deleted, or with them what it read."""

    @property
    def cluster(self) -> str:
        return self.event.cluster

    @property
    def group(self) -> str:
        return self.event.group

    @cached_property
    def owners(self) -> dict[tuple[str, int], GroupMember]:
        """Members by the (topic, partition) that they are assigned."""
        return {
            (topic, partition): member
            for member in self.event.members
            for topic, partitions in member.assignment.items()
            for partition in partitions
        }

    @cached_property
    def topics(self) -> frozenset[str]:
        """Topics that members subscribe to or are assigned."""
        return frozenset(
            topic
            for member in self.event.members
            for topic in (*member.subscription, *member.assignment)
        )

    @property
    def partition_count(self) -> int:
        """Partitions that some member owns."""
        return len(self.owners)

    @property
    def is_listed(self) -> bool:
        """Whether a group without a verdict is worth showing: share groups, and groups with
        members, which are there although they have not committed.
        """
        return self.event.protocol == "share" or bool(self.event.members)

    @property
    def not_judged(self) -> str:
        """Why there is no verdict, where there is none. Share groups acknowledge records one by
        one: of what they have in hand some are done and some are not, and no offset says which.
        """
        if self.event.protocol == "share":
            return "lag not defined by committed offsets"
        why = "no committed offset any more" if self.had_offsets else "no offset committed yet"
        return "; ".join(filter(None, [why, self.absence]))

    @property
    def absence(self) -> str:
        """Which topics its members subscribe to that are not there; empty: they all are."""
        first, *others = self.event.absent or [""]
        more = f" and {counted(len(others), 'more topic')}" if others else ""
        return f"it subscribes to {first}{more}, which this cluster does not have" if first else ""
