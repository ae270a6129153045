"""What a message says about many incidents: the worst, how many more, and what is over."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from warren.contracts import DigestKey
from warren.words import clock, counted, grouped, in_sentence, is_web_link, records, utc, visible
from warren_core.standing.endings import ending
from warren_core.standing.facts import handled, lag_figure, loss_in_words, then

from warren_notifier.channels.digest_groups import BAD, Digest, Group, digest_groups
from warren_notifier.channels.links import page_link

SHOWN = 20
SUBJECT = 64
"""Characters of a subject for the groups: with status and cluster what telephones show."""
CONDITIONS = 5
"""Kinds of trouble that are counted by name."""
NAMED = 200
"""Of new incidents, where more than a message's groups are new."""


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group in trouble: who, what is wrong in a few words, the figures, and what to do; that is
    empty where it is well by now.

    `links` are words and URLs: to acknowledge it, or look at it where there is nothing to; its
    runbook.
    """

    status: str
    name: str
    what: str
    figures: str
    action: str
    links: list[tuple[str, str]]


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
    # Those that have just begun first, whatever lasts: they are named in no other message.
    bad = [group for group in groups if not group.standing.has_ended]
    bad.sort(key=lambda group: (not group.is_new, group.rank))
    over = [group for group in groups if group.standing.has_ended]
    where = place(digest.key)
    # Of those that nobody handles, where there are any.
    notice = [group.standing.status for group in bad if not group.is_handled and group.is_bad]
    status = min(notice or [group.standing.status for group in bad], key=_badness, default="OK")
    return DigestText(
        status=status,
        title=f"[{status}] {visible(digest.key.cluster)}: {_state(bad, over, now)}",
        headline=_headline(bad, over, where),
        facts=list(_facts(bad, over, shown)),
        worst=[_line(group, link_base, now) for group in bad[:shown]],
        omitted=max(len(bad) - shown, 0),
        over=[(g.name, visible("; ".join([*g.before, ending(g.standing)]))) for g in over[:shown]],
        over_omitted=max(len(over) - shown, 0),
        link=f"{link_base.rstrip('/')}/" if link_base else "",
    )


def _badness(status: str) -> int:
    return BAD.get(status, len(BAD))


def besides(digest: Digest) -> str:
    """What lasts beside the only news, of the same group in a few words; empty for nothing."""
    about = digest.news[0].subject
    said, others = [], []
    for group in digest_groups(replace(digest, news=[])):
        if (group.standing.cluster, group.standing.group) != (about.cluster, about.group):
            others.append(group)
        elif group.is_bad:
            said.append(f"of this group: {', '.join(group.conditions)}")
    if others:
        worst = min((each.standing.status for each in others), key=_badness)
        said.append(f"{counted(len(others), 'group')} {place(digest.key)} (worst {worst})")
    return "; ".join(said)


def place(key: DigestKey) -> str:
    """What the incidents have in common: `on prod`."""
    return f"on {visible(key.cluster)}"


def _state(bad: Sequence[Group], over: Sequence[Group], now: int) -> str:
    """The rest of the subject, the news first: `NEW billing +2 stopped; 5 open, worst ledger
    (losing data)`; without news `billing +2 losing data; ledger stuck at one record; +4`.
    """
    if not bad:
        return f"over: {_some([(group.name, 1) for group in over], ', ')}"
    news = [group for group in bad if group.is_new]
    lasting = [group for group in bad if group.is_bad and not group.is_handled and not group.is_new]
    alike: dict[str, list[Group]] = {}
    for group in news or lasting or bad:
        alike.setdefault(_wrong(group, now), []).append(group)
    said = _some(
        [
            (f"{first.name}{f' +{grouped(len(rest))}' if rest else ''} {what}", 1 + len(rest))
            for what, (first, *rest) in alike.items()
        ],
        "; ",
    )
    if news:
        said = f"NEW {said}{_beside(news, lasting, len(bad), now)}"
    counts = {
        "acknowledged": sum(group.is_bad and group.is_acknowledged for group in bad),
        "silenced": sum(
            group.is_bad and group.is_handled and not group.is_acknowledged for group in bad
        ),
        "OK for now": sum(not group.is_bad for group in bad),
        "over": len(over),
    }
    more = [f"{grouped(count)} {what}" for what, count in counts.items() if count]
    return f"{said} ({', '.join(more)})" if more else said


def _beside(news: Sequence[Group], lasting: Sequence[Group], opened: int, now: int) -> str:
    """How many are open with the news, and the worst that lasts where it is worse than they are."""
    if opened == len(news):
        return ""
    worst = next((group for group in lasting if group.rank[:-1] < news[0].rank[:-1]), None)
    named = f", worst {worst.name} ({_wrong(worst, now)})" if worst else ""
    return f"; {grouped(opened)} open{named}"


def _wrong(group: Group, now: int) -> str:
    """What is wrong in a few words, or was where it is well by now."""
    return ", ".join(group.conditions) if group.is_bad else in_sentence(group.standing.what(now))


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


def _headline(bad: Sequence[Group], over: Sequence[Group], where: str) -> str:
    if not bad:
        count = counted(len(over), "consumer group")
        are_over = "its incident is over" if len(over) == 1 else "their incidents are over"
        return f"{count} {where}: {are_over}."
    troubled = [group for group in bad if group.is_bad]
    well = len(bad) - len(troubled)
    counts = Counter[str](group.standing.status for group in troubled)
    said = ", ".join(f"{grouped(counts[status])} {status}" for status in BAD if counts[status])
    verb = "is" if len(troubled) == 1 else "are"
    trouble = f"{counted(len(troubled), 'consumer group')} {where} {verb} in trouble: {said}."
    calm = f"{counted(well, 'consumer group')} {where} {'is' if well == 1 else 'are'} OK for now."
    return " ".join([trouble] * bool(troubled) + [calm] * bool(well))


def _facts(bad: Sequence[Group], over: Sequence[Group], shown: int) -> Iterator[tuple[str, str]]:
    if bad:
        yield "Since", utc(min(group.standing.change.opened_at for group in bad))
    kinds = Counter[str | None](group.kind for group in bad)
    for name, kind in (("New", "opened"), ("Changed", "changed"), ("Reminded", "repeated")):
        if kinds[kind]:
            yield name, grouped(kinds[kind])
    if names := [group.name for group in bad[shown:] if group.is_new]:
        further = f", +{grouped(len(names) - NAMED)}" if len(names) > NAMED else ""
        yield "Also new", ", ".join(names[:NAMED]) + further
    if kinds[None]:
        yield "Unchanged", grouped(kinds[None])
    if over:
        yield "Over", grouped(len(over))
    conditions = Counter(each for group in bad for each in group.conditions)
    if conditions:
        most = conditions.most_common(CONDITIONS)
        named = {each for each, _ in most}
        rest = sum(group.is_bad and named.isdisjoint(group.conditions) for group in bad)
        said = [f"{grouped(count)} {each}" for each, count in most]
        yield "Conditions", "; ".join([*said, *([f"{grouped(rest)} other"] if rest else [])])


def _line(group: Group, link_base: str, now: int) -> GroupLine:
    of = group.standing
    lag, loss = of.figures.lag, of.figures.loss_at
    figures = [f"since {clock(of.change.opened_at, now)}"]
    figures += [then(f"lag {lag_figure(lag)}", lag.at, now)] if lag is not None else []
    figures += [f"data loss {loss_in_words(loss, now)}"] if group.is_bad and loss else []
    figures += [f"{records(of.lost)} lost"] if of.lost else []
    figures += [group.over] if group.over else []
    page = ("Look at it", page_link(link_base, "groups", of.cluster, of.group))
    if group.is_bad and of.acknowledged is None:
        page = ("Acknowledge", page_link(link_base, "incidents", of.change.incident_id))
    runbook = ("Runbook", next(filter(is_web_link, of.runbooks), ""))
    return GroupLine(
        status=of.status,
        name=group.name,
        what=_wrong(group, now),
        figures=" · ".join([*figures, *handled(of, now)]),
        action=f"Do: {visible(of.steps[0])}" if group.is_bad and of.steps else "",
        links=[(words, url) for words, url in (page, runbook) if url],
    )
