"""Several incidents in one message, by groups: each once, the root first. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warren.contracts import DeliveryKind, DigestKey, EventTypeName, StatusChange, StatusChangeEvent
from warren.words import duration, visible
from warren_core.objectives.near_loss import SOON_MS

from warren_notifier.channels.brief import ending, how_it_ended, is_losing, runbooks, things
from warren_notifier.channels.told_event import CALLED, ToldEvent, at, told_event
from warren_notifier.state.telling import Delivery


@dataclass(frozen=True, slots=True)
class Digest:
    """What one message tells: at least one news, or how all stands now. The same news have the
    same `digest_id`.
    """

    digest_id: str
    key: DigestKey
    news: Sequence[Delivery]
    """In the order in which they happened, per group; of several about one the last counts."""
    lasting: Sequence[str]
    """Newest events of incidents that were told before, still last, and have no news."""
    thread: str | None
    """The message that began the thread; None: this one does."""

    @property
    def alone(self) -> Delivery | None:
        """The only news, told as it would be without a digest."""
        return self.news[0] if len(self.news) == 1 else None

    @property
    def thread_after(self) -> str:
        """The thread that the next message is in."""
        if self.thread is not None:
            return self.thread
        if self.alone is None:
            return self.digest_id
        return f"{self.alone.pending.incident_id}.{self.alone.pending.channel}"


BAD = {"ERR": 0, "WARN": 1}  # worst first
_ORDER = list(CALLED)
_NEWS: tuple[DeliveryKind, ...] = ("opened", "changed", "repeated")  # what says most comes first


@dataclass(frozen=True, slots=True)
class Incident:
    """The newest of one. `kind`: None where it has no news. `at`: Unix milliseconds. `is_kept`: it
    is well again by now, though not over.
    """

    kind: DeliveryKind | None
    type: EventTypeName
    change: StatusChange
    at: int
    is_kept: bool = False

    @property
    def is_open(self) -> bool:
        return self.change.status in BAD and not self.is_kept

    @property
    def end(self) -> str:
        """`OK again after 5m`."""
        return f"{how_it_ended(self.change)} after {duration(self.at - self.change.opened_at)}"


@dataclass(frozen=True, slots=True)
class Group:
    """`incidents`: at least one, the root first. `told`: the newest event of the group. `before`:
    how incidents ended that others have followed since.
    """

    incidents: Sequence[Incident]
    told: ToldEvent
    before: Sequence[str] = ()

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
    def is_over(self) -> bool:
        return not any(each.is_open or each.is_kept for each in self.incidents)

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
        """When its incident began, with whichever condition, Unix milliseconds."""
        began = (each.change.opened_at for each in self.open or self.incidents)
        return min(self.told.change.opened_at, *began)

    @property
    def kind(self) -> DeliveryKind | None:
        """Of the news about a group in trouble; None where there is none."""
        kinds = {each.kind for each in self.open}
        ended = "changed" if self._ended else None
        return next((kind for kind in _NEWS if kind in kinds or kind == ended), None)

    @property
    def conditions(self) -> list[str]:
        """What is wrong, one by one, in words that several groups have in common."""
        return things(each.change for each in self.open)

    @property
    def brief(self) -> str:
        """What is wrong in a few words, the root first."""
        return ", ".join(self.conditions)

    @property
    def loss_at(self) -> tuple[int, int] | None:
        """When retention may delete what the group has not consumed, and as of when, Unix
        milliseconds.
        """
        left = ((each.at, each.change.time_to_loss_ms) for each in self.open)
        known = [(at + ms, at) for at, ms in left if ms is not None]
        return max(known, key=lambda one: one[1], default=None)

    @property
    def runbooks(self) -> list[str]:
        """As objectives and [[groups]] name them."""
        return runbooks(each.change for each in self.open)

    @property
    def is_silenced(self) -> bool:
        """People want to hear nothing of it for a while."""
        return self.told.silenced_until is not None

    @property
    def is_acknowledged(self) -> bool:
        return self.told.acknowledged is not None

    @property
    def is_handled(self) -> bool:
        """Somebody looks after it, or wants to hear nothing of it."""
        return self.is_acknowledged or self.is_silenced

    @property
    def rank(self) -> tuple[bool, bool, float, int, int]:
        """Sorts the worst first: who is well by now or handled comes last, who loses data, or will
        within the hour, first; then by status and lag.
        """
        place = BAD.get(self.status, len(BAD))
        return not self.is_bad, self.is_handled, self._loss, place, -self.lag[0]

    @property
    def _loss(self) -> float:
        """When data is lost, Unix milliseconds; 0 where it is, infinity where nothing is near."""
        if any(is_losing(each.change) for each in self.open):
            return 0
        at, seen = self.loss_at or (SOON_MS, 0)
        return at if at - seen < SOON_MS else float("inf")

    @property
    def ends(self) -> str:
        """How it ended; of several incidents with what each was about."""
        if len(self.incidents) == 1:
            return "; ".join([*self.before, ending(self.told)])
        said = (f"{CALLED[each.type]}: {each.end}" for each in self.incidents)
        return "; ".join([*self.before, *said])

    @property
    def over(self) -> str:
        """What is over while others of the group's conditions last, or of an incident before;
        empty for nothing.
        """
        before = (f"incident before: {end}" for end in self.before)
        ended = (f"{CALLED[each.type]}: {each.end}" for each in self._ended)
        return visible("; ".join([*before, *ended]))

    @property
    def _ended(self) -> list[Incident]:
        """The news of what is over."""
        over = [each for each in self.incidents if each.change.status not in BAD]
        return [each for each in over if each.kind is not None]


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
    ends: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for text, kind in told:
        of = told_event(text)
        group = of.change.cluster, of.change.group
        newest[group] = of
        if kind == "resolved":
            ends[group][of.change.incident_id] = ending(of)
        for event, is_kept in _events(of):
            known, seen = groups[group].get(event.type), at(event)
            if known is None or known.at <= seen:
                groups[group][event.type] = Incident(kind, event.type, event.data, seen, is_kept)
    for group, each in groups.items():
        for incident in each.values():  # what is shown by itself
            ends[group].pop(incident.change.incident_id, None)
    return [
        Group(
            sorted(each.values(), key=lambda one: _ORDER.index(one.type)),
            newest[group],
            [*ends[group].values()],
        )
        for group, each in groups.items()
    ]


def _events(of: ToldEvent) -> Iterator[tuple[StatusChangeEvent, bool]]:
    """Of each condition one, with whether it is well by now: what is wrong says more."""
    if not of.open and not of.kept:
        yield of.event, False
        return
    yield from ((event, False) for event in [*of.open, *of.ended])
    wrong = {event.type for event in of.open}
    yield from ((event, True) for event in of.kept if event.type not in wrong)
