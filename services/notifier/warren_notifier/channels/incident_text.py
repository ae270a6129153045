"""What all channels say about a change: the words of the mail, and figures apart for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from warren.contracts import Breach, StatusChange, StatusChangeEvent
from warren.words import duration, visible

from warren_notifier.channels.email_text import email_text
from warren_notifier.state.delivery import Delivery

LONGEST_LINK = 2_000  # characters; browsers and services cut longer ones, and they lead nowhere


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
    lateness, time_to_loss = _lateness(change, breaches), _time_to_loss(breaches)
    facts, said = list(mail.facts), {name for name, _ in mail.facts}
    more = _more(change, lateness, time_to_loss) if delivery.pending.kind != "resolved" else ()
    facts += [(name, value) for name, value in more if name not in said]
    return IncidentText(
        change=change,
        event_type=event.type,
        at=round(event.time.timestamp() * 1000),
        title=mail.subject,
        headline=mail.headline,
        facts=facts,
        lateness_ms=lateness,
        time_to_loss_ms=time_to_loss,
        owner=next((breach.owner for breach in breaches if breach.owner), ""),
        runbook=next((breach.runbook for breach in breaches if breach.runbook), ""),
        link=mail.link if len(mail.link) <= LONGEST_LINK else "",
    )


def fitting(build: Callable[[int], bytes], limit: int, longest: int = 2_000) -> bytes:
    """What `build` makes of texts of at most so many characters: of `longest` or, where that has
    more than `limit` bytes, of half of it, and so on.
    """
    while len(body := build(longest)) > limit and longest > 1:
        longest //= 2
    return body


def is_web_link(text: str) -> bool:
    """Whether it is a URL of http or https, and not too long."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and _fit(text)


def _fit(link: str) -> bool:
    return link.isascii() and link.isprintable() and " " not in link and len(link) <= LONGEST_LINK


def _more(
    change: StatusChange, lateness: int | None, time_to_loss: int | None
) -> Iterator[tuple[str, str]]:
    if change.explanation and not (change.cause is not None and change.cause.is_known):
        yield "Explanation", visible(change.explanation)
    if lateness is not None:
        yield "Late by", duration(lateness)
    if time_to_loss is not None:
        yield "Time to loss", duration(time_to_loss)


def _lateness(change: StatusChange, breaches: Sequence[Breach]) -> int | None:
    measured = [_milliseconds(breach) for breach in breaches if breach.limit == "max_freshness"]
    if change.cause is not None:
        measured.append(change.cause.evidence.freshness_ms)
    return max((value for value in measured if value is not None), default=None)


def _time_to_loss(breaches: Sequence[Breach]) -> int | None:
    measured = [_milliseconds(breach) for breach in breaches if breach.limit == "min_time_to_loss"]
    return min((value for value in measured if value is not None), default=None)


def _milliseconds(breach: Breach) -> int | None:
    return None if breach.value is None else round(breach.value)
