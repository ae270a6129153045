"""What all channels say about a change: words for people, and figures apart for machines. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from warren.contracts import (
    DeliveryKind,
    Flapping,
    GroupStatusName,
    PendingDelivery,
    StatusChange,
)
from warren.words import as_of, clock, counted, duration, visible

from warren_notifier.channels.brief import (
    brief,
    condition_over,
    end_of,
    ending,
    runbooks,
    stay_lost,
    tag,
)
from warren_notifier.channels.facts import facts_of, is_old, row_of
from warren_notifier.channels.links import is_web_link, page_link
from warren_notifier.channels.notice import Notice, notice_of
from warren_notifier.state.telling import Delivery

SHOWN = 10
APART_MS = 60_000
"""What was seen so long ago is not told as of now."""
MEANING = {
    "STOP": "has stopped committing: the consumer is down or hangs",
    "STALL": "commits, but always the same offset: it does not get past a record",
    "REWIND": "went back to an earlier offset",
    "BEYOND_END": "has committed an offset beyond the end of the log: records were truncated, or "
    "the topic was made anew",
    "WARN": "falls behind: its lag has only been growing",
}


@dataclass(frozen=True, slots=True)
class IncidentText:
    """One change in words: `title` for a subject, `headline` says it all, `facts` are (name, value)
    pairs. Control characters are visible in them; names in `change` are as Kafka has them.
    """

    change: StatusChange
    event_type: str
    at: int
    """When it happened, Unix milliseconds."""
    root_at: int
    """As of when the root is, likewise."""
    now: int
    """As of when the text is, likewise."""
    status: GroupStatusName
    """The worst of what is wrong by now."""
    title: str
    what: str
    """What is wrong in a few words; empty at the end."""
    headline: str
    facts: list[tuple[str, str]]
    partitions: list[tuple[str, str, str, str, str, str]]
    measured: str
    """When the partitions were so: ` at 07:00 UTC`; empty where `facts` say it of all, and now."""
    omitted: int
    meanings: list[tuple[str, str]]
    link: str
    """The group's page; empty without `link_base`, and where it would be too long."""
    acknowledge: str
    """Leads to a page that asks who looks after the incident; empty where there is nothing to."""

    @property
    def is_open(self) -> bool:
        """Whether its incident is, well or not by now."""
        return self.change.status in ("WARN", "ERR")

    def dated(self, sentence: str) -> str:
        """A stored sentence: its figures are of then, and it says so where that is long ago."""
        is_dated = sentence and is_old(self.root_at, self.now)
        return as_of(sentence, self.root_at, self.now) if is_dated else sentence

    @property
    def sentences(self) -> str:
        """All of it as lines of plain text."""
        return "\n".join([self.headline, *(f"{name}: {value}" for name, value in self.facts)])

    @property
    def owner(self) -> str:
        breaches = self.change.objectives or []
        return next((breach.owner for breach in breaches if breach.owner), self.change.owner or "")

    @property
    def runbooks(self) -> list[str]:
        """Values of `facts` that are URLs which people can follow."""
        return [runbook for runbook in runbooks([self.change]) if is_web_link(runbook)]

    @property
    def runbook_link(self) -> str:
        """The first runbook where people can follow it; else empty."""
        first = next(iter(runbooks([self.change])), "")
        return first if is_web_link(first) else ""

    @property
    def links(self) -> list[tuple[str, str]]:
        """Words and URLs."""
        links = [("Look at it in Warren", self.link), ("Runbook", self.runbook_link)]
        return [(words, url) for words, url in links if url]

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The same for people, who may acknowledge it first."""
        first = [("Acknowledge", self.acknowledge)] if self.acknowledge else []
        return [*first, *self.links]


def incident_text(delivery: Delivery, link_base: str, now: int, besides: str = "") -> IncidentText:
    """The text for a delivery as of `now`, Unix milliseconds. `besides`: what else lasts."""
    if delivery.event is None:
        raise TypeError("only what has an event is told")
    kind, notice = delivery.pending.kind, notice_of(delivery.event)
    change, seen = notice.change, notice.at
    group, cluster = visible(change.group), visible(change.cluster)
    bad = [] if kind == "resolved" else change.partitions
    committed = {partition.status for partition in bad if partition.committed >= 0}
    return IncidentText(
        change=change,
        event_type=notice.event_type,
        at=seen,
        root_at=notice.root_at,
        now=now,
        status=notice.status,
        title=_title(delivery, notice, now),
        what="" if kind == "resolved" else what_is_wrong(notice, now),
        headline=f"Consumer group {group} on cluster {cluster} {_sentence(kind, notice, now)}",
        facts=[
            *facts_of(kind, notice, now),
            *_of_delivery(delivery.pending, now),
            *([("Also open", besides)] if besides else []),
        ],
        partitions=[row_of(partition) for partition in bad[:SHOWN]],
        measured=f" at {clock(notice.root_at, now)}"
        if notice.is_several and is_old(notice.root_at, now)
        else "",
        omitted=max(len(bad) - SHOWN, 0) + (change.partitions_omitted if bad else 0),
        meanings=[(status, text) for status, text in MEANING.items() if status in committed],
        link=page_link(link_base, "groups", change.cluster, change.group),
        acknowledge=page_link(link_base, "incidents", change.incident_id)
        if kind != "resolved" and notice.acknowledged is None
        else "",
    )


def _title(delivery: Delivery, notice: Notice, now: int) -> str:
    """What an SRE reads on a telephone: where, who, and what is wrong in a few words."""
    change = notice.change
    is_over = delivery.pending.kind == "resolved"
    status = tag(notice) if is_over else notice.status
    who = f"[{status}] {visible(change.cluster)}: {visible(change.group)}"
    if is_over:
        return f"{who} {ending(notice)}"
    flapping = delivery.pending.flapping
    said = [
        f"flapping, {_times(flapping, now)}" if flapping is not None else "",
        what_is_wrong(notice, now) or "not OK",
        _since(delivery.pending.kind, notice, now),
        *(condition_over(each) for each in notice.ended),
        stay_lost(notice.lost) if notice.lost and notice.kept_at is not None else "",
    ]
    return f"{who} {'; '.join(filter(None, said))}"


def what_is_wrong(notice: Notice, now: int) -> str:
    """In a few words; what was, where all is well by now."""
    if notice.kept_at is not None:
        return (
            f"OK at {clock(notice.kept_at, now)}, was {brief(each.change for each in notice.kept)}"
        )
    return brief(each.change for each in notice.open)


def _since(kind: DeliveryKind, notice: Notice, now: int) -> str:
    """A reminder says since when it is so; what may be otherwise by now, of when it is."""
    if notice.kept_at is not None:
        return ""
    if kind == "repeated":
        return f"since {clock(notice.change.opened_at, now)}"
    is_of_then = now - notice.root_at >= APART_MS
    return f"as of {clock(notice.root_at, now)}" if is_of_then else ""


def _times(flapping: Flapping, now: int) -> str:
    return f"{counted(flapping.openings, 'incident')} since {clock(flapping.since, now)}"


def _of_delivery(pending: PendingDelivery, now: int) -> Iterator[tuple[str, str]]:
    if pending.left_out:
        yield "Left out", f"{counted(pending.left_out, 'change')} in between"
    if flapping := pending.flapping:
        quiet = duration(flapping.quiet_ms)
        said = f"told again when it gets worse, or has been quiet for {quiet}"
        yield "Flapping", f"{_times(flapping, now)}; {said}"


def _sentence(kind: DeliveryKind, notice: Notice, now: int) -> str:
    change = notice.change
    if kind == "resolved":
        return f"{end_of(notice)[1]}."
    if notice.kept_at is not None:
        return f"is OK at {clock(notice.kept_at, now)}; its incident is over when it stays so."
    if kind == "repeated":
        return f"is still {notice.status}."
    if kind == "changed":
        if change.previous == notice.status:
            return f"is still {notice.status}."
        return f"went from {change.previous} to {notice.status}."
    return f"is {notice.status}."
