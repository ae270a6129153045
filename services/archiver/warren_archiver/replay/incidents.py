"""Incidents from changes of a group's status, and two histories of them compared. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from warren_core.judgement.incidents import incident_id

FLAP_MS = 5 * 60_000
"""What is over so soon, nobody has had to mend."""
GroupKey = tuple[str, str]
"""Cluster and group."""


class Change(NamedTuple):
    """A group's status from `at` on, Unix milliseconds; None when the group has ended."""

    key: GroupKey
    at: int
    status: str | None
    reason: str | None
    opened_at: int | None
    """Of the incident that is open from then on; None while there is none."""


@dataclass(frozen=True, slots=True)
class Incident:
    """A time during which a group was not OK. Unix milliseconds."""

    cluster: str
    group: str
    opened_at: int
    closed_at: int | None
    """None while it lasts."""
    worst: str
    reason: str | None

    @property
    def incident_id(self) -> str:
        return incident_id(self.cluster, self.group, self.opened_at)

    @property
    def is_flap(self) -> bool:
        return self.closed_at is not None and self.closed_at - self.opened_at < FLAP_MS


class Pair(NamedTuple):
    """One incident as it was published and as it would have been; None where there is none."""

    published: Incident | None
    replayed: Incident | None

    @property
    def sooner_ms(self) -> int:
        """How much sooner it would have been raised; 0 where only one of both was."""
        if self.published is None or self.replayed is None:
            return 0
        return self.published.opened_at - self.replayed.opened_at

    @property
    def kind(self) -> str:
        """raised, missed, sooner, later or same."""
        if self.published is None:
            return "raised"
        if self.replayed is None:
            return "missed"
        return "sooner" if self.sooner_ms > 0 else "later" if self.sooner_ms < 0 else "same"

    @property
    def group(self) -> GroupKey:
        one = self.published or self.replayed
        assert one is not None
        return one.cluster, one.group


def incidents(changes: Iterable[Change], start_ms: int, end_ms: int) -> list[Incident]:
    """Those that were open at some time within [start, end), in order; what comes after the end is
    not known."""
    found: list[Incident] = []
    open_: dict[GroupKey, Incident] = {}
    for change in sorted(changes, key=lambda change: change.at):
        if change.at >= end_ms:
            break
        current = open_.get(change.key)
        if current is not None and current.opened_at != change.opened_at:
            found.append(replace(open_.pop(change.key), closed_at=change.at))
            current = None
        if change.opened_at is None or change.status is None:
            continue
        if current is None:
            current = Incident(*change.key, change.opened_at, None, change.status, change.reason)
        worst = min(current.worst, change.status)  # ERR before WARN, by name too
        open_[change.key] = replace(current, worst=worst, reason=current.reason or change.reason)
    found += open_.values()
    within = [one for one in found if one.closed_at is None or one.closed_at > start_ms]
    return sorted(within, key=lambda one: (one.opened_at, one.cluster, one.group))


def renamed(
    replayed: Iterable[Incident], published: Iterable[Incident], start_ms: int
) -> list[Incident]:
    """Incidents that were open at the start keep their identity: when they began cannot be judged
    from the events that are there.
    """
    began = {
        (one.cluster, one.group): one.opened_at for one in published if one.opened_at < start_ms
    }
    return [
        replace(one, opened_at=began.get((one.cluster, one.group), one.opened_at))
        if one.opened_at < start_ms
        else one
        for one in replayed
    ]


def paired(published: Sequence[Incident], replayed: Sequence[Incident], end_ms: int) -> list[Pair]:
    """What was open at the same time is the same trouble. A published incident is paired with the
    first such one; further ones are there with none, as they would have been told as well.
    """
    of_group: dict[GroupKey, list[Incident]] = {}
    for one in replayed:
        of_group.setdefault((one.cluster, one.group), []).append(one)
    pairs = []
    for before in published:
        others = of_group.get((before.cluster, before.group), [])
        match = next((one for one in others if _overlap(before, one, end_ms)), None)
        if match is not None:
            others.remove(match)
        pairs.append(Pair(before, match))
    pairs += [Pair(None, one) for others in of_group.values() for one in others]
    return sorted(
        pairs,
        key=lambda pair: (
            min(one.opened_at for one in (pair.published, pair.replayed) if one),
            pair.group,
        ),
    )


def _overlap(one: Incident, other: Incident, end_ms: int) -> bool:
    one_end = end_ms if one.closed_at is None else one.closed_at
    other_end = end_ms if other.closed_at is None else other.closed_at
    return one.opened_at <= other_end and other.opened_at <= one_end
