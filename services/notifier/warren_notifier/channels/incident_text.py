"""What all channels say about a change: words for people, and figures apart for machines. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from warren.contracts import (
    BadPartition,
    DeliveryKind,
    Flapping,
    GroupStatusName,
    PendingDelivery,
    StatusChange,
)
from warren.words import clock, counted, duration, grouped, in_sentence, is_web_link, utc, visible
from warren_core.standing.endings import condition_over, end_of, ending, is_recovery, stay_lost
from warren_core.standing.facts import OLD_MS, Fact, facts_of
from warren_core.standing.renewal import APART_MS
from warren_core.standing.standing import Standing

from warren_notifier.channels.links import page_link
from warren_notifier.state.telling import Delivery

SHOWN = 10
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
    """One change in words: `title` for a subject, `headline` says it all. Control characters are
    visible in them and in `facts`; names in `change` are as Kafka has them.
    """

    standing: Standing
    now: int
    """As of when the text is, Unix milliseconds."""
    title: str
    what: str
    """What is wrong in a few words; empty at the end."""
    headline: str
    facts: list[Fact]
    partitions: list[tuple[str, str, str, str, str, str]]
    measured: str
    """When the partitions were so: ` at 07:00 UTC`; empty: they are now."""
    omitted: int
    meanings: list[tuple[str, str]]
    link: str
    """The group's page; empty without `link_base`, and where it would be too long."""
    acknowledge: str
    """Leads to a page that asks who looks after the incident; empty where there is nothing to."""

    @property
    def change(self) -> StatusChange:
        return self.standing.change

    @property
    def status(self) -> GroupStatusName:
        """The worst of what is wrong by now."""
        return self.standing.status

    @property
    def is_open(self) -> bool:
        """Whether its incident is, well or not by now."""
        return not self.standing.has_ended

    @property
    def sentences(self) -> str:
        """All of it as lines of plain text."""
        return "\n".join([self.headline, *(f"{name}: {value}" for name, value in self.facts)])

    @property
    def runbooks(self) -> list[str]:
        """Values of `facts` that are URLs which people can follow."""
        return list(filter(is_web_link, self.standing.runbooks))

    @property
    def links(self) -> list[tuple[str, str]]:
        """Words and URLs."""
        links = [("Look at it in Warren", self.link), ("Runbook", self.runbook_link)]
        return [(words, url) for words, url in links if url]

    @property
    def runbook_link(self) -> str:
        """The first runbook where people can follow it; else empty."""
        first = next(iter(self.standing.runbooks), "")
        return first if is_web_link(first) else ""

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The same for people, who may acknowledge it first."""
        first = [("Acknowledge", self.acknowledge)] if self.acknowledge else []
        return [*first, *self.links]


def incident_text(delivery: Delivery, link_base: str, now: int, besides: str = "") -> IncidentText:
    """The text for a delivery as of `now`, Unix milliseconds. `besides`: what else lasts."""
    kind, of = delivery.pending.kind, delivery.standing
    change = of.change
    bad = [] if kind == "resolved" else change.partitions
    committed = {partition.status for partition in bad if partition.committed >= 0}
    who = f"Consumer group {visible(of.group)} on cluster {visible(of.cluster)}"
    return IncidentText(
        standing=of,
        now=now,
        title=_title(delivery, of, now),
        what="" if kind == "resolved" else of.what(now),
        headline=f"{who} {_sentence(kind, of, now)}",
        facts=[
            *facts_of(of, now),
            *_of_delivery(delivery.pending, now),
            *([Fact("Also open", besides)] if besides else []),
        ],
        partitions=[row_of(partition) for partition in bad[:SHOWN]],
        measured=f" at {clock(of.root_at, now)}" if now - of.root_at >= OLD_MS else "",
        omitted=max(len(bad) - SHOWN, 0) + (change.partitions_omitted if bad else 0),
        meanings=[(status, text) for status, text in MEANING.items() if status in committed],
        link=page_link(link_base, "groups", of.cluster, of.group),
        acknowledge=page_link(link_base, "incidents", change.incident_id)
        if of.open and kind != "resolved" and of.acknowledged is None
        else "",
    )


def _title(delivery: Delivery, of: Standing, now: int) -> str:
    """What an SRE reads on a telephone: where, who, and what is wrong in a few words."""
    is_over = delivery.pending.kind == "resolved"
    status: str = ("OK" if is_recovery(of) else "OVER") if is_over else of.status
    who = f"[{status}] {visible(of.cluster)}: {visible(of.group)}"
    if is_over:
        return f"{who} {ending(of)}"
    flapping = delivery.pending.flapping
    said = [
        f"flapping, {_times(flapping, now)}" if flapping is not None else "",
        in_sentence(of.what(now)) or "not OK",
        _since(delivery.pending.kind, of, now),
        *(condition_over(each) for each in of.ended),
        stay_lost(of.lost) if of.lost and of.kept_at is not None else "",
    ]
    return f"{who} {'; '.join(filter(None, said))}"


def _since(kind: DeliveryKind, of: Standing, now: int) -> str:
    """A reminder says since when it is so; what may be otherwise by now, of when it is."""
    if of.kept_at is not None:
        return ""
    if kind == "repeated":
        return f"since {clock(of.change.opened_at, now)}"
    return f"as of {clock(of.root_at, now)}" if now - of.root_at >= APART_MS else ""


def _times(flapping: Flapping, now: int) -> str:
    return f"{counted(flapping.openings, 'incident')} since {clock(flapping.since, now)}"


def _of_delivery(pending: PendingDelivery, now: int) -> Iterator[Fact]:
    if pending.left_out:
        yield Fact("Left out", f"{counted(pending.left_out, 'change')} in between")
    if flapping := pending.flapping:
        quiet = duration(flapping.quiet_ms)
        said = f"told again when it gets worse, or has been quiet for {quiet}"
        yield Fact("Flapping", f"{_times(flapping, now)}; {said}")


def _sentence(kind: DeliveryKind, of: Standing, now: int) -> str:
    if kind == "resolved":
        return f"{end_of(of)[1]}."
    if of.kept_at is not None:
        return f"is OK at {clock(of.kept_at, now)}; its incident is over when it stays so."
    if kind == "repeated" or (kind == "changed" and of.change.previous == of.status):
        return f"is still {of.status}."
    return (
        f"went from {of.change.previous} to {of.status}."
        if kind == "changed"
        else (f"is {of.status}.")
    )


def row_of(partition: BadPartition) -> tuple[str, str, str, str, str, str]:
    return (
        partition.status,
        f"{visible(partition.topic)} {partition.partition}",
        _figure(partition.lag),
        _figure(partition.committed),
        _figure(partition.log_end),
        utc(partition.committed_at),
    )


def _figure(value: int | None) -> str:
    """`2,140`; `unknown` for None and Kafka's -1."""
    return "unknown" if value is None or value < 0 else grouped(value)
