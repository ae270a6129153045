"""What a message says about many incidents: the worst, how many more, and what is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warren.contracts import DeliveryKind, DigestKey, Label, StatusChange, StatusChangeEvent
from warren.words import as_of, counted, duration, grouped, records, utc, visible

from warren_notifier.channels.digest import Digest
from warren_notifier.channels.email_text import how_it_ended, is_old, lag_then, page_link

SHOWN = 20
NEW = 10
"""So many of those that are shown may be so only because they are new: they are why it is sent."""
WORST = "Worst groups"
CAUSES = 3
_BAD = {"ERR": 0, "WARN": 1}  # worst first
_WHERE = {
    "cluster": "on {}",
    "route": "of route {}",
    "topic": "at topic {}",
    "owner": "of {}",
    "cause": "with cause {}",
}


@dataclass(frozen=True, slots=True)
class DigestText:
    """`facts` are (name, value) pairs; `worst` have status, group, lag, since, and what is wrong;
    `over` a group and how it ended.
    """

    status: str
    subject: str
    headline: str
    facts: list[tuple[str, str]]
    worst: list[tuple[str, str, str, str, str]]
    links: list[str]
    """Pages of the incidents of `worst`, where one acknowledges them; empty without a base."""
    omitted: str
    over: list[tuple[str, str]]
    over_omitted: str
    link: str

    @property
    def lists(self) -> Iterator[tuple[str, list[str]]]:
        """Headings with a line for each group, and for how many are left out."""
        worst = [
            f"{status} {group}: lag {lag}, for {since}{'; ' if wrong else ''}{wrong}"
            for status, group, lag, since, wrong in self.worst
        ]
        over = [f"{group}: {end}" for group, end in self.over]
        known = (WORST, worst, self.omitted), ("Over", over, self.over_omitted)
        for heading, lines, omitted in known:
            if lines:
                yield heading, [*lines, *([f"… and {omitted} more"] if omitted else [])]


@dataclass(frozen=True, slots=True)
class _Group:
    """The newest of a group. `kind`: None where it has no news."""

    kind: DeliveryKind | None
    change: StatusChange
    at: int

    @property
    def is_bad(self) -> bool:
        return self.change.status in _BAD

    @property
    def rank(self) -> tuple[int, int]:
        return _BAD.get(self.change.status, len(_BAD)), -self.change.total_lag


def digest_text(digest: Digest, link_base: str, now: int) -> DigestText:
    """The text of a digest as of `now`, Unix milliseconds."""
    groups = _groups(digest)
    bad = sorted((group for group in groups if group.is_bad), key=lambda group: group.rank)
    over = [group for group in groups if not group.is_bad]
    where = place(digest.key)
    has_cluster = any(label.name == "cluster" for label in digest.key.labels)
    status, listed = bad[0].change.status if bad else "OK", _listed(bad)
    return DigestText(
        status=status,
        subject=f"[{status}] {_state(bad, over, where)}",
        headline=_headline(bad, over, where),
        facts=list(_facts(bad, over, now)),
        worst=[_row(group, has_cluster, now) for group in listed],
        links=[page_link(link_base, "incidents", g.change.incident_id) for g in listed],
        omitted=_beyond(bad),
        over=[(_name(g.change, has_cluster), _end(g)) for g in over[:SHOWN]],
        over_omitted=_beyond(over),
        link=f"{link_base.rstrip('/')}/" if link_base else "",
    )


def besides(digest: Digest) -> str:
    """The incidents that last beside the only news; empty when there are none."""
    events = [StatusChangeEvent.from_bytes(event.encode()).data for event in digest.lasting]
    groups = {(change.cluster, change.group) for change in events}
    if not groups:
        return ""
    worst = min((change.status for change in events), key=lambda status: _BAD.get(status, 2))
    return f"{counted(len(groups), 'group')} {place(digest.key)} (worst {worst})"


def place(key: DigestKey) -> str:
    """What the incidents have in common: `on prod`."""
    return " ".join(_WHERE[label.name].format(_value(label)) for label in key.labels)


def _value(label: Label) -> str:
    return visible(label.value) or f"no known {label.name}"


def _groups(digest: Digest) -> list[_Group]:
    """Each group once, with the worst of its incidents as they are now."""
    of_subject: dict[tuple[str, str, str], _Group] = {}
    for event in digest.lasting:
        _put(of_subject, event, None)
    for delivery in digest.news:
        _put(of_subject, delivery.event, delivery.pending.kind)
    worst: dict[tuple[str, str], _Group] = {}
    for (cluster, name, _), group in of_subject.items():
        known = worst.get((cluster, name))
        if known is None or group.rank < known.rank:
            worst[cluster, name] = group
    return list(worst.values())


def _put(
    of_subject: dict[tuple[str, str, str], _Group], text: str, kind: DeliveryKind | None
) -> None:
    event = StatusChangeEvent.from_bytes(text.encode())
    at = round(event.time.timestamp() * 1000)
    subject = event.data.cluster, event.data.group, event.type
    known = of_subject.get(subject)
    if known is None or known.at <= at:
        of_subject[subject] = _Group(kind, event.data, at)


def _listed(bad: Sequence[_Group]) -> list[_Group]:
    """The worst, in order, and at their end those that are new though there are worse ones."""
    hidden = [group for group in bad[SHOWN:] if group.kind == "opened"]
    if len(hidden) == len(bad[SHOWN:]) and all(group.kind == "opened" for group in bad[:SHOWN]):
        return list(bad[:SHOWN])  # all are new
    new = hidden[:NEW]
    return [*bad[: SHOWN - len(new)], *new]


def _state(bad: Sequence[_Group], over: Sequence[_Group], where: str) -> str:
    if not bad:
        return f"{_count(over, 'group')} {where}: over"
    news = [group for group in bad if group.kind == "opened"]
    more = []
    if 0 < len(news) < len(bad):
        more.append(f"{grouped(len(news))} new")
    if over:
        more.append(f"{grouped(len(over))} over")
    said = f"{_count(bad, 'group')} in trouble {where}"
    return ", ".join([said, *more])


def _headline(bad: Sequence[_Group], over: Sequence[_Group], where: str) -> str:
    if not bad:
        count = _count(over, "consumer group")
        return f"{count} {where}: what was told of {_them(over)} is over."
    counts = Counter[str](group.change.status for group in bad)
    said = ", ".join(f"{grouped(counts[status])} {status}" for status in _BAD if counts[status])
    verb = "is" if len(bad) == 1 else "are"
    return f"{_count(bad, 'consumer group')} {where} {verb} in trouble: {said}."


def _facts(bad: Sequence[_Group], over: Sequence[_Group], now: int) -> Iterator[tuple[str, str]]:
    if bad:
        since = min(group.change.opened_at for group in bad)
        yield "Since", f"{utc(since)} ({duration(now - since)} ago)"
    kinds = Counter[str | None](group.kind for group in bad)
    for name, kind in (("New", "opened"), ("Changed", "changed"), ("Reminded", "repeated")):
        if kinds[kind]:
            yield name, grouped(kinds[kind])
    if kinds[None]:
        yield "Unchanged", grouped(kinds[None])
    if over:
        yield "Over", grouped(len(over))
    if bad:
        yield "Lag", records(sum(group.change.total_lag for group in bad))
    known = (group.change.cause for group in bad)
    causes = Counter(cause.name for cause in known if cause is not None and cause.is_known)
    if causes:
        most = causes.most_common(CAUSES)
        yield "Causes", ", ".join(f"{grouped(count)} {_words(name)}" for name, count in most)


def _row(group: _Group, has_cluster: bool, now: int) -> tuple[str, str, str, str, str]:
    change, wrong = group.change, _wrong(group.change)
    return (
        change.status,
        _name(change, has_cluster),
        lag_then(change.total_lag, group.at, now).removeprefix("lag "),
        duration(now - change.opened_at),
        visible(as_of(wrong, group.at, now) if wrong and is_old(group.at, now) else wrong),
    )


def _words(name: str) -> str:
    """Of a cause, for people."""
    return visible(name).replace("_", " ")


def _wrong(change: StatusChange) -> str:
    """What is wrong, in a sentence; empty where nobody says."""
    if change.objectives:
        return change.objectives[0].sentence
    if change.cause is not None and change.cause.is_known:
        return change.cause.line
    return change.explanation or ""


def _end(group: _Group) -> str:
    return f"{how_it_ended(group.change)} after {duration(group.at - group.change.opened_at)}"


def _name(change: StatusChange, has_cluster: bool) -> str:
    group = visible(change.group)
    return group if has_cluster else f"{group} on {visible(change.cluster)}"


def _beyond(groups: Sequence[_Group]) -> str:
    """How many are not listed; empty for none."""
    return grouped(len(groups) - SHOWN) if len(groups) > SHOWN else ""


def _count(groups: Iterable[_Group], what: str) -> str:
    return counted(len(list(groups)), what)


def _them(groups: Sequence[_Group]) -> str:
    return "it" if len(groups) == 1 else "them"
