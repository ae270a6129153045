"""What all channels say about a change: words for people, and figures apart for machines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warren.contracts import (
    BadPartition,
    Breach,
    DeliveryKind,
    Flapping,
    GroupStatusName,
    StatusChange,
    StatusChangeEvent,
)
from warren.words import (
    as_of,
    counted,
    duration,
    grouped,
    records,
    utc,
    visible,
)

from warren_notifier.channels.links import is_web_link, page_link
from warren_notifier.routing import lost_end
from warren_notifier.state.delivery import Delivery

SHOWN = 10
OLD_MS = 10_000
"""From this age on figures are others by now: they carry the time of which they are."""
MEANING = {
    "STOP": "has stopped committing: the consumer is down or hangs",
    "STALL": "commits, but always the same offset: it does not get past a record",
    "REWIND": "went back to an earlier offset",
    "BEYOND_END": "has committed an offset beyond the end of the log: records were truncated, or "
    "the topic was made anew",
    "WARN": "falls behind: its lag has only been growing",
}
# How an incident ended, for the subject and for the sentence.
_END = {
    None: ("OK again", "is OK again"),
    "group_deleted": ("group deleted", "was deleted"),
    "group_expired": ("group expired", "has expired: it does not commit any more"),
    "group_forgotten": ("group forgotten", "was forgotten on request until it commits again"),
    lost_end.REPLACED: (
        "replaced by another incident",
        "has another incident since; the end of this one was not seen",
    ),
}
_KEPT = ("objectives kept again", "keeps its objectives again")


@dataclass(frozen=True, slots=True)
class IncidentText:
    """One change in words: `title` for a subject, `headline` says it all, `facts` are (name, value)
    pairs. Control characters are visible in them; names in `change` are as Kafka has them.
    """

    change: StatusChange
    event_type: str
    at: int
    """When it happened, Unix milliseconds."""
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
        return next((breach.owner for breach in breaches if breach.owner), "")

    @property
    def runbook(self) -> str:
        breaches = self.change.objectives or []
        return next((breach.runbook for breach in breaches if breach.runbook), "")

    @property
    def runbooks(self) -> list[str]:
        """Values of `facts` that are URLs which people can follow."""
        said = [breach.runbook or "" for breach in self.change.objectives or []]
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
    kind, event = delivery.pending.kind, StatusChangeEvent.from_bytes(delivery.event.encode())
    change, seen = event.data, round(event.time.timestamp() * 1000)
    group, cluster = visible(change.group), visible(change.cluster)
    state = _state(kind, change, seen, now)
    bad = [] if kind == "resolved" else change.partitions
    worst = {partition.status for partition in bad}
    return IncidentText(
        change=change,
        event_type=event.type,
        at=seen,
        title=f"[{change.status}] {group} on {cluster}: {_flapping(delivery, now)}{state}",
        headline=f"Consumer group {group} on cluster {cluster} {_sentence(kind, change)}",
        facts=[
            *_facts(kind, change, seen, now),
            *_left_out(delivery.pending.left_out),
            *_quiet(delivery.pending.flapping, now),
            *([("Also open", besides)] if besides else []),
        ],
        partitions=[_row(partition) for partition in bad[:SHOWN]],
        omitted=max(len(bad) - SHOWN, 0) + (change.partitions_omitted if bad else 0),
        meanings=[(status, text) for status, text in MEANING.items() if status in worst],
        link=page_link(link_base, "groups", change.cluster, change.group),
        acknowledge=page_link(link_base, "incidents", change.incident_id)
        if kind != "resolved"
        else "",
    )


def lateness_ms(change: StatusChange) -> int | None:
    """How late the group is, at least. Evaluators that do not say it of the whole group may say it
    of an objective or a cause.
    """
    if change.late_ms is not None:
        return change.late_ms
    measured = list(_measured(change, "max_freshness"))
    if change.cause is not None and change.cause.evidence.freshness_ms is not None:
        measured.append(change.cause.evidence.freshness_ms)
    return max(measured, default=None)


def time_to_loss_ms(change: StatusChange) -> int | None:
    """Until retention deletes what the group has not consumed; likewise."""
    if change.time_to_loss_ms is not None:
        return change.time_to_loss_ms
    return min(_measured(change, "min_time_to_loss"), default=None)


def _measured(change: StatusChange, limit: str) -> Iterator[int]:
    for breach in change.objectives or []:
        if breach.limit == limit and breach.value is not None:
            yield round(breach.value)


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


def _state(kind: DeliveryKind, change: StatusChange, seen: int, now: int) -> str:
    """The end of the subject line: what an SRE reads on a telephone."""
    if kind == "resolved":
        over, _ = _end(change)
        return f"{over} after {duration(seen - change.opened_at)}"
    still, lasts = "", ""
    if kind == "repeated":
        still, lasts = "still ", f" after {duration(now - change.opened_at)}"
    if change.objectives:
        sentence = visible(change.objectives[0].sentence)
        said = as_of(sentence, seen, now) if is_old(seen, now) else sentence
        return f"{still}open{lasts}; {said}" if still else said
    bad = sum(n for status, n in change.partition_counts.items() if status != "OK")
    troubled = f"{still}{counted(bad, 'partition')} in trouble{lasts}, " if bad else ""
    return f"{troubled}{lag_then(change.total_lag, seen, now)}"


def is_old(seen: int, now: int) -> bool:
    """Whether what was seen then may be otherwise `now`; both Unix milliseconds."""
    return now - seen >= OLD_MS


def lag_then(lag: int, seen: int, now: int) -> str:
    """`lag 2,140`, and how long ago it was so where it may be another by now."""
    ago = f" ({duration(now - seen)} ago)" if is_old(seen, now) else ""
    return f"lag {grouped(lag)}{ago}"


def _sentence(kind: DeliveryKind, change: StatusChange) -> str:
    if kind == "resolved":
        _, over = _end(change)
        return f"{over}."
    if kind == "repeated":
        return f"is still {change.status}."
    if kind == "changed":
        return f"went from {change.previous} to {change.status}."
    return f"is {change.status}."


def _facts(
    kind: DeliveryKind, change: StatusChange, seen: int, now: int
) -> Iterator[tuple[str, str]]:
    since = utc(change.opened_at)
    if kind == "resolved":
        yield "From", since
        yield "Until", f"{utc(seen)} ({duration(seen - change.opened_at)})"
    else:
        yield "Since", f"{since} ({duration(now - change.opened_at)} ago)"
        if is_old(seen, now):
            yield "As of", f"{utc(seen)} ({duration(now - seen)} ago)"
        yield from _why(change)
    if change.objectives is not None:
        yield from _objectives(change.objectives)
    if kind != "resolved":
        late, left = lateness_ms(change), time_to_loss_ms(change)
        if late is not None:
            yield "Late by", duration(late)
        if left is not None:
            yield "Time to loss", duration(left)
    if change.objectives is not None:
        return
    yield "Lag", records(change.total_lag)
    if change.max_lag is not None and change.max_lag.lag != 0:
        worst = change.max_lag
        yield (
            "Largest lag",
            f"{visible(worst.topic)} partition {worst.partition}: {records(worst.lag)}",
        )
    counts = sorted(change.partition_counts.items(), key=lambda item: item[0] == "OK")
    if counts:
        yield "Partitions", ", ".join(f"{grouped(n)} {status}" for status, n in counts)


def _why(change: StatusChange) -> Iterator[tuple[str, str]]:
    """Objectives say in their own lines what the explanation says of them."""
    if change.cause is not None and change.cause.is_known:
        yield "Cause", visible(change.cause.sentence)
        if change.cause.action:
            yield "What to do", visible(change.cause.action)
        for found in change.cause.also:
            yield "Also", visible(found.sentence)
            if found.action:
                yield "Then", visible(found.action)
    elif change.explanation and change.objectives is None:
        yield "Explanation", visible(change.explanation)


def how_it_ended(change: StatusChange) -> str:
    """`OK again`, `group deleted`."""
    return _end(change)[0]


def _end(change: StatusChange) -> tuple[str, str]:
    """Of a reason that only a newer Warren knows, the reason itself."""
    if change.reason is None and change.objectives is not None:
        return _KEPT
    said = visible(change.reason or "")
    return _END.get(change.reason, (f"ended, {said},", f"is not watched any more: {said}"))


def _objectives(breaches: Sequence[Breach]) -> Iterator[tuple[str, str]]:
    for breach in breaches:
        yield "Objective", visible(f"{breach.objective}: {breach.sentence}")
        if breach.owner:
            yield "Owner", visible(breach.owner)
        if breach.runbook:
            yield "What to do", visible(breach.runbook)


def _row(partition: BadPartition) -> tuple[str, str, str, str, str, str]:
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
