"""What a message says about many incidents: the worst, how many more, and what is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warren.contracts import STATUS_CHANGED, DigestKey, Label
from warren.words import clock, counted, grouped, records, utc, visible

from warren_notifier.channels.digest import Digest
from warren_notifier.channels.digest_groups import BAD, Group, digest_groups, lasting_groups
from warren_notifier.channels.facts import handled, is_old, loss, then
from warren_notifier.channels.first_step import first_step
from warren_notifier.channels.links import is_web_link, page_link
from warren_notifier.channels.told_event import CALLED

SHOWN = 20
NEW = 10
"""So many of those that are shown may be so only because they are new: they are why it is sent."""
SUBJECT = 64
"""Characters of a subject for the groups: with status and cluster what telephones show."""
NEWS = ("opened", "changed")  # kinds of deliveries that tell something new
CAUSES = 3
_WHERE = {
    "cluster": "on {}",
    "route": "of route {}",
    "topic": "at topic {}",
    "owner": "of {}",
    "cause": "with cause {}",
}


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group in trouble: who, what is wrong in a few words, the figures, and what to do.

    `acknowledge` leads to the page of its open incident, and is empty where somebody has;
    `runbook` leads to what its owner says, and may be empty.
    """

    status: str
    name: str
    what: str
    figures: str
    action: str
    runbook: str
    acknowledge: str


@dataclass(frozen=True, slots=True)
class DigestText:
    """`facts` are (name, value) pairs; `worst` the groups in trouble; `over` a group and how it
    ended.
    """

    status: str
    title: str
    headline: str
    facts: list[tuple[str, str]]
    worst: list[GroupLine]
    omitted: int
    over: list[tuple[str, str]]
    over_omitted: int
    link: str


def digest_text(digest: Digest, link_base: str, now: int, shown: int = SHOWN) -> DigestText:
    """The text of a digest as of `now`, Unix milliseconds, with so many groups."""
    groups = digest_groups(digest)
    bad = sorted((group for group in groups if group.is_bad), key=lambda group: group.rank)
    over = [group for group in groups if not group.is_bad]
    where = place(digest.key)
    has_cluster = any(label.name == "cluster" for label in digest.key.labels)
    status, listed = bad[0].status if bad else "OK", _listed(bad, shown)
    return DigestText(
        status=status,
        title=f"[{status}] {_what(digest.key)}: {_state(bad, over, has_cluster)}",
        headline=_headline(bad, over, where),
        facts=list(_facts(bad, over, now)),
        worst=[_line(group, has_cluster, link_base, now) for group in listed],
        omitted=max(len(bad) - shown, 0),
        over=[(_name(g, has_cluster), visible(g.ends)) for g in over[:shown]],
        over_omitted=max(len(over) - shown, 0),
        link=f"{link_base.rstrip('/')}/" if link_base else "",
    )


def besides(digest: Digest) -> str:
    """What lasts beside the only news, of the same group in a few words; empty for nothing."""
    about = digest.news[0].subject
    said, others = [], []
    for group in lasting_groups(digest):
        if (group.change.cluster, group.change.group) != (about.cluster, about.group):
            others.append(group)
        elif group.is_bad:
            said.append(f"of this group: {group.brief}")
    if others:
        worst = min((each.status for each in others), key=lambda status: BAD.get(status, len(BAD)))
        said.append(f"{counted(len(others), 'group')} {place(digest.key)} (worst {worst})")
    return "; ".join(said)


def place(key: DigestKey) -> str:
    """What the incidents have in common: `on prod`."""
    return " ".join(_WHERE[label.name].format(_value(label)) for label in key.labels)


def _what(key: DigestKey) -> str:
    """The same before a colon: `prod`, `owner payments`."""
    return ", ".join(
        f"{label.name} {_value(label)}"
        if label.name != "cluster" and label.value
        else _value(label)
        for label in key.labels
    )


def _value(label: Label) -> str:
    return visible(label.value) or f"no known {label.name}"


def _listed(bad: Sequence[Group], shown: int) -> list[Group]:
    """The worst, in order, and at their end those with news though there are worse ones."""
    hidden = [group for group in bad[shown:] if group.kind in NEWS]
    if len(hidden) == len(bad[shown:]) and all(group.kind in NEWS for group in bad[:shown]):
        return list(bad[:shown])  # all have some
    new = hidden[: min(NEW, shown // 2)]
    return [*bad[: shown - len(new)], *new]


def _state(bad: Sequence[Group], over: Sequence[Group], has_cluster: bool) -> str:
    """The rest of the subject: `billing +2 losing data; ledger stuck at one record; +4 (1 new)`."""
    alike: dict[str, list[Group]] = {}
    for group in bad:
        alike.setdefault(group.brief, []).append(group)
    if not bad:
        return f"over: {_some([(_name(group, has_cluster), 1) for group in over], ', ')}"
    news = sum(group.kind == "opened" for group in bad)
    more = [f"{grouped(news)} new"] if 0 < news < len(bad) else []
    more += [f"{grouped(len(over))} over"] if over else []
    said = [
        (f"{_name(first, has_cluster)}{_and(len(rest))} {what}", 1 + len(rest))
        for what, (first, *rest) in alike.items()
    ]
    return _some(said, "; ") + (f" ({', '.join(more)})" if more else "")


def _some(said: Sequence[tuple[str, int]], between: str) -> str:
    """As much as a subject has room for, at least one: `a, b, +2`; each with how many groups it
    is.
    """
    shown = said[0][0]
    for place, (text, _) in enumerate(said[1:], start=1):
        if len(f"{shown}{between}{text}") > SUBJECT:
            return f"{shown}{between}+{grouped(sum(count for _, count in said[place:]))}"
        shown = f"{shown}{between}{text}"
    return shown


def _and(more: int) -> str:
    return f" +{grouped(more)}" if more else ""


def _headline(bad: Sequence[Group], over: Sequence[Group], where: str) -> str:
    if not bad:
        count = _count(over, "consumer group")
        return f"{count} {where}: what was told of {_them(over)} is over."
    counts = Counter[str](group.status for group in bad)
    said = ", ".join(f"{grouped(counts[status])} {status}" for status in BAD if counts[status])
    verb = "is" if len(bad) == 1 else "are"
    return f"{_count(bad, 'consumer group')} {where} {verb} in trouble: {said}."


def _facts(bad: Sequence[Group], over: Sequence[Group], now: int) -> Iterator[tuple[str, str]]:
    if bad:
        yield "Since", utc(min(group.since for group in bad))
    kinds = Counter[str | None](group.kind for group in bad)
    for name, kind in (("New", "opened"), ("Changed", "changed"), ("Reminded", "repeated")):
        if kinds[kind]:
            yield name, grouped(kinds[kind])
    if kinds[None]:
        yield "Unchanged", grouped(kinds[None])
    if over:
        yield "Over", grouped(len(over))
    about = Counter(CALLED[each.type] for group in bad for each in group.open)
    if about.keys() - {CALLED[STATUS_CHANGED]}:
        known = [f"{grouped(about[name])} {name}" for name in CALLED.values() if about[name]]
        yield "Conditions", ", ".join(known)
    if bad:
        yield "Lag", _total_lag(bad, now)
    causes = Counter(cause for group in bad for cause in group.causes)
    if causes:
        most = causes.most_common(CAUSES)
        shown = {cause for cause, _ in most}
        rest = sum(shown.isdisjoint(group.causes) for group in bad)
        said = [f"{grouped(count)} {cause}" for cause, count in most]
        said += [f"{grouped(rest)} other or not clear"] if rest else []
        yield "Causes", ", ".join(said)


def _total_lag(bad: Sequence[Group], now: int) -> str:
    """Of all, with the times of which it is where it is another by now."""
    total, times = records(sum(group.lag[0] for group in bad)), [group.lag[1] for group in bad]
    first, last = (clock(seen, now) for seen in (min(times), max(times)))
    if first == last:
        return then(total, min(times), now)
    return f"{total}, measured {first} to {last}" if is_old(min(times), now) else total


def _line(group: Group, has_cluster: bool, link_base: str, now: int) -> GroupLine:
    lag, seen = group.lag
    figures = [f"since {clock(group.since, now)}", then(f"lag {grouped(lag)}", seen, now)]
    if group.loss_at is not None:
        figures.append(f"data loss {loss(*group.loss_at, now)}")
    figures += [group.over] if group.over else []
    told = group.told
    figures += handled(told.acknowledged, told.silenced_until, now)
    return GroupLine(
        status=group.status,
        name=_name(group, has_cluster),
        what=group.brief,
        figures=" · ".join(figures),
        action=first_step(each.change for each in group.open),
        runbook=next(filter(is_web_link, group.runbooks), ""),
        acknowledge=page_link(link_base, "incidents", told.incident_to_acknowledge)
        if told.acknowledged is None
        else "",
    )


def _name(group: Group, has_cluster: bool) -> str:
    name = visible(group.change.group)
    return name if has_cluster else f"{name} on {visible(group.change.cluster)}"


def _count(groups: Iterable[Group], what: str) -> str:
    return counted(len(list(groups)), what)


def _them(groups: Sequence[Group]) -> str:
    return "it" if len(groups) == 1 else "them"
