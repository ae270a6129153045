"""The groups of a digest: each once, with all its incidents, the root first. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warren.contracts import DeliveryKind, EventTypeName, StatusChange
from warren.words import as_of, duration, visible

from warren_notifier.channels.digest import Digest
from warren_notifier.channels.facts import how_it_ended, is_old
from warren_notifier.channels.told_event import CALLED, at, told_event

BAD = {"ERR": 0, "WARN": 1}  # worst first
_ORDER = list(CALLED)
_NEWS: tuple[DeliveryKind, ...] = ("opened", "changed", "repeated")  # what says most comes first


@dataclass(frozen=True, slots=True)
class Incident:
    """The newest of one. `kind`: None where it has no news. `at`: Unix milliseconds."""

    kind: DeliveryKind | None
    type: EventTypeName
    change: StatusChange
    at: int

    @property
    def is_open(self) -> bool:
        return self.change.status in BAD

    @property
    def end(self) -> str:
        """`OK again after 5 m`."""
        return f"{how_it_ended(self.change)} after {duration(self.at - self.change.opened_at)}"

    @property
    def bare(self) -> str:
        """`consumer status ERR`: what is said where nobody has a sentence for it."""
        return f"{CALLED[self.type]} {self.change.status}"


@dataclass(frozen=True, slots=True)
class Group:
    """`incidents`: at least one, the root first. `incident_id`: of the group's incident."""

    incidents: Sequence[Incident]
    incident_id: str

    @property
    def change(self) -> StatusChange:
        """Of the root, open if any is: the one to look at first."""
        return (self.open or self.incidents)[0].change

    @property
    def open(self) -> list[Incident]:
        return [each for each in self.incidents if each.is_open]

    @property
    def is_bad(self) -> bool:
        return any(each.is_open for each in self.incidents)

    @property
    def status(self) -> str:
        """The worst."""
        return min((each.change.status for each in self.open), key=BAD.__getitem__, default="OK")

    @property
    def lag(self) -> tuple[int, int]:
        """The newest that somebody has measured, and as of when; without a measurement it is 0."""
        newest = max(self.open or self.incidents, key=lambda e: (e.change.total_lag > 0, e.at))
        return newest.change.total_lag, newest.at

    @property
    def since(self) -> int:
        """When the first of those that are open began, Unix milliseconds."""
        return min(each.change.opened_at for each in self.open or self.incidents)

    @property
    def kind(self) -> DeliveryKind | None:
        """Of the news about a group in trouble; None where there is none."""
        kinds = {each.kind for each in self.open}
        ended = "changed" if self._ended else None
        return next((kind for kind in _NEWS if kind in kinds or kind == ended), None)

    @property
    def causes(self) -> set[str]:
        known = (each.change.cause for each in self.open)
        return {cause.name for cause in known if cause is not None and cause.is_known}

    @property
    def rank(self) -> tuple[int, int]:
        """Sorts the worst first."""
        return BAD.get(self.status, len(BAD)), -self.lag[0]

    @property
    def ends(self) -> str:
        """How it ended; of several incidents with what each was about."""
        if len(self.incidents) == 1:
            return self.incidents[0].end
        return "; ".join(f"{CALLED[each.type]}: {each.end}" for each in self.incidents)

    def wrong(self, now: int) -> str:
        """What is wrong in sentences, with their time where they are old `now`, and what is over;
        empty where nobody says.
        """
        lost = any(b.limit == "lost_records" for e in self.open for b in e.change.objectives or [])
        said = []
        for each in self.open:
            sentence = "; ".join(_sentences(each.change, lost=lost))
            if sentence and is_old(each.at, now):
                sentence = as_of(sentence, each.at, now)
            if not sentence and len(self.incidents) > 1:
                sentence = each.bare
            said.append(sentence)
        said += [f"{CALLED[each.type]}: {each.end}" for each in self._ended]
        return visible("; ".join(filter(None, said)))

    @property
    def _ended(self) -> list[Incident]:
        """The news of what is over."""
        return [each for each in self.incidents if not each.is_open and each.kind is not None]


def digest_groups(digest: Digest) -> list[Group]:
    """What the message tells, or an earlier one has told: as it is now."""
    news = ((one.event, one.pending.kind) for one in digest.news)
    return _joined([*((event, None) for event in digest.lasting), *news])


def lasting_groups(digest: Digest) -> list[Group]:
    """Only what was told before, and has no news."""
    return _joined((event, None) for event in digest.lasting)


def _joined(told: Iterable[tuple[str, DeliveryKind | None]]) -> list[Group]:
    """Of several events about one condition the last counts."""
    groups: dict[tuple[str, str], dict[EventTypeName, Incident]] = defaultdict(dict)
    ids: dict[tuple[str, str], str] = {}
    for text, kind in told:
        of = told_event(text)
        group = of.change.cluster, of.change.group
        ids[group] = of.change.incident_id
        is_over = not of.open
        for event in [of.event] if is_over else [*of.open, *of.ended]:
            known, seen = groups[group].get(event.type), at(event)
            if known is None or known.at <= seen:
                groups[group][event.type] = Incident(kind, event.type, event.data, seen)
    return [Group(sorted(each.values(), key=_place), ids[group]) for group, each in groups.items()]


def _place(incident: Incident) -> int:
    return _ORDER.index(incident.type)


def _sentences(change: StatusChange, *, lost: bool) -> Iterator[str]:
    """`lost`: whether an incident of its own tells of lost records: a cause need not, then."""
    if change.objectives:
        worst = {breach.limit: breach.sentence for breach in reversed(change.objectives)}
        yield from (worst[limit] for limit in dict.fromkeys(b.limit for b in change.objectives))
    elif change.cause is not None and change.cause.is_known:
        also = [f for f in change.cause.also if not (lost and f.name == "records_lost")]
        yield change.cause.model_copy(update={"also": also}).line
    elif change.explanation:
        yield change.explanation
