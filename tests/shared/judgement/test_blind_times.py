"""Times in which nobody looked at a group: its clients are not to be blamed for them."""

from __future__ import annotations

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren_core.evaluation import Rules

S = 1_000
TICK = 5


class Group:
    """Of one partition, to which ten records a second are written."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.judge = Judge(rules or Rules(policy="progress"))
        self.at = 0
        self.committed, self.committed_at = 1_000_000, 0
        self.said: list[str] = []

    def look(self, after: int = TICK, *, commits: bool = True, **more: object) -> str:
        """`after` so many seconds."""
        self.at += after
        end = 1_000_000 + self.at * 10
        if commits:
            self.committed, self.committed_at = end, self.at
        position = At(
            self.committed, NOW + self.committed_at * S, commits=int(commits), log_end=end
        )
        event = offset_event(NOW + self.at * S, {"orders": {0: position}}, **more)
        status: str = self.judge.judged(event).lag.status
        self.said.append(status)
        return status

    def works(self, minutes: int, every: int = TICK) -> Group:
        for _ in range(minutes * 60 // every):
            self.look(every)
        return self

    def until_told(self, every: int = TICK) -> int:
        """Seconds without a commit."""
        began = self.at
        while self.at < began + 3600:
            if self.look(every, commits=False) != "OK":
                return self.at - began
        return 3600


@pytest.mark.parametrize("blind", [44, 130, 280])
def test_a_time_in_which_nobody_looked_is_no_pause_of_the_group(blind: int) -> None:
    usual = Group().works(10).until_told()
    group = Group().works(10)
    group.look(blind)
    assert group.works(1).until_told() == usual


@pytest.mark.parametrize("blind", [44, 130, 1_000])
def test_who_has_not_committed_yet_when_the_broker_is_back_has_not_stopped(blind: int) -> None:
    group = Group().works(10)
    group.look(commits=False)
    group.look(blind, commits=False)
    group.look(10, commits=False)
    group.works(1)
    assert set(group.said) == {"OK"}


def test_who_stopped_meanwhile_is_told_in_the_usual_time_since_somebody_looks() -> None:
    usual = Group().works(10).until_told()
    group = Group().works(10)
    group.look(130, commits=False)
    assert group.until_told() <= usual


def test_who_had_stopped_before_stays_so() -> None:
    group = Group().works(10)
    group.until_told()
    assert group.look(130, commits=False) == group.look(commits=False) != "OK"


def test_a_collector_that_looks_rarely_is_not_blind() -> None:
    """`collector.interval` and `collector.heartbeat` say how often it does."""
    rarely = Rules(policy="progress", grace_ms=40 * S)
    assert Group(rarely).works(60, every=60).until_told(every=60) <= 300
    often = Rules(policy="progress")
    assert Group(often).works(60, every=60).until_told(every=60) > 180
