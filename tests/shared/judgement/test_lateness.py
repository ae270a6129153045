"""What is kept of how late a group is."""

from __future__ import annotations

import json

import pytest
from pydantic_core import to_json
from support.freshness_events import WELL, freshness_event, late
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import FreshnessEvent, OpenTransaction, WorstFreshness
from warren_core.evaluation import Rules
from warren_core.judgement.counted import without
from warren_core.judgement.lateness import MOST_PARTITIONS, from_fields, lateness_of

HELD_UP = OpenTransaction(topic="orders", partition=3, first_offset=120, since=NOW, hanging=True)


def test_a_lateness_comes_back_from_its_fields_as_it_was() -> None:
    event = freshness_event(
        5000,
        WELL,
        late(70_000, time_to_loss_ms=900, time_to_loss_reason="retention_ms", retention_left=0.2),
        late(None, reason="expired", bound_ms=4, lost_records=3),
        late(9000, reason="open_transaction", bound_ms=9000),
        late(0, reason="control_only", committed=7),
        open_transactions=[HELD_UP],
    )
    known = lateness_of(event)
    assert from_fields(json.loads(to_json(known))) == known
    assert (known.measured_at, known.late_ms, known.time_to_loss_ms) == (NOW + 5000, 70_000, 900)
    assert [row.partition for row in known.worst_first] == [2, 1, 3]
    assert [row.lost_records for row in known.worst_first] == [3, 0, 0]
    assert known.nothing_left == (("orders", 4, 7),)
    assert known.held_up == (HELD_UP,)


def test_it_takes_no_more_room_for_a_huge_group() -> None:
    huge = [late(1000 + n, time_to_loss_ms=10**9) for n in range(5000)]
    known = lateness_of(freshness_event(0, *huge))
    assert len(known.worst_first) == MOST_PARTITIONS
    assert known.worst_first[0].freshness_ms == 5999
    assert len(to_json(known)) < 4096


# What counts of a measurement where some topics do not.

QUIET = [late(500, lost_records=2, time_to_loss_ms=90), late(40), WELL]
LOUD = [
    late(None, reason="expired", bound_ms=9_000, lost_records=64),
    late(7_000, time_to_loss_ms=10, time_to_loss_reason="retention_ms"),
]
BOTH = freshness_event(0, topics={"quiet": QUIET, "loud": LOUD})
FIGURES = ("freshness_ms", "at_least_ms", "lost_records", "time_to_loss_ms", "topics")


def figures(event: FreshnessEvent) -> list[object]:
    return [getattr(event, name) for name in FIGURES]


def test_a_group_s_own_figures_are_of_the_topics_that_count() -> None:
    quiet, loud = without(BOTH, {"loud", "unheard of"}), without(BOTH, {"quiet"})
    assert figures(quiet) == figures(freshness_event(0, topics={"quiet": QUIET}))
    assert figures(loud) == figures(freshness_event(0, topics={"loud": LOUD}))
    assert quiet.worst == WorstFreshness(topic="quiet", partition=0, freshness_ms=500)
    assert loud.worst is not None
    assert (loud.worst.freshness_ms, loud.worst.at_least) == (9_000, True)
    assert (quiet.time_to_loss_reason, loud.time_to_loss_reason) == (None, "retention_ms")
    assert FreshnessEvent.from_bytes(loud.to_bytes()) == loud


def test_without_any_topic_nothing_is_known() -> None:
    nothing = without(BOTH, BOTH.topics)
    assert figures(nothing) == figures(freshness_event(0, topics={}))
    assert nothing.worst is None


def test_where_all_count_it_stays_as_it_is() -> None:
    assert without(BOTH, {"other"}) is BOTH


def test_what_was_never_committed_stays_a_bound() -> None:
    """What came since it was first seen so has no value, and is not nothing."""
    never, still = (late(None, reason="no_commit", bound_ms=ms) for ms in (70_000, None))
    kept = without(freshness_event(0, topics={"loud": LOUD, "new": [never]}), {"loud"})
    assert (kept.freshness_ms, kept.at_least_ms) == (None, 70_000)
    kept = without(freshness_event(0, topics={"loud": LOUD, "new": [still, *QUIET]}), {"loud"})
    assert (kept.freshness_ms, kept.at_least_ms) == (500, None)


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
    assert Group(Rules(policy="progress")).works(60, every=60).until_told(every=60) > 180
