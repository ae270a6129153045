"""What a message says about many incidents: the worst, how many more, and what is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warren.contracts import STATUS_CHANGED, DigestKey, Label
from warren.words import counted, duration, grouped, records, utc, visible

from warren_notifier.channels.digest import Digest
from warren_notifier.channels.digest_groups import BAD, Group, digest_groups, lasting_groups
from warren_notifier.channels.facts import lag_then
from warren_notifier.channels.links import page_link
from warren_notifier.channels.told_event import CALLED

SHOWN = 20
NEW = 10
"""So many of those that are shown may be so only because they are new: they are why it is sent."""
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
class DigestText:
    """`facts` are (name, value) pairs; `worst` have status, group, lag, since, and what is wrong;
    `over` a group and how it ended.
    """

    status: str
    title: str
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
    def lists(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Headings with a line for each group, and for how many are left out. A line has a link to
        acknowledge by, or an empty one.
        """
        worst = [
            (f"{status} {group}: lag {lag}, for {since}{'; ' if wrong else ''}{wrong}", link)
            for (status, group, lag, since, wrong), link in zip(self.worst, self.links, strict=True)
        ]
        over = [(f"{group}: {end}", "") for group, end in self.over]
        known = ("Worst groups", worst, self.omitted), ("Over", over, self.over_omitted)
        for heading, lines, omitted in known:
            if lines:
                yield heading, [*lines, *([(f"… and {omitted} more", "")] if omitted else [])]


def digest_text(digest: Digest, link_base: str, now: int) -> DigestText:
    """The text of a digest as of `now`, Unix milliseconds."""
    groups = digest_groups(digest)
    bad = sorted((group for group in groups if group.is_bad), key=lambda group: group.rank)
    over = [group for group in groups if not group.is_bad]
    where = place(digest.key)
    has_cluster = any(label.name == "cluster" for label in digest.key.labels)
    status, listed = bad[0].status if bad else "OK", _listed(bad)
    return DigestText(
        status=status,
        title=f"[{status}] {_state(bad, over, where)}",
        headline=_headline(bad, over, where),
        facts=list(_facts(bad, over, now)),
        worst=[_row(group, has_cluster, now) for group in listed],
        links=[page_link(link_base, "incidents", g.incident_id) for g in listed],
        omitted=_beyond(bad),
        over=[(_name(g, has_cluster), visible(g.ends)) for g in over[:SHOWN]],
        over_omitted=_beyond(over),
        link=f"{link_base.rstrip('/')}/" if link_base else "",
    )


def besides(digest: Digest, now: int) -> str:
    """What lasts beside the only news, of the same group in sentences; empty for nothing."""
    about = digest.news[0].subject
    said, others = [], []
    for group in lasting_groups(digest):
        if (group.change.cluster, group.change.group) != (about.cluster, about.group):
            others.append(group)
        elif group.is_bad:
            said.append(f"of this group: {group.wrong(now) or group.open[0].bare}")
    if others:
        worst = min((each.status for each in others), key=lambda status: BAD.get(status, len(BAD)))
        said.append(f"{counted(len(others), 'group')} {place(digest.key)} (worst {worst})")
    return "; ".join(said)


def place(key: DigestKey) -> str:
    """What the incidents have in common: `on prod`."""
    return " ".join(_WHERE[label.name].format(_value(label)) for label in key.labels)


def _value(label: Label) -> str:
    return visible(label.value) or f"no known {label.name}"


def _listed(bad: Sequence[Group]) -> list[Group]:
    """The worst, in order, and at their end those with news though there are worse ones."""
    hidden = [group for group in bad[SHOWN:] if group.kind in NEWS]
    if len(hidden) == len(bad[SHOWN:]) and all(group.kind in NEWS for group in bad[:SHOWN]):
        return list(bad[:SHOWN])  # all have some
    new = hidden[:NEW]
    return [*bad[: SHOWN - len(new)], *new]


def _state(bad: Sequence[Group], over: Sequence[Group], where: str) -> str:
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
        since = min(group.since for group in bad)
        yield "Since", f"{utc(since)} ({duration(now - since)} ago)"
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
        yield "Incidents", ", ".join(known)
    if bad:
        yield "Lag", records(sum(group.lag[0] for group in bad))
    causes = Counter(cause for group in bad for cause in group.causes)
    if causes:
        most = causes.most_common(CAUSES)
        yield "Causes", ", ".join(f"{grouped(count)} {_words(name)}" for name, count in most)


def _row(group: Group, has_cluster: bool, now: int) -> tuple[str, str, str, str, str]:
    return (
        group.status,
        _name(group, has_cluster),
        lag_then(*group.lag, now).removeprefix("lag "),
        duration(now - group.since),
        group.wrong(now),
    )


def _words(name: str) -> str:
    """Of a cause, for people."""
    return visible(name).replace("_", " ")


def _name(group: Group, has_cluster: bool) -> str:
    name = visible(group.change.group)
    return name if has_cluster else f"{name} on {visible(group.change.cluster)}"


def _beyond(groups: Sequence[Group]) -> str:
    """How many are not listed; empty for none."""
    return grouped(len(groups) - SHOWN) if len(groups) > SHOWN else ""


def _count(groups: Iterable[Group], what: str) -> str:
    return counted(len(list(groups)), what)


def _them(groups: Sequence[Group]) -> str:
    return "it" if len(groups) == 1 else "them"
