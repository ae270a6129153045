"""What people are shown of an incident, or of many: channels differ in how, not in what."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from warren.contracts import PendingDelivery
from warren.words import grouped

from warren_notifier.channels.channel import HttpChannel, Result, TargetSettings
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.digest_text import GroupLine, besides, digest_text
from warren_notifier.channels.incident_text import IncidentText
from warren_notifier.channels.links import shown_id
from warren_notifier.state.telling import Delivery

SHOWN = 10
"""Groups of a digest: a telephone shows three of them at once."""

Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Note:
    """`facts` have names; `groups` are the worst of many, `over` those that are well again;
    `links` are words and URLs.
    """

    status: str
    title: str
    headline: str
    facts: Facts
    links: Facts
    origin: str
    """Where it comes from, for who looks for that."""
    groups: Sequence[GroupLine] = ()
    more: str = ""
    """How many groups are in trouble beside them; empty for none."""
    over: Sequence[str] = ()


def incident_note(text: IncidentText, pending: PendingDelivery) -> Note:
    return Note(
        status=text.status,
        title=text.title,
        headline=text.headline,
        facts=text.facts,
        links=text.steps,
        origin=f"Warren. Route {pending.route}, channel {pending.channel}, "
        f"{shown_id(pending.incident_id)}",
    )


def and_more(count: int) -> str:
    """`… and 1,990 more`; empty for none."""
    return f"… and {grouped(count)} more" if count else ""


S = TypeVar("S", bound=TargetSettings)


class NoteChannel(HttpChannel[S]):
    """A service that takes one note for people in a request; a subclass says how it is written."""

    tells_people = True
    tells_many = True

    async def send(self, delivery: Delivery) -> Result:
        note = incident_note(self._text(delivery), delivery.pending)
        return await self._post(self._written(note))

    async def send_many(self, digest: Digest) -> Result:
        """An incident that is alone is told as it would be without a digest."""
        # Thousands of incidents take a while to read: not in the loop's thread.
        if digest.alone is not None:
            others = await asyncio.to_thread(besides, digest)
            note = incident_note(self._text(digest.alone, others), digest.alone.pending)
        else:
            now = self._clock.now_ms()
            text = await asyncio.to_thread(digest_text, digest, self._link_base, now, SHOWN)
            note = Note(
                status=text.status,
                title=text.title,
                headline=text.headline,
                facts=text.facts,
                links=[("Look at them in Warren", text.link)] if text.link else [],
                origin=f"Warren. Route {digest.key.route}, message {digest.digest_id}",
                groups=text.worst,
                more=and_more(text.omitted),
                over=[
                    *(f"{group}: {end}" for group, end in text.over),
                    *filter(None, [and_more(text.over_omitted)]),
                ],
            )
        return await self._post(self._written(note))

    @abstractmethod
    def _written(self, note: Note) -> bytes:
        """The request's body."""


def fitting(build: Callable[[int], bytes], limit: int, longest: int = 2_000) -> bytes:
    """What `build` makes of texts of at most so many characters: of `longest` or, where that has
    more than `limit` bytes, of half of it, and so on.
    """
    while len(body := build(longest)) > limit and longest > 1:
        longest //= 2
    return body
