"""Membership: who is in a group, as far as the cause of its trouble may lie there."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from warren.contracts import GroupEvent
from warren.errors import WarrenError

from warren_core.judgement.subscription import Subscription, subscription_after

REMEMBERED_MS = 15 * 60_000
MOST_REBALANCES = 30
VERSION = 1


class CorruptMembership(WarrenError):
    """A table value cannot be read. Operator: written by another version, or damaged."""


class Member(NamedTuple):
    """`partitions` by topic."""

    client_id: str
    host: str
    partitions: Mapping[str, list[int]]


@dataclass(frozen=True)
class Membership:
    """The newest that is known of a group's members."""

    observed_at: int
    state: str
    managed: bool
    """Its members get their partitions from the group; false: they assign them by themselves."""
    members: tuple[Member, ...]
    unowned: Mapping[str, list[int]]
    empty_since: int | None
    """When it was first seen without members; None while it has some."""
    left: tuple[str, str] | None
    """Client id and host of one who was there last."""
    rebalances: int
    rebalanced_at: tuple[int, ...]
    """Those of the last quarter of an hour that were seen."""
    subscription: Subscription | None = None
    """What its members ask for, or its last ones did; None where nobody can say."""

    @cached_property
    def owners(self) -> dict[tuple[str, int], int]:
        """Place in `members`, by topic and partition."""
        return {
            (topic, partition): number
            for number, member in enumerate(self.members)
            for topic, partitions in member.partitions.items()
            for partition in partitions
        }


def membership_after(event: GroupEvent, before: Membership | None) -> Membership:
    """What is known once the event came. A replayed one changes nothing."""
    if before is not None and event.observed_at <= before.observed_at:
        return before
    members = tuple(Member(m.client_id, m.host, m.assignment) for m in event.members)
    empty_since = left = None
    if not members:
        empty_since, left = event.observed_at, None
        if before is not None and not before.members:
            left = before.left
            # Who has come meanwhile and gone again rebalanced it, twice.
            if event.rebalances <= before.rebalances:
                empty_since = before.empty_since
        elif before is not None:
            left = before.members[0].client_id, before.members[0].host
    return Membership(
        observed_at=event.observed_at,
        state=event.state,
        managed=event.protocol != "classic" or bool(event.protocol_type),
        members=members,
        unowned=event.unowned,
        empty_since=empty_since,
        left=left,
        rebalances=event.rebalances,
        rebalanced_at=_rebalanced_at(event, before),
        subscription=subscription_after(event, None if before is None else before.subscription),
    )


def _rebalanced_at(event: GroupEvent, before: Membership | None) -> tuple[int, ...]:
    """Of a group that is seen for the first time, and by a collector that counts anew, none."""
    if before is None:
        return ()
    more = min(max(event.rebalances - before.rebalances, 0), MOST_REBALANCES)
    at = event.observed_at if event.last_rebalance_at is None else event.last_rebalance_at
    times = (*before.rebalanced_at, *(at,) * more)
    recent = [time for time in times if event.observed_at - time <= REMEMBERED_MS]
    return tuple(recent[-MOST_REBALANCES:])


def encode(membership: Membership) -> bytes:
    """The subscription comes third beside who left: versions before it read the first two there,
    and refuse fields that they do not know.
    """
    fields: dict[str, Any] = {
        name: getattr(membership, name) for name in Membership.__dataclass_fields__
    }
    subscription: Subscription | None = fields.pop("subscription")
    if subscription is not None:
        fields["left"] = [*(membership.left or ("", "")), subscription.fields()]
    return json.dumps({"v": VERSION, **fields}, separators=(",", ":")).encode()


def decode(value: bytes) -> Membership:
    """Raises CorruptMembership."""
    try:
        fields = json.loads(value)
        if fields.pop("v") != VERSION:
            raise CorruptMembership("membership of another version")
        read = Membership(**fields)
        left, subscription = _left_and_subscription(fields["left"])
        return replace(
            read,
            members=tuple(Member(*member) for member in read.members),
            left=left,
            rebalanced_at=tuple(read.rebalanced_at),
            subscription=subscription,
        )
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise CorruptMembership(f"membership cannot be read: {error}") from error


def _left_and_subscription(
    stored: Sequence[Any] | None,
) -> tuple[tuple[str, str] | None, Subscription | None]:
    if stored is None:
        return None, None
    client_id, host, *more = stored
    left = (client_id, host) if client_id or host else None
    return left, Subscription.from_fields(more[0]) if more else None
