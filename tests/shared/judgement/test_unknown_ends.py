"""Nobody says where a log ends: what is not known is UNKNOWN, neither OK nor 0."""

from dataclasses import replace
from typing import get_args

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import LagEvent, OffsetEvent, TopicLag
from warren.settings import PolicyName
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.judge import Judged
from warren_core.judgement.state import GroupState
from warren_core.objectives.readings import group_lag

S = 1000
LOOK = 5 * S
POLICIES: list[PolicyName] = ["progress", "burrow"]
NOBODY_SAYS = -1


# Times in which nobody looked at a group: its clients are not to be blamed for them.


class Group:
    """Its consumer of orders/0 commits all that is there, that of payments/0 does not."""

    def __init__(self, policy: PolicyName = "progress") -> None:
        self.judge = Judge(Rules(policy=policy))
        self.now = NOW
        self.reported: list[Judged] = []

    def looks(
        self, seconds: int, *, known: bool, lag: int = 0, other: At | None = None
    ) -> LagEvent:
        """One each five seconds. Its commits are ten records apart; `lag`: what it leaves."""
        for _ in range(0, seconds * S, LOOK):
            self.now += LOOK
            end = 10 * (self.now - NOW) // LOOK
            at = At(end - lag, self.now - 100, log_end=end if known else NOBODY_SAYS)
            topics = {"orders": {0: at}}
            if other is not None:
                topics["payments"] = {0: other}
            self.reported.append(self.judge.judged(offset_event(self.now, topics)))
        return self.reported[-1].lag

    @property
    def changes(self) -> list[str]:
        return [each.change.data.status for each in self.reported if each.change]


@pytest.mark.parametrize("policy", POLICIES)
def test_log_end_that_nobody_has_ever_said(policy: PolicyName) -> None:
    lag = Group(policy).looks(60, known=False)
    assert not lag.is_known
    assert lag.unknown_partitions == 1
    assert lag.topics["orders"].lag == [None]
    assert lag.topics["orders"].reason == ["log_end_unknown"]
    assert lag.reason == "log_end_unknown"
    assert lag.explanation == "orders/0 UNKNOWN: nobody has said for 55s where its log ends"
    assert lag.incident is None


@pytest.mark.parametrize("policy", POLICIES)
def test_late_look_is_no_news(policy: PolicyName) -> None:
    """A leader election, a first tick: for as long as two looks may take nothing is said."""
    group = Group(policy)
    assert group.looks(30, known=False).is_known
    assert not group.looks(10, known=False).is_known
    group = Group(policy)
    group.looks(60, known=True, lag=5)
    for _ in range(10):
        lag = group.looks(30, known=False, lag=5)
        assert lag.is_known
        assert lag.unknown_partitions == 0
        assert lag.topics["orders"].lag != [None]
        group.looks(10, known=True, lag=5)
    assert group.changes == ([] if policy == "progress" else ["ERR", "OK"])


def test_lag_falls_only_when_something_is_read() -> None:
    """What is known of it stays: a log has no fewer records because nobody says how many."""
    group, totals = Group(), []
    group.looks(300, known=True)
    stands = At(0, NOW, commits=0, log_end=300)
    totals.append(group.looks(20, known=True, other=stands).total_lag)
    stands = replace(stands, log_end=NOBODY_SAYS)
    for _ in range(30):
        totals.append(group.looks(10, known=False, other=stands).total_lag)
    assert totals == [300] * 31


def test_one_that_is_known_to_be_bad_stays_bad() -> None:
    group = Group()
    group.looks(900, known=True, other=At(0, NOW, commits=0, log_end=300))
    bad = group.looks(1200, known=True, other=At(0, NOW, commits=0, log_end=300))
    assert bad.status == "ERR"
    blind = group.looks(300, known=False, other=At(0, NOW, commits=0, log_end=NOBODY_SAYS))
    assert (blind.status, blind.is_known, blind.unknown_partitions) == ("ERR", True, 2)
    assert blind.topics["payments"].status == ["STOP"]
    assert blind.total_lag >= 300
    assert group.changes == ["ERR"]


def test_incident_stays_open_until_somebody_knows() -> None:
    group = Group()
    group.looks(900, known=True, other=At(0, NOW, commits=0, log_end=300))
    opened = group.looks(1200, known=True, other=At(0, NOW, commits=0, log_end=300)).incident
    assert opened is not None
    read_on = At(300, group.now, log_end=NOBODY_SAYS)
    late = group.looks(20, known=False, other=read_on)
    assert (late.status, late.incident, late.is_known) == ("ERR", opened, False)
    blind = group.looks(300, known=False, other=replace(read_on, commits=0))
    assert not blind.is_known
    assert (blind.status, blind.incident) == ("ERR", opened)
    ended = group.looks(60, known=True, other=replace(read_on, log_end=300))
    assert (ended.status, ended.incident, ended.is_known) == ("OK", None, True)
    assert group.changes == ["ERR", "OK"]


def test_unknown_opens_no_incident() -> None:
    group = Group()
    group.looks(300, known=True)
    group.looks(600, known=False)
    assert group.looks(60, known=True).status == "OK"
    assert group.changes == []


def test_partition_without_a_commit_is_not_unknown() -> None:
    judge = Judge(GroupRules(Rules(policy="progress")))
    for look in range(20):
        at = At(-1, -1, commits=0, log_end=NOBODY_SAYS)
        now = NOW + look * LOOK
        read = At(10 * look, now, log_end=10 * look)
        reported = judge.judged(offset_event(now, {"orders": {0: read, 1: at}}))
    assert reported.lag.is_known
    assert reported.lag.unknown_partitions == 0


# Lag counts what can be read: what retention has deleted is no lag.


def looks(policy: PolicyName, log_start: int, *, minutes: int = 40) -> tuple[Judge, list[Judged]]:
    """A member is there and commits 0 at its start. 300 records come; two minutes later all before
    `log_start` are deleted.
    """
    group, found = Judge(Rules(policy=policy)), []
    for now in range(NOW, NOW + minutes * MINUTE, LOOK):
        start = log_start if now - NOW >= 2 * MINUTE else 0
        at = At(0, NOW, commits=int(now == NOW), log_start=start, log_end=300)
        found.append(group.judged(offset_event(now, {"orders": {0: at}}, group_state="Stable")))
    return group, found


def columns(judged: Judged) -> TopicLag:
    return judged.lag.topics["orders"]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_left_of_an_emptied_log(policy: PolicyName) -> None:
    group, found = looks(policy, 300)
    assert columns(found[-1]).lag == [0]
    assert found[-1].lag.total_lag == 0
    assert columns(found[-1]).status == ["OK"]
    assert isinstance(group.state, GroupState)
    stands = group_lag(group.state, group.state.applied.observed_at)
    assert stands is not None
    assert stands.total == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_part_of_a_log_that_is_left_is_the_lag(policy: PolicyName) -> None:
    _, found = looks(policy, 200)
    assert columns(found[-1]).lag == [100]
    assert found[-1].lag.total_lag == 100


def test_who_leaves_what_is_left_has_stopped() -> None:
    _, found = looks("progress", 200)
    assert columns(found[-1]).status == ["STOP"]
    assert found[-1].lag.explanation is not None
    assert "100 records behind" in found[-1].lag.explanation


def test_stop_that_was_told_ends_with_the_log() -> None:
    """Nobody can read on, and what was lost is told elsewhere."""
    _, found = looks("progress", 300)
    assert [each.change.data.status for each in found if each.change] in ([], ["ERR", "OK"])


@pytest.mark.heavy
def test_wait_begins_anew_with_the_next_record() -> None:
    group, found = looks("progress", 300)
    end = found[-1].lag.evaluated_at
    for later in range(end + LOOK, end + 31 * S, LOOK):
        at = At(0, NOW, commits=0, log_start=300, log_end=301)
        found.append(group.judged(offset_event(later, {"orders": {0: at}}, group_state="Stable")))
    assert columns(found[-1]).lag == [1]
    assert columns(found[-1]).status == ["OK"]


def test_growth_is_that_of_the_log_whatever_is_deleted() -> None:
    """Who reads half of what comes falls behind also while retention deletes what it leaves."""
    group = Judge(Rules(policy="progress"))
    for look in range(400):
        now = NOW + look * LOOK
        slow = look > 200
        end = 100 * look
        committed = end if not slow else 20_000 + 50 * (look - 200)
        start = max(committed - 10, 0)
        if look > 300:
            start = committed + 100
        at = At(committed, now - 100, log_start=start, log_end=end)
        newest = group.judged(offset_event(now, {"orders": {0: at}}))
    assert columns(newest).status == ["WARN"]
    assert columns(newest).lag == [399 * 100 - (20_000 + 50 * 199) - 100]


# Committed offsets that the log does not have.

TICK = 11_000  # apart enough for each look to be remembered


def look(number: int, committed: int, log_end: int, *, commits: int = 0) -> OffsetEvent:
    """orders/0 as it is seen at the numbered tick; with a commit of that moment, or with none."""
    committed_at = NOW + (number * TICK if commits else 0)
    at = At(committed, committed_at, commits=commits, log_end=log_end)
    return offset_event(NOW + number * TICK, {"orders": {0: at}})


def statuses(judged: list[Judged]) -> list[str]:
    return [one.lag.topics["orders"].status[0] for one in judged]


@pytest.mark.parametrize("policy", get_args(PolicyName))
def test_it_is_told_at_the_second_look(policy: PolicyName) -> None:
    group = Judge(Rules(policy=policy))
    first, second = group.all([look(0, 1_000_000, 17, commits=1), look(1, 1_000_000, 17)])
    assert statuses([first, second]) == ["OK", "BEYOND_END"]
    assert first.change is None
    assert second.change is not None
    change = second.change.data
    assert (change.status, change.reason, change.total_lag) == ("ERR", "beyond_log_end", 0)
    assert change.partition_counts == {"BEYOND_END": 1}
    assert change.explanation == (
        "orders/0 BEYOND_END: committed offset 1,000,000 is beyond the log end 17: records were "
        "truncated, or the topic was made anew; a consumer that starts here is sent where its "
        "auto.offset.reset says"
    )
    assert second.lag.topics["orders"].lag == [0]


def test_a_busy_consumer_is_always_beyond_the_ends_of_before() -> None:
    seen = Judge().all([look(i, 100 * i, 100 * i, commits=20) for i in range(12)])
    assert statuses(seen) == ["OK"] * 12
    stale = [look(12, 1200, 1100, commits=20), look(13, 1300, 1300, commits=20)]
    assert statuses(Judge(state=None).all([look(11, 1100, 1100, commits=1), *stale])) == ["OK"] * 3


def test_a_client_that_goes_on_committing_it_is_told_as_well() -> None:
    seen = Judge().all([look(i, 1_000_000, 17, commits=5) for i in range(4)])
    assert statuses(seen) == ["OK", "BEYOND_END", "BEYOND_END", "BEYOND_END"]


def test_it_ends_when_the_log_has_the_offset_or_the_group_commits_another() -> None:
    group = Judge()
    group.all([look(0, 20, 17, commits=1), look(1, 20, 17)])
    assert statuses([group.judged(look(2, 20, 20))]) == ["OK"]
    group.all([look(3, 40, 30, commits=1), look(4, 40, 30)])
    closed = group.judged(look(5, 30, 30, commits=1))
    assert statuses([closed]) == ["OK"]
    assert closed.change is not None
    assert closed.change.data.previous == "ERR"


def made_anew(*later: OffsetEvent) -> list[str]:
    """A group at work on a log until 570 of 590; what is seen once the topic was made anew."""
    before = [look(i, 50 * i, 50 * i + 30, commits=1) for i in range(1, 12)]
    return statuses(Judge().all([*before, *later]))[len(before) :]


@pytest.mark.parametrize(
    ("later", "said"),
    [
        pytest.param(  # its client commits the old position once more, then goes on in the new log
            [
                look(12, 570, 22, commits=1),
                *(look(12 + i, 50 * i, 50 * i + 30, commits=1) for i in range(1, 13)),
            ],
            ["OK"] * 13,
            id="the ends of a log of before are no looks",
        ),
        pytest.param(
            [look(i, 570, 22 + i) for i in range(12, 16)],
            ["OK", "BEYOND_END", "BEYOND_END", "BEYOND_END"],
            id="who stays beyond the new log is told of",
        ),
        pytest.param(
            [
                *(look(i, 570, 60 + i) for i in range(12, 14)),
                look(14, 75, 90, commits=1),
                look(15, 95, 100, commits=1),
            ],
            ["OK", "BEYOND_END", "OK", "OK"],
            id="a commit beyond the end is no place to go back from",
        ),
    ],
)
def test_topic_that_was_made_anew(later: list[OffsetEvent], said: list[str]) -> None:
    assert made_anew(*later) == said


@pytest.mark.parametrize(
    ("committed", "ends", "said"),
    [
        pytest.param(  # a leader that has just moved may tell too early an end
            1000,
            [1000, 1000, 990, 1000, 1000, 990, 1000],
            ["OK"] * 7,
            id="one look in between says nothing",
        ),
        pytest.param(
            1_000_000,
            [-1, 17, -1, 17, -1, -1],
            ["OK"] * 3 + ["BEYOND_END"] * 3,
            id="an unknown log end is no look and changes nothing",
        ),
    ],
)
def test_looks_at_the_log_end(committed: int, ends: list[int], said: list[str]) -> None:
    seen = Judge().all([look(i, committed, end, commits=i == 0) for i, end in enumerate(ends)])
    assert statuses(seen) == said


def test_an_end_that_goes_back_above_the_commits_ends_no_incident() -> None:
    """A leader that has just moved says less for once: who has stopped has not recovered."""
    ends = [200 + 20 * i for i in range(40)]
    ends[35] = ends[34] - 5
    stopped = [look(i, 100, end, commits=i < 3) for i, end in enumerate(ends)]
    assert set(statuses(Judge().all(stopped))[20:]) == {"STOP"}


@pytest.mark.parametrize("policy", get_args(PolicyName))
def test_who_goes_on_while_nobody_can_read_the_log_end_is_not_beyond_it(policy: PolicyName) -> None:
    """Its leader does not answer for a while."""
    seen = [look(i, 100 * i, 100 * i, commits=20) for i in range(5)]
    seen += [look(i, 100 * i, -1, commits=20) for i in range(5, 10)]
    seen += [look(i, 100 * i, 100 * i, commits=20) for i in range(10, 13)]
    assert statuses(Judge(Rules(policy=policy)).all(seen)) == ["OK"] * 13
