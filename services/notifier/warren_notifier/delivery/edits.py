"""Messages that are edited in place follow how an incident stands, also where no event says so:
another cause is none. Nothing of it is audited, for nobody is told anything.
"""

from __future__ import annotations

from warren.contracts import DigestKey, PendingDelivery

from warren_notifier.channels.channel import Refused, Result, Retry
from warren_notifier.delivery.attempts import Attempts
from warren_notifier.delivery.digests import Digests
from warren_notifier.owned import Line, OwnedSubjects
from warren_notifier.state.delivery import Delivery

EVERY_SECONDS = 30.0  # a look at all open incidents
AT_ONCE = 200
"""Incidents in one look, and in a digest: what they say of now takes a while to be read."""
EDITED = 20
"""Messages in one look: Slack takes about 50 updates a minute."""


class Edits:
    """Of one channel."""

    def __init__(
        self, channel: str, attempts: Attempts, digests: Digests, owned: OwnedSubjects
    ) -> None:
        self._channel = channel
        self._digests = digests
        self._attempts = attempts
        self._owned = owned
        self._next = 0
        """Of the incidents, the one that the next look begins with."""

    async def look(self) -> None:
        """Brings messages of open incidents up to date, as many as the receiver takes now; the next
        look goes on behind them.
        """
        for key in self._owned.digests:
            if isinstance(await self._edit_many(key), Retry | Refused):
                return
        lines = self._lines()
        begin, left = self._next % max(len(lines), 1), EDITED
        for line in [*lines[begin:], *lines[:begin]][:AT_ONCE]:
            result = await self._edit(line)
            left -= result is not None
            if not left or isinstance(result, Retry | Refused):
                return
            self._next += 1

    def _lines(self) -> list[Line]:
        lines = [line for owned in self._owned.all() for line in owned.lines()]
        return [line for line in lines if line.key[1] == self._channel]

    async def _edit_many(self, key: DigestKey) -> Result | None:
        digest, sent_at = self._digests.standing(key), self._digests.sent_at(key)
        if digest is None or len(digest.lasting) > AT_ONCE:
            return None

        def is_as_before() -> bool:
            has_no_news = self._digests.standing(key) is not None
            return has_no_news and self._digests.sent_at(key) == sent_at

        return await self._attempts.edit_many(digest, is_as_before)

    async def _edit(self, line: Line) -> Result | None:
        delivery, change = _of_now(line), line.owned.state.change
        if delivery is None:
            return None

        def is_as_before() -> bool:
            is_owned = self._owned.has(line.owned) and line.delivery is None
            return is_owned and line.owned.state.change is change

        return await self._attempts.edit(delivery, is_as_before)


def _of_now(line: Line) -> Delivery | None:
    """What the message may say now; None where it has news to come, or none can be edited."""
    telling, state = line.telling, line.owned.state
    change, incident = state.change, state.incident
    if telling is None or telling.delivery is not None or telling.in_flight is not None:
        return None
    if telling.told.receipt is None:
        return None
    if change is None or incident is None or state.flapping is not None:
        return None
    if incident.incident_id != telling.told.incident_id:
        return None
    pending = PendingDelivery(
        delivery_id=f"edit of {change.event_id}",
        event_id=change.event_id,
        incident_id=telling.told.incident_id,
        kind="repeated",
        status=change.status,
        conditions=change.conditions,
        route=telling.told.route,
        channel=telling.told.channel,
        offset=0,
        accepted_at=0,
        deadline_at=0,
        next_attempt_at=0,
    )
    return Delivery(
        line.owned.partition, line.owned.subject, pending, change.event, telling.told.receipt
    )
