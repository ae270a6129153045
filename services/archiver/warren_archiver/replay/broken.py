"""Objectives asked of the past: when archived groups would not have kept them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from warren.contracts import FreshnessEvent
from warren.errors import ContractViolation
from warren_core.evaluation import RuleBook
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import Positions
from warren_core.objectives.group_record import GroupRecord, after_event
from warren_core.objectives.lag import GroupLag, group_lag
from warren_core.objectives.limits import Limit, ObjectiveBook

from warren_archiver.judging.groups import GroupKey, Known, Source, judge_again, key_of


class Turn(NamedTuple):
    """A group began, or ceased, to break a limit; `at` in Unix milliseconds."""

    cluster: str
    group: str
    objective: str
    limit: str
    at: int
    is_broken: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A time during which a group broke a limit. Unix milliseconds."""

    cluster: str
    group: str
    objective: str
    limit: str
    since: int
    until: int | None
    """None while it lasts."""
    sentence: str


class GroupObjectives:
    """Takes records of any groups, in the order in which they were appended."""

    def __init__(self, objectives: ObjectiveBook, rules: RuleBook) -> None:
        self._objectives = objectives
        self._rules = rules
        self._records: dict[GroupKey, GroupRecord] = {}
        self._known: Known = {}
        """What offset events have shown, for those who are asked for a lag."""

    def take(self, records: Iterable[tuple[bool, Source]]) -> Iterator[Turn]:
        """Each with whether it is a freshness event, else it is one of offsets."""
        for is_freshness, source in records:
            key = key_of(source.key)
            if key is None:
                continue
            limits = self._objectives.limits_for(*key)
            if is_freshness:
                yield from self._take_freshness(key, source, limits)
            elif any(_asks_for_lag(limit) for limit in limits):
                for _ in judge_again([source], self._known, self._rules):
                    pass

    def _take_freshness(
        self, key: GroupKey, source: Source, limits: Sequence[Limit]
    ) -> Iterator[Turn]:
        before = self._records.get(key)
        if source.value is None:  # the group is no more
            self._records.pop(key, None)
            last = source.appended // 1000
            for limit in _open(before, limits):
                yield Turn(*key, limit.objective, limit.name, last, False, "")
            return
        try:
            event = FreshnessEvent.from_bytes(source.value)
        except ContractViolation:
            return
        at = event.measured_at
        after = after_event(before, event, source.offset, limits, lambda: self._lag(key, at))
        if after is None or (event.cluster, event.group) != key:
            return
        self._records[key] = after
        was, now = _open(before, limits), _open(after, limits)
        for limit in limits:
            if (limit in now) != (limit in was):
                standing = after.objectives.standings.get(limit.key)
                said = standing.sentence if standing is not None and limit in now else ""
                yield Turn(*key, limit.objective, limit.name, at, limit in now, said)

    def _lag(self, key: GroupKey, now: int) -> GroupLag | None:
        state = self._known.get(key)
        return group_lag(Positions.of(state), now) if isinstance(state, GroupState) else None


def broken(turns: Iterable[Turn], start_ms: int, end_ms: int) -> list[Broken]:
    """What was broken at some time within [start, end)."""
    found: list[Broken] = []
    open_: dict[tuple[str, str, str, str], Broken] = {}
    for turn in sorted(turns, key=lambda turn: turn.at):
        if turn.at >= end_ms:
            break
        if turn.is_broken:
            open_.setdefault(turn[:4], Broken(*turn[:4], turn.at, None, turn.sentence))
        elif (one := open_.pop(turn[:4], None)) is not None and turn.at > start_ms:
            found.append(replace(one, until=turn.at))
    found += open_.values()
    return sorted(found, key=lambda one: (one.since, one.cluster, one.group, one.objective))


def _open(record: GroupRecord | None, limits: Collection[Limit]) -> list[Limit]:
    if record is None:
        return []
    standings = record.objectives.standings
    return [limit for limit in limits if limit.key in standings and standings[limit.key].is_open]


def _asks_for_lag(limit: Limit) -> bool:
    return limit.name == "max_lag"
