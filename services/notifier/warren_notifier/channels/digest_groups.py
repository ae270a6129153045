"""Several incidents in one message, by groups: each once, the root first. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warren.contracts import DeliveryKind, DigestKey, GroupIncidentEvent
from warren.words import duration, visible
from warren_core.objectives.near_loss import SOON_MS

from warren_notifier.channels.brief import ending, how_it_ended, is_losing, things
from warren_notifier.channels.notice import CALLED, Notice, notice_of
from warren_notifier.state.telling import Delivery

BAD = {"ERR": 0, "WARN": 1}  # worst first


@dataclass(frozen=True, slots=True)
class Digest:
    """What one message tells: at least one news, or how all stands now. The same news have the
    same `digest_id`.
    """

    digest_id: str
    key: DigestKey
    news: Sequence[Delivery]
    """In the order in which they happened, per group; of several about one the last counts."""
    lasting: Sequence[GroupIncidentEvent]
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


@dataclass(frozen=True, slots=True)
class Group:
    """`told`: its newest event. `kind`: of its news; None: it has none. `before`: how incidents
    ended that this one has followed since.
    """

    notice: Notice
    kind: DeliveryKind | None = None
    before: Sequence[str] = ()

    @property
    def name(self) -> str:
        return visible(self.notice.change.group)

    @property
    def is_bad(self) -> bool:
        return bool(self.notice.open)

    @property
    def is_over(self) -> bool:
        return not self.notice.open and not self.notice.kept

    @property
    def conditions(self) -> list[str]:
        """What is wrong, one by one, in words that several groups have in common."""
        return things(each.change for each in self.notice.open)

    @property
    def is_acknowledged(self) -> bool:
        return self.notice.acknowledged is not None

    @property
    def is_handled(self) -> bool:
        """Somebody looks after it, or wants to hear nothing of it for a while."""
        return self.is_acknowledged or self.notice.silenced_until is not None

    @property
    def rank(self) -> tuple[bool, bool, float, int, int]:
        """Sorts the worst first: who is well by now or handled comes last, who loses data, or will
        within the hour, first; then by status and lag.
        """
        place = BAD.get(self.notice.status, len(BAD))
        return not self.is_bad, self.is_handled, self._loss, place, -self.notice.lag[0]

    @property
    def _loss(self) -> float:
        """When data is lost, Unix milliseconds; 0 where it is, infinity where nothing is near."""
        if any(is_losing(each.change) for each in self.notice.open):
            return 0
        loss_at, seen = (self.notice.loss_at if self.is_bad else None) or (SOON_MS, 0)
        return loss_at if loss_at - seen < SOON_MS else float("inf")

    @property
    def ends(self) -> str:
        """How it ended."""
        return "; ".join([*self.before, ending(self.notice)])

    @property
    def over(self) -> str:
        """What is over while others of the group's conditions last, or of an incident before;
        empty for nothing.
        """
        said = [f"incident before: {end}" for end in self.before]
        for each in self.notice.ended if self.kind is not None else ():
            lasted = duration((each.until or self.notice.at) - each.since)
            ended = how_it_ended(each.end or each.change)
            said.append(f"{CALLED[each.type]}: {ended} after {lasted}")
        return visible("; ".join(said))


def digest_groups(digest: Digest) -> list[Group]:
    """What the message tells, or an earlier one has told: as it is now."""
    news = ((one.event, one.pending.kind) for one in digest.news if one.event is not None)
    return _joined([*((event, None) for event in digest.lasting), *news])


def lasting_groups(digest: Digest) -> list[Group]:
    """Only what was told before, and has no news."""
    return _joined((event, None) for event in digest.lasting)


def _joined(notice: Iterable[tuple[GroupIncidentEvent, DeliveryKind | None]]) -> list[Group]:
    """Of several events about one group the last counts: people are told of all of it."""
    newest: dict[tuple[str, str], tuple[Notice, DeliveryKind | None]] = {}
    ends: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for event, kind in notice:
        of = notice_of(event)
        group = of.change.cluster, of.change.group
        newest[group] = of, kind
        if kind == "resolved":
            ends[group][of.change.incident_id] = ending(of)
    for group, (of, _) in newest.items():
        ends[group].pop(of.change.incident_id, None)  # it is shown by itself
    return [Group(*each, [*ends[group].values()]) for group, each in newest.items()]
