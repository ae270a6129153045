"""What all channels say about a change: words for people, and figures apart for machines. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warren.contracts import DeliveryKind, Flapping, GroupStatusName, StatusChange
from warren.words import as_of, counted, duration, visible

from warren_notifier.channels.facts import (
    end_sentence,
    facts_of,
    how_it_ended,
    is_old,
    lag_then,
    lateness_ms,
    row_of,
    time_to_loss_ms,
)
from warren_notifier.channels.links import is_web_link, page_link
from warren_notifier.channels.told_event import CALLED, ToldEvent, at, told_event
from warren_notifier.state.delivery import Delivery

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
    """One change in words: `title` for a subject, `headline` says it all, `facts` are (name, value)
    pairs. Control characters are visible in them; names in `change` are as Kafka has them.
    """

    change: StatusChange
    event_type: str
    at: int
    """When it happened, Unix milliseconds."""
    now: int
    """As of when the text is, likewise."""
    title: str
    headline: str
    facts: list[tuple[str, str]]
    partitions: list[tuple[str, str, str, str, str, str]]
    omitted: int
    meanings: list[tuple[str, str]]
    link: str
    """The group's page; empty without `link_base`, and where it would be too long."""
    acknowledge: str
    """Leads to a page that asks who looks after the incident; empty where there is nothing to."""

    @property
    def status(self) -> GroupStatusName:
        return self.change.status

    @property
    def is_open(self) -> bool:
        return self.status in ("WARN", "ERR")

    def dated(self, sentence: str) -> str:
        """A stored sentence: its figures are of then, and it says so where that is long ago."""
        is_dated = sentence and is_old(self.at, self.now)
        return as_of(sentence, self.at, self.now) if is_dated else sentence

    @property
    def sentences(self) -> str:
        """All of it as lines of plain text."""
        return "\n".join([self.headline, *(f"{name}: {value}" for name, value in self.facts)])

    @property
    def lateness_ms(self) -> int | None:
        return lateness_ms(self.change)

    @property
    def time_to_loss_ms(self) -> int | None:
        return time_to_loss_ms(self.change)

    @property
    def owner(self) -> str:
        breaches = self.change.objectives or []
        return next((breach.owner for breach in breaches if breach.owner), self.change.owner or "")

    @property
    def runbook(self) -> str:
        breaches = self.change.objectives or []
        said = (breach.runbook for breach in breaches if breach.runbook)
        return next(said, self.change.runbook or "")

    @property
    def runbooks(self) -> list[str]:
        """Values of `facts` that are URLs which people can follow."""
        said = [breach.runbook or "" for breach in self.change.objectives or []]
        said += [self.change.runbook or ""]
        return [runbook for runbook in said if is_web_link(runbook)]

    @property
    def runbook_link(self) -> str:
        """The runbook where people can follow it; else empty."""
        return self.runbook if self.runbook in self.runbooks else ""

    @property
    def links(self) -> list[tuple[str, str]]:
        """Words and URLs."""
        links = [("Look at it in Warren", self.link), ("Runbook", self.runbook_link)]
        return [(words, url) for words, url in links if url]


def incident_text(delivery: Delivery, link_base: str, now: int, besides: str = "") -> IncidentText:
    """The text for a delivery as of `now`, Unix milliseconds. `besides`: what else lasts."""
    kind, told = delivery.pending.kind, told_event(delivery.event)
    change, seen = told.change, told.at
    group, cluster = visible(change.group), visible(change.cluster)
    state = _state_of(kind, told, now)
    bad = [] if kind == "resolved" else change.partitions
    worst = {partition.status for partition in bad}
    return IncidentText(
        change=change,
        event_type=told.event.type,
        at=seen,
        now=now,
        title=f"[{change.status}] {group} on {cluster}: {_flapping(delivery, now)}{state}",
        headline=f"Consumer group {group} on cluster {cluster} {_sentence(kind, change)}",
        facts=[
            *facts_of(kind, told, now),
            *_left_out(delivery.pending.left_out),
            *_quiet(delivery.pending.flapping, now),
            *([("Also open", besides)] if besides else []),
        ],
        partitions=[row_of(partition) for partition in bad[:SHOWN]],
        omitted=max(len(bad) - SHOWN, 0) + (change.partitions_omitted if bad else 0),
        meanings=[(status, text) for status, text in MEANING.items() if status in worst],
        link=page_link(link_base, "groups", change.cluster, change.group),
        acknowledge=page_link(link_base, "incidents", change.incident_id)
        if kind != "resolved"
        else "",
    )


def _flapping(delivery: Delivery, now: int) -> str:
    flapping = delivery.pending.flapping
    return f"flapping, {_times(flapping, now)}; " if flapping is not None else ""


def _times(flapping: Flapping, now: int) -> str:
    return f"{counted(flapping.openings, 'incident')} in {duration(now - flapping.since)}"


def _quiet(flapping: Flapping | None, now: int) -> Iterator[tuple[str, str]]:
    if flapping is not None:
        quiet = (
            f"told again when it gets worse, or has been quiet for {duration(flapping.quiet_ms)}"
        )
        yield "Flapping", f"{_times(flapping, now)}; {quiet}"


def _left_out(changes: int) -> Iterator[tuple[str, str]]:
    if changes:
        yield "Left out", f"{counted(changes, 'change')} in between"


def _state_of(kind: DeliveryKind, told: ToldEvent, now: int) -> str:
    """Of several conditions the root in full, then the others, then what is over."""
    if not told.is_several:
        return _state(kind, told.change, told.at, now)
    root = told.open[0]
    since = root.data.model_copy(update={"opened_at": told.change.opened_at})
    others = [f"{CALLED[each.type]} {each.data.status}" for each in told.open[1:]]
    over = [f"{CALLED[each.type]} {how_it_ended(each.data)}" for each in told.ended]
    return "; ".join([_state(kind, since, at(root), now), *others, *over])


def _state(kind: DeliveryKind, change: StatusChange, seen: int, now: int) -> str:
    """The end of the subject line: what an SRE reads on a telephone."""
    if kind == "resolved":
        over = how_it_ended(change)
        return f"{over} after {duration(seen - change.opened_at)}"
    still, lasts = "", ""
    if kind == "repeated":
        still, lasts = "still ", f" after {duration(now - change.opened_at)}"
    if change.objectives:
        sentence = visible(change.objectives[0].sentence)
        said = as_of(sentence, seen, now) if is_old(seen, now) else sentence
        return f"{still}open{lasts}; {said}" if still else said
    lag = lag_then(change.total_lag, seen, now)
    if change.cause is not None and change.cause.is_known and change.cause.short:
        lasts = f", open for {duration(now - change.opened_at)}" if still else ""
        return f"{visible(change.cause.short)}{lasts}, {lag}"
    bad = sum(n for status, n in change.partition_counts.items() if status != "OK")
    troubled = f"{still}{counted(bad, 'partition')} in trouble{lasts}, " if bad else ""
    return f"{troubled}{lag}"


def _sentence(kind: DeliveryKind, change: StatusChange) -> str:
    if kind == "resolved":
        return f"{end_sentence(change)}."
    if kind == "repeated":
        return f"is still {change.status}."
    if kind == "changed":
        if change.previous == change.status:
            return f"is still {change.status}."
        return f"went from {change.previous} to {change.status}."
    return f"is {change.status}."
