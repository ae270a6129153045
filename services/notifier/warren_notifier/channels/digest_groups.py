"""Several incidents in one message, by groups: each once, the root first. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warren.contracts import DeliveryKind, DigestKey
from warren.words import duration, in_sentence, visible
from warren_core.objectives.near_loss import SOON_MS
from warren_core.standing.endings import condition_over, ending
from warren_core.standing.standing import Standing, things

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
    lasting: Sequence[Standing]
    """Of groups whose incidents were told before, still last, and have no news."""
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
    """`kind`: of its news; None: it has none. `before`: how incidents ended that this one has
    followed since.
    """

    standing: Standing
    kind: DeliveryKind | None = None
    before: Sequence[str] = ()

    @property
    def name(self) -> str:
        return visible(self.standing.group)

    @property
    def is_bad(self) -> bool:
        return bool(self.standing.open)

    @property
    def conditions(self) -> list[str]:
        """What is wrong, one by one, in words that several groups have in common."""
        return [in_sentence(each) for each in things(self.standing.problems)]

    @property
    def is_acknowledged(self) -> bool:
        return self.standing.acknowledged is not None

    @property
    def is_handled(self) -> bool:
        """Somebody looks after it, or wants to hear nothing of it for a while."""
        return self.is_acknowledged or self.standing.silenced_until is not None

    @property
    def is_new(self) -> bool:
        """It has begun since the last message, and nobody looks after it."""
        return self.kind == "opened" and self.is_bad and not self.is_handled

    @property
    def rank(self) -> tuple[bool, bool, float, int, int]:
        """Sorts the worst first: who is well by now or handled comes last, who loses data, or will
        within the hour, first; then by status and lag.
        """
        of = self.standing
        place = BAD.get(of.status, len(BAD))
        return not self.is_bad, self.is_handled, self._loss, place, -of.change.total_lag

    @property
    def _loss(self) -> float:
        """When data is lost, Unix milliseconds; 0 where it is, infinity where nothing is near."""
        if self.standing.is_losing:
            return 0
        loss = self.standing.figures.loss_at if self.is_bad else None
        return loss.value if loss and loss.value - loss.at < SOON_MS else float("inf")

    @property
    def over(self) -> str:
        """What is over while others of the group's conditions last, or of an incident before;
        empty for nothing.
        """
        said = [f"incident before: {end}" for end in self.before]
        for each in self.standing.ended if self.kind is not None else ():
            lasted = duration((each.until or self.standing.at) - each.since)
            said.append(f"{condition_over(each)} after {lasted}")
        return visible("; ".join(said))


def digest_groups(digest: Digest) -> list[Group]:
    """What the message tells, or an earlier one has told: as it is now."""
    news = ((one.standing, one.pending.kind) for one in digest.news if one.event is not None)
    return _joined([*((standing, None) for standing in digest.lasting), *news])


def _joined(standings: Iterable[tuple[Standing, DeliveryKind | None]]) -> list[Group]:
    """Of several about one group the last counts: people are told of all of it."""
    newest: dict[tuple[str, str], tuple[Standing, DeliveryKind | None]] = {}
    ends: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for standing, kind in standings:
        group = standing.cluster, standing.group
        newest[group] = standing, kind
        if kind == "resolved":
            ends[group][standing.change.incident_id] = ending(standing)
    for group, (standing, _) in newest.items():
        ends[group].pop(standing.change.incident_id, None)  # it is shown by itself
    return [Group(*each, [*ends[group].values()]) for group, each in newest.items()]
