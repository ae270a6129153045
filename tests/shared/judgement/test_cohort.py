"""Cohorts: what is said of many groups at once is what is said of each by itself."""

import random
from collections.abc import Iterable, Iterator, Mapping

import pytest
from support.offset_events import NOW, At, offset_event
from warren.contracts import OffsetEvent, Status
from warren.settings import PolicyName
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.cohort import Brief, Entry, is_ordinary, judge_together, tell_together
from warren_core.judgement.judge import Ended, Judged, Outcome, Taken, judge
from warren_core.judgement.state import GroupGone, GroupState
from warren_core.judgement.state_codec import encode
from warren_core.judgement.unsubscribed import may_be_left

STEPS, GROUPS = 120, 12
STATES = ("Stable", "Stable", "Empty", "PreparingRebalance", None)
MOODS = ("well", "well", "slow", "stuck", "silent", "back", "last", "beyond", "unknown")
Known = GroupState | GroupGone | None


class Life:
    """A group with partitions that change their minds; the same for the same seed."""

    def __init__(self, group: str, seed: int) -> None:
        self.group = group
        self._chance = random.Random(seed)
        self._partitions = [
            (topic, number)
            for topic in ("orders", "payments")
            for number in range(self._chance.randint(1, 4))
        ]
        self._committed = {place: self._chance.choice((0, 0, -1)) for place in self._partitions}
        self._log_end = dict.fromkeys(self._partitions, 1)
        self._mood = dict.fromkeys(self._partitions, "well")
        self._committed_at = dict.fromkeys(self._partitions, NOW)

    def events(self) -> Iterator[OffsetEvent]:
        chance, at = self._chance, NOW
        for number in range(STEPS):
            at += chance.choice([5_000, 5_000, 5_000, 500, 60_000])
            if chance.random() < 0.01:
                at += 8 * 86_400_000  # it expires
            if chance.random() < 0.02:
                yield offset_event(at, group=self.group, deleted=True)
                continue
            event = self._event(at, number)
            if chance.random() < 0.02:
                event = event.model_copy(update={"removed": {"orders": [0]}, "topics": {}})
            yield event
            if chance.random() < 0.05:
                yield event

    def _event(self, at: int, number: int) -> OffsetEvent:
        told: dict[str, dict[int, At]] = {}
        for place in self._partitions:
            if number % 7 == 0:
                self._mood[place] = self._chance.choice(MOODS)
            if self._chance.random() < 0.8:
                told.setdefault(place[0], {})[place[1]] = self._at(place, at)
        state = self._chance.choice(STATES) if number > 40 else "Stable"
        event = offset_event(at, told, group=self.group)
        if self._chance.random() < 0.5:  # a transaction is open, for all that stands now
            for topic, columns in event.topics.items():
                ends = [max(end - 5, 0) for end in columns.log_end]
                event.topics[topic] = columns.model_copy(update={"last_stable": ends})
        return event.model_copy(update={"group_state": state})

    def _at(self, place: tuple[str, int], at: int) -> At:
        mood = self._mood[place]
        moves = mood not in ("last", "beyond")
        self._log_end[place] += self._chance.choice([0, 10, 20]) if moves else 0
        log_end, before = self._log_end[place], self._committed[place]
        committed = {
            "well": log_end,
            "slow": min(before + 5, log_end),
            "back": max(before - 7, 0),
            "last": log_end - 1,
            "beyond": log_end + 50,
        }.get(mood, before)
        commits = int(mood != "silent" and committed >= 0)
        if commits:
            self._committed_at[place] = at - 100
        self._committed[place] = committed
        shown = -1 if mood == "unknown" else log_end
        return At(committed, self._committed_at[place], log_end=shown, commits=commits)


def _brief(outcome: Outcome, state: Known) -> tuple[Brief | None, Known]:
    """`state`: of before."""
    if isinstance(outcome, Judged):
        previous = state.status if isinstance(state, GroupState) else Status.OK
        return Brief.of(outcome, previous), outcome.state
    return None, outcome.state if isinstance(outcome, Ended | Taken) else state


def _said(brief: Brief | None) -> object:
    if brief is None:
        return None
    figures = (brief.previous, brief.status, brief.complete, brief.total_lag, brief.bad_partitions)
    return *figures, brief.reason, brief.state.opened_at


@pytest.mark.parametrize(
    "rules",
    [
        Rules(),
        pytest.param(
            Rules(intervals=4, allowed_lag=3, minimum_complete=0.5), marks=pytest.mark.heavy
        ),
        Rules(policy="progress"),
        pytest.param(Rules(min_distance_ms=0, expire_group_ms=3_600_000), marks=pytest.mark.heavy),
    ],
    ids=["burrow", "allowed", "progress", "short"],
)
def test_groups_are_judged_and_told_of_together_as_each_is_alone(rules: Rules) -> None:
    of_group, seen = GroupRules(rules), _Seen()
    lives = {f"g-{n}": list(Life(f"g-{n}", n).events()) for n in range(GROUPS)}
    known: dict[str, Known] = dict.fromkeys(lives)
    for number in range(max(map(len, lives.values()))):
        due = {group: events[number] for group, events in lives.items() if number < len(events)}
        alone = {g: judge(event, known[g], of_group, source_offset=7) for g, event in due.items()}
        entries = {group: Entry(event, known[group]) for group, event in due.items()}
        ordinary = {g: entry for g, entry in entries.items() if is_ordinary(entry, of_group)}
        seen.judged(judge_together(list(ordinary.values()), rules), ordinary, alone)
        well = {
            group: entry
            for group, entry in ordinary.items()
            if isinstance(entry.state, GroupState) and entry.state.status is Status.OK
        }
        seen.told(tell_together(list(well.values()), of_group.group), well, alone)
        for group, outcome in alone.items():
            if isinstance(outcome, Judged | Ended | Taken):
                known[group] = outcome.state
    assert seen.together > STEPS * GROUPS / 3  # of the others some log end is unknown
    assert seen.well > 40
    assert seen.statuses == {Status.OK, Status.WARN, Status.ERR}
    assert len(seen.reasons) > 3


class _Seen:
    """What came of groups together, each compared with what came of it alone."""

    def __init__(self) -> None:
        self.together = self.well = 0
        self.statuses: set[Status] = set()
        self.reasons: set[str | None] = set()

    def judged(
        self,
        briefs: Iterable[Brief | None],
        entries: Mapping[str, Entry],
        alone: Mapping[str, Outcome],
    ) -> None:
        for (group, entry), brief in zip(entries.items(), briefs, strict=True):
            wanted, state = _brief(alone[group], entry.state)
            if brief is None:
                assert isinstance(state, GroupGone) or not _is_whole(alone[group])
                continue
            assert _said(brief) == _said(wanted), group
            assert state is not None
            assert encode(brief.state) == encode(state), group
            self.together += 1
            self.statuses.add(brief.status)
            self.reasons.add(brief.reason)

    def told(
        self,
        outcomes: Iterable[Judged | None],
        entries: Mapping[str, Entry],
        alone: Mapping[str, Outcome],
    ) -> None:
        for group, outcome in zip(entries, outcomes, strict=True):
            wanted = alone[group]
            if outcome is None:
                is_ok = isinstance(wanted, Judged) and wanted.state.status is Status.OK
                assert not (is_ok and _is_whole(wanted) and not _may_have_left(wanted))
                continue
            assert isinstance(wanted, Judged)
            assert outcome.lag.to_bytes() == wanted.lag.to_bytes()
            assert outcome.change is wanted.change is None
            assert encode(outcome.state) == encode(wanted.state)
            self.well += 1


def _may_have_left(outcome: Outcome) -> bool:
    """Whether something is unread and was not committed for three minutes: members are asked."""
    assert isinstance(outcome, Judged)
    state, now = outcome.state, outcome.lag.evaluated_at
    return bool(may_be_left(state.latest, state.windows, state.least_lag, now).any())


def _is_whole(outcome: Outcome) -> bool:
    """Whether all log ends of the group are known; where not, the judge may say more."""
    return isinstance(outcome, Judged) and not any(
        end < 0 for columns in outcome.lag.topics.values() for end in columns.log_end
    )


@pytest.mark.parametrize("policy", ["burrow", "progress"])
def test_what_is_more_than_a_position_is_not_ordinary(policy: PolicyName) -> None:
    rules = GroupRules(Rules(policy=policy))
    event = offset_event(NOW, {"orders": {0: At(5, NOW, log_end=5)}})
    _, state = _brief(judge(event, None, rules, source_offset=7), None)
    later = event.model_copy(update={"observed_at": NOW + 5000, "position": event.position + 1})
    assert is_ordinary(Entry(later, state), rules)
    for change in (
        {"deleted": True},
        {"removed": {"orders": [0]}},
        {"forget": []},
        {"parts": 2},
        {"observed_at": NOW},
        {"source": "admin_api"},
    ):
        unusual = later.model_copy(update=change)
        if change == {"observed_at": NOW}:
            unusual = event
        assert not is_ordinary(Entry(unusual, state), rules), change
    assert not is_ordinary(Entry(later, None), rules)
    assert not is_ordinary(Entry(later, state), GroupRules(Rules(policy=policy, intervals=3)))
