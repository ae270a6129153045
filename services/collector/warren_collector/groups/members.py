"""What follows from the members' assignments: idle members, skew, partitions of nobody's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from warren.contracts import GroupMember


def idle_members(members: Sequence[GroupMember]) -> int:
    """Members that are assigned nothing."""
    return _assigned_counts(members).count(0)


def assignment_skew(members: Sequence[GroupMember]) -> float | None:
    """Most partitions of a member / mean; 1 is even. None while nothing is assigned."""
    counts = _assigned_counts(members)
    total = sum(counts)
    return max(counts) * len(counts) / total if total else None


def unowned(members: Sequence[GroupMember], partitions: Mapping[str, int]) -> dict[str, list[int]]:
    """Partitions of subscribed topics that no member is assigned, by topic; none: not listed."""
    owned: dict[str, set[int]] = defaultdict(set)
    for member in members:
        for topic, numbers in member.assignment.items():
            owned[topic].update(numbers)
    subscribed = {topic for member in members for topic in member.subscription}
    missing = {
        topic: [p for p in range(partitions.get(topic, 0)) if p not in owned[topic]]
        for topic in sorted(subscribed)
    }
    return {topic: numbers for topic, numbers in missing.items() if numbers}


def _assigned_counts(members: Sequence[GroupMember]) -> list[int]:
    return [sum(map(len, member.assignment.values())) for member in members]
