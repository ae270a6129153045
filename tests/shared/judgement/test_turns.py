"""Who reads the backlog of one partition first, and then the next one's, is well."""

from __future__ import annotations

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import Cause
from warren_core.evaluation import Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.membership import Member, Membership

S = 1000
LOOK = 5 * S
STEADY_S = 300
BURST = 15_000
CHUNK = 6_000
CAPACITY = 100  # records a second, of all partitions
WRITTEN = 5  # a second, in each
ALONE = Member("worker-1", "/10.0.0.1", {"orders": [0, 1, 2]})
TWO = (
    Member("worker-1", "/10.0.0.1", {"orders": [0, 1]}),
    Member("worker-2", "/10.0.0.2", {"orders": [2]}),
)


class Consumer:
    """Reads up to `CHUNK` records of a partition before it turns to the next, as clients do that
    fetch much at once; `stuck` is a partition whose records it leaves.
    """

    def __init__(self, *members: Member, commits_all: bool) -> None:
        self.commits_all = commits_all
        self.stuck: int | None = None
        self.leaves = 0
        self.goes_back = False  # in all partitions, once
        self.committed, self.log_end, self.at = [0] * 3, [0] * 3, [NOW] * 3
        self.now, self.turn, self.read = 0, 0, 0
        self.capacity = CAPACITY
        known = Membership(NOW, "Stable", True, members, None, None, 0, ())
        knowledge = Knowledge(lambda: known if members else None)
        self.group = Judge(Rules(policy="progress"), knowledge=knowledge)
        self.statuses: list[list[str]] = []
        self.causes: list[Cause | None] = []

    def work(self, seconds: int, burst: tuple[int, int, int] = (0, 0, 0)) -> Consumer:
        self.log_end = [end + more for end, more in zip(self.log_end, burst, strict=True)]
        for _ in range(0, seconds * S, LOOK):
            self.now += LOOK
            self.log_end = [end + WRITTEN * LOOK // S for end in self.log_end]
            before = list(self.committed)
            if self.goes_back:
                self.committed, self.goes_back = [0] * 3, False
            self._poll(self.capacity * LOOK // S)
            self._look(before)
        return self

    def _poll(self, left: int) -> None:
        for _ in range(100):
            lag = self.log_end[self.turn] - self.committed[self.turn] - self.leaves
            took = 0 if self.turn == self.stuck else min(left, lag, CHUNK - self.read)
            self.committed[self.turn] += took
            left, self.read = left - took, self.read + took
            if not left:
                return
            self.turn, self.read = (self.turn + 1) % 3, 0

    def _look(self, before: list[int]) -> None:
        ats = {}
        for partition, offset in enumerate(self.committed):
            commits = self.commits_all or offset != before[partition]
            if commits:
                self.at[partition] = NOW + self.now
            end = self.log_end[partition]
            ats[partition] = At(offset, self.at[partition], log_end=end, commits=int(commits))
        outcome = self.group.judged(offset_event(NOW + self.now, {"orders": ats}))
        self.causes.append(outcome.lag.cause)
        self.statuses.append([str(s) for s in outcome.lag.topics["orders"].status])

    def of(self, partition: int) -> list[str]:
        """Statuses since the burst."""
        return [all_of[partition] for all_of in self.statuses[STEADY_S * S // LOOK :]]


def consumer(*members: Member, commits_all: bool = True, stuck: int | None = None) -> Consumer:
    one = Consumer(*members, commits_all=commits_all).work(STEADY_S)
    one.stuck = stuck
    return one


STANDS = {"STOP", "STALL"}


@pytest.mark.parametrize("commits_all", [True, False], ids=["all partitions", "what it has read"])
def test_it_reads_the_backlogs_one_after_the_other(commits_all: bool) -> None:
    one = consumer(ALONE, commits_all=commits_all).work(600, (BURST, BURST, BURST))
    assert not STANDS & {status for all_of in one.statuses for status in all_of}
    assert one.statuses[-1] == ["OK"] * 3


def test_what_another_member_stands_at_is_told() -> None:
    assert consumer(*TWO, stuck=2).work(60, (BURST, BURST, 0)).of(2)[-1] in STANDS


def test_without_members_nobody_knows_whose_turn_it_is() -> None:
    assert STANDS & set(consumer().work(120, (BURST, BURST, BURST)).of(2))


def test_what_stands_beside_partitions_without_a_backlog_is_told() -> None:
    """Though half as much again is written as is usual."""
    one = consumer(ALONE, stuck=2)
    assert [one.work(5, (12, 12, 0)) for _ in range(12)][-1].of(2)[-1] in STANDS


def test_nobody_waits_for_its_turn_for_more_than_five_minutes() -> None:
    one = consumer(ALONE, stuck=2).work(330, (4 * BURST, 4 * BURST, 0))
    told = [status in STANDS for status in one.of(2)]
    assert told[-1]
    assert not any(told[: 290 * S // LOOK])


def test_a_member_that_stands_still_is_told() -> None:
    one = consumer(ALONE).work(100, (BURST, BURST, BURST))
    one.capacity = 0
    assert set(one.work(240).statuses[-1]) <= STANDS


@pytest.mark.parametrize("commits_all", [True, False], ids=["all partitions", "what it has read"])
def test_who_went_back_reads_one_partition_after_the_other_too(commits_all: bool) -> None:
    """Each went back, and was told so: it does not stand still where its turn has not come."""
    one = consumer(ALONE, commits_all=commits_all).work(300, (9_000, 9_000, 9_000))
    one.goes_back, one.capacity = True, 60
    began = len(one.statuses)
    one.work(280)
    said = one.statuses[began:]
    assert not STANDS & {status for all_of in said for status in all_of}
    assert {"REWIND", "WARN"} & set(said[-1])
    assert {cause and cause.name for cause in one.causes[began + 1 :]} == {"replaying"}
