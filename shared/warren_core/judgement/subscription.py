"""Subscription: the topics that the members of a group ask for, and since when nobody asks for one.

What a rebalance leaves unsaid is not taken for an answer: while one goes on topics are added, and
none is taken away. Where no member says what it subscribes to, nothing is known. A group without
members asks for what its last ones did: they may only be restarting.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from warren.contracts import GroupEvent
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
        when = dict(self.dropped), dict(self.taken_up)
        return [sorted(self.topics), list(self.patterns), self.since, *when]

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
    newest_first = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    return dict(newest_first[:MOST_DROPPED])


def _matches(pattern: str, topic: str) -> bool:
    """Whether a broker may find the topic by it; it may be what RE2 does not take."""
    try:
        return searcher(f"^(?:{pattern})$")(topic)
    except InvalidExpression:
        return True
