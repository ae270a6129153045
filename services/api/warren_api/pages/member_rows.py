"""Members of a group as a page shows them: the one to look at first comes first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from warren.contracts import GroupMember, PartitionStatusName

from warren_api.model.group import PartitionRow
from warren_api.model.membership import Membership


class MemberRow(NamedTuple):
    """`owned`: partitions that it is assigned; `status` of the worst of them and `lag` of all,
    None where it owns none that was judged.
    """

    member: GroupMember
    owned: int
    status: PartitionStatusName | None
    lag: int | None


def member_rows(membership: Membership, partitions: Iterable[PartitionRow]) -> list[MemberRow]:
    """Worst partition first, then the largest lag; members without a partition last."""
    owned: defaultdict[str, list[PartitionRow]] = defaultdict(list)
    for partition in partitions:
        if partition.owner:
            owned[partition.owner.member_id].append(partition)

    def badness(member: GroupMember) -> tuple[tuple[int, int], int, str]:
        rows = owned[member.member_id]
        worst = max((row.badness for row in rows), default=(0, 0))
        return worst, sum(row.known_lag for row in rows), member.client_id

    ranked = sorted(membership.event.members, key=badness, reverse=True)
    return [_row(member, owned[member.member_id]) for member in ranked]


def _row(member: GroupMember, partitions: list[PartitionRow]) -> MemberRow:
    worst = max(partitions, key=lambda row: row.badness, default=None)
    known = [row.lag for row in partitions if row.lag is not None]
    return MemberRow(
        member,
        sum(len(assigned) for assigned in member.assignment.values()),
        worst.status if worst else None,
        sum(known) if known else None,
    )
