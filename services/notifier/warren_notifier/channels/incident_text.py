"""What all channels say about a change: the words of the mail, and figures apart for machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warren.contracts import PendingDelivery, StatusChange, StatusChangeEvent

from warren_notifier.channels.email_text import email_text, shown_id
from warren_notifier.channels.urgency import lateness_ms, time_to_loss_ms
from warren_notifier.channels.web_link import is_web_link
from warren_notifier.state.delivery import Delivery


@dataclass(frozen=True, slots=True)
class IncidentText:
    """One change. `title`, `headline` and `facts` (name, value) are for people: control characters
    are visible in them. Names in `change` are as Kafka has them.
    """

    change: StatusChange
    event_type: str
    at: int
    """When it happened, Unix milliseconds."""
    title: str
    headline: str
    facts: list[tuple[str, str]]
    lateness_ms: int | None
    time_to_loss_ms: int | None
    owner: str
    runbook: str
    link: str
    """The group's page; empty without `link_base`, and where it would be too long."""

    @property
    def is_open(self) -> bool:
        return self.change.status in ("WARN", "ERR")

    @property
    def runbook_link(self) -> str:
        """The runbook where it is a URL that people can follow; else empty."""
        return self.runbook if is_web_link(self.runbook) else ""


def incident_text(delivery: Delivery, link_base: str, now: int, besides: str = "") -> IncidentText:
    """The text for a delivery as of `now`, Unix milliseconds. `besides`: what else lasts."""
    mail = email_text(delivery, link_base, now, besides)
    event = StatusChangeEvent.from_bytes(delivery.event.encode())
    change, breaches = event.data, event.data.objectives or []
    return IncidentText(
        change=change,
        event_type=event.type,
        at=round(event.time.timestamp() * 1000),
        title=mail.subject,
        headline=mail.headline,
        facts=mail.facts,
        lateness_ms=lateness_ms(change),
        time_to_loss_ms=time_to_loss_ms(change),
        owner=next((breach.owner for breach in breaches if breach.owner), ""),
        runbook=next((breach.runbook for breach in breaches if breach.runbook), ""),
        link=mail.link,
    )


def origin(pending: PendingDelivery) -> str:
    """Where a message comes from, for who looks for that."""
    incident = shown_id(pending.incident_id)
    return f"Warren. Route {pending.route}, channel {pending.channel}, {incident}"


def fitting(build: Callable[[int], bytes], limit: int, longest: int = 2_000) -> bytes:
    """What `build` makes of texts of at most so many characters: of `longest` or, where that has
    more than `limit` bytes, of half of it, and so on.
    """
    while len(body := build(longest)) > limit and longest > 1:
        longest //= 2
    return body
