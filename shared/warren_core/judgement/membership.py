"""Membership: who is in a group, as far as the cause of its trouble may lie there.

Subscription: the topics that the members of a group ask for, and since when nobody asks for one.

What a rebalance leaves unsaid is not taken for an answer: while one goes on topics are added, and
none is taken away. Where no member says what it subscribes to, nothing is known. A group without
members asks for what its last ones did: they may only be restarting.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

from warren.contracts import GroupEvent
from warren.errors import WarrenError
from warren.patterns import InvalidExpression, searcher

MOST_DROPPED = 1000  # topics; of more it is only known since when they were not asked for at least
TAKEN_UP_MS = 60_000
"""Who subscribes to a topic again has so long to begin with it."""
_PROTOCOLS = ("classic", "consumer", "streams")
"""Those whose members commit what they consume; share groups do not."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """`since`: when it was first known, Unix milliseconds; `dropped`: since when nobody asks for a
    topic that somebody had asked for; `taken_up`: when somebody did that for which nobody had.
    """

    topics: frozenset[str]
    patterns: tuple[str, ...]
    since: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    taken_up: Mapping[str, int] = field(default_factory=dict)

    def unsubscribed_since(self, topic: str, now: int) -> int | None:
        """Unix milliseconds; None where a member subscribes to the topic, and has for a while."""
        if topic in self.topics or any(_matches(pattern, topic) for pattern in self.patterns):
            taken_up = self.taken_up.get(topic)
            return None if taken_up is None or now - taken_up > TAKEN_UP_MS else taken_up
        return self.dropped.get(topic, self.since)

    def fields(self) -> list[Any]:
        """As JSON can carry it."""
        topics, patterns = sorted(self.topics), list(self.patterns)
        return [topics, patterns, self.since, dict(self.dropped), dict(self.taken_up)]

    @classmethod
    def from_fields(cls, fields: list[Any]) -> Self:
        """Raises TypeError or ValueError for what is none."""
        topics, patterns, since, dropped, taken_up = fields
        return cls(frozenset(topics), tuple(patterns), int(since), dict(dropped), dict(taken_up))


def subscription_after(event: GroupEvent, before: Subscription | None) -> Subscription | None:
    """What is known once the event came; None where nobody can say."""
    if not event.members:
        return before
    is_consumers = event.protocol != "classic" or event.protocol_type == "consumer"
    says = any(each.subscription or each.subscribed_regex for each in event.members)
    if not (event.protocol in _PROTOCOLS and is_consumers and says):
        return None
    topics = frozenset(
        topic for each in event.members for topic in {*each.subscription, *each.assignment}
    )
    patterns = tuple(sorted({e.subscribed_regex for e in event.members if e.subscribed_regex}))
    is_settled = event.state in ("Stable", "")
    if before is None:
        return Subscription(topics, patterns, event.observed_at) if is_settled else None
    if not is_settled:
        topics |= before.topics
        patterns = tuple(sorted({*before.patterns, *patterns}))
    now = event.observed_at
    kept = {topic: at for topic, at in before.dropped.items() if topic not in topics}
    dropped = {**kept, **dict.fromkeys(before.topics - topics, now)}
    young = {topic: at for topic, at in before.taken_up.items() if now - at <= TAKEN_UP_MS}
    taken_up = {**young, **dict.fromkeys(topics - before.topics, now)}
    return Subscription(topics, patterns, before.since, _newest(dropped), _newest(taken_up))


def _newest(times: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(times.items(), key=lambda item: (-item[1], item[0]))[:MOST_DROPPED])


def _matches(pattern: str, topic: str) -> bool:
    """Whether a broker may find the topic by it; it may be what RE2 does not take."""
    try:
        return searcher(f"^(?:{pattern})$")(topic)
    except InvalidExpression:
        return True


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
    empty_since: int | None
    """When it was first seen without members; None while it has some."""
    left: tuple[str, str] | None
    """Client id and host of one who was there last."""
    rebalances: int
    rebalanced_at: tuple[int, ...]
    """Those of the last quarter of an hour that were seen."""
    subscription: Subscription | None = None
    """What its members ask for, or its last ones did; None where nobody can say."""
    left_before: int = 0
    left_after: int = 0
    """As in GroupEvent."""

    @cached_property
    def owners(self) -> dict[tuple[str, int], int]:
        """Place in `members`, by topic and partition."""
        return {
            (topic, partition): number
            for number, member in enumerate(self.members)
            for topic, partitions in member.partitions.items()
            for partition in partitions
        }


_FIELDS = Membership.__dataclass_fields__


def membership_after(event: GroupEvent, before: Membership | None) -> Membership:
    """What is known once the event came. A replayed one changes nothing."""
    if before is not None and event.observed_at <= before.observed_at:
        return before
    members = tuple(Member(m.client_id, m.host, m.assignment) for m in event.members)
    empty_since, left, left_before = None, None, event.left_before or 0
    if not members:
        empty_since, left = event.observed_at, None
        if before is not None and not before.members:
            left = before.left
            # Who has come meanwhile and gone again rebalanced it, twice.
            if event.rebalances <= before.rebalances:
                empty_since = before.empty_since
                # A collector that starts again did not see it come.
                left_before = max(left_before, before.left_before)
        elif before is not None:
            left = before.members[0].client_id, before.members[0].host
    return Membership(
        observed_at=event.observed_at,
        state=event.state,
        managed=event.protocol != "classic" or bool(event.protocol_type),
        members=members,
        empty_since=empty_since,
        left=left,
        rebalances=event.rebalances,
        rebalanced_at=_rebalanced_at(event, before),
        subscription=subscription_after(event, None if before is None else before.subscription),
        left_before=left_before,
        left_after=event.left_after or 0,
    )


def _rebalanced_at(event: GroupEvent, before: Membership | None) -> tuple[int, ...]:
    """Of a group that is seen for the first time, and by a collector that counts anew, none."""
    if before is None:
        return ()
    more = min(max(event.rebalances - before.rebalances, 0), MOST_REBALANCES)
    at = event.observed_at if event.last_rebalance_at is None else event.last_rebalance_at
    times = [*before.rebalanced_at, *[at] * more]
    recent = [time for time in times if event.observed_at - time <= REMEMBERED_MS]
    return tuple(recent[-MOST_REBALANCES:])


def encode(membership: Membership) -> bytes:
    fields: dict[str, Any] = {name: getattr(membership, name) for name in _FIELDS}
    if membership.subscription is not None:
        fields["subscription"] = membership.subscription.fields()
    return json.dumps({"v": VERSION, **fields}, separators=(",", ":")).encode()


def decode(value: bytes) -> Membership:
    """Fields of a newer release are ignored. Raises CorruptMembership."""
    try:
        fields = json.loads(value)
        if fields["v"] != VERSION:
            raise CorruptMembership("membership of another version")
        known = {name: each for name, each in fields.items() if name in _FIELDS}
        subscription = fields["subscription"]
        read = {
            "members": tuple(Member(*member) for member in fields["members"]),
            "left": tuple(fields["left"]) if fields["left"] else None,
            "rebalanced_at": tuple(fields["rebalanced_at"]),
            "subscription": Subscription.from_fields(subscription) if subscription else None,
        }
        return Membership(**{**known, **read})
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise CorruptMembership(f"membership cannot be read: {error}") from error
