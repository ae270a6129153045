"""Nobody says where a log ends: what is not known is UNKNOWN, neither OK nor 0."""

from dataclasses import replace

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import LagEvent
from warren.settings import PolicyName
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.judge import Judged

S = 1000
LOOK = 5 * S
POLICIES: list[PolicyName] = ["progress", "burrow"]
NOBODY_SAYS = -1


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
