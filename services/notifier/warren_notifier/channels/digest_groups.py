"""The groups of a digest: each once, with all its incidents, the root first. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warren.contracts import DeliveryKind, EventTypeName, StatusChange
from warren.words import duration, visible

from warren_notifier.channels.brief import brief, called, is_losing
from warren_notifier.channels.digest import Digest
from warren_notifier.channels.facts import how_it_ended
from warren_notifier.channels.first_step import runbooks
from warren_notifier.channels.lateness import time_to_loss_ms
from warren_notifier.channels.told_event import CALLED, ToldEvent, at, told_event

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
        """`OK again after 5m`."""
        return f"{how_it_ended(self.change)} after {duration(self.at - self.change.opened_at)}"


@dataclass(frozen=True, slots=True)
class Group:
    """`incidents`: at least one, the root first. `told`: the newest event of the group."""

    incidents: Sequence[Incident]
    told: ToldEvent

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
        """In words."""
        known = (each.change.cause for each in self.open)
        return {called(cause) for cause in known if cause is not None and cause.is_known}

    @property
    def brief(self) -> str:
        """What is wrong in a few words, the root first."""
        return brief(each.change for each in self.open)

    @property
    def loss_at(self) -> tuple[int, int] | None:
        """When retention may delete what the group has not consumed, and as of when, Unix
        milliseconds.
        """
        left = ((each.at, time_to_loss_ms(each.change)) for each in self.open)
        known = [(at + ms, at) for at, ms in left if ms is not None]
        return max(known, key=lambda one: one[1], default=None)

    @property
    def runbooks(self) -> list[str]:
        """As objectives and [[groups]] name them."""
        return runbooks(each.change for each in self.open)

    @property
    def rank(self) -> tuple[int, bool, float, int]:
        """Sorts the worst first: by status, then who loses data, then who does so soonest."""
        keeps = not any(is_losing(each.change) for each in self.open)
        soonest = float("inf") if self.loss_at is None else self.loss_at[0]
        return BAD.get(self.status, len(BAD)), keeps, soonest, -self.lag[0]

    @property
    def ends(self) -> str:
        """How it ended; of several incidents with what each was about."""
        if len(self.incidents) == 1:
            return self.incidents[0].end
        return "; ".join(f"{CALLED[each.type]}: {each.end}" for each in self.incidents)

    @property
    def over(self) -> str:
        """What is over while others of the group's conditions last; empty for nothing."""
        return visible("; ".join(f"{CALLED[each.type]}: {each.end}" for each in self._ended))

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
    newest: dict[tuple[str, str], ToldEvent] = {}
    for text, kind in told:
        of = told_event(text)
        group = of.change.cluster, of.change.group
        newest[group] = of
        is_over = not of.open
        for event in [of.event] if is_over else [*of.open, *of.ended]:
            known, seen = groups[group].get(event.type), at(event)
            if known is None or known.at <= seen:
                groups[group][event.type] = Incident(kind, event.type, event.data, seen)
    return [
        Group(sorted(each.values(), key=_place), newest[group]) for group, each in groups.items()
    ]


def _place(incident: Incident) -> int:
    return _ORDER.index(incident.type)
