"""First verdicts: nobody is told anything of a group that is well, and of trouble soon enough."""

from __future__ import annotations

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import EarlierPositions
from warren.settings import EvaluationOverride, EvaluationSettings
from warren_core.evaluation import RuleBook, Rules

TICK = 5_000
GRACE = 15_000
RATE = 100  # records per second


def end_at(ms: int) -> int:
    """Where the log ends so many milliseconds after NOW."""
    return 1_000_000 + RATE * ms // 1000


def follow(
    every: float, behind: float, *, start: float = 0, last: float = 1e9, seconds: int = 300
) -> list[str]:
    """Statuses, tick by tick, of a group that commits every so many seconds from `start` on what
    was there `behind` seconds before; the log is looked at from NOW on.
    """
    group, statuses, counted = Judge(), [], 0
    for tick in range(seconds * 1000 // TICK):
        now = tick * TICK
        commits = (
            0
            if now < start * 1000
            else int((min(now, last * 1000) - start * 1000) // (every * 1000)) + 1
        )
        if not commits:
            at = At(-1, -1, commits=0, log_end=end_at(now))
        else:
            committed_at = round((start + (commits - 1) * every) * 1000)
            offset = end_at(round(committed_at - behind * 1000))
            at = At(offset, NOW + committed_at, commits=commits - counted, log_end=end_at(now))
        counted = commits
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    return statuses


@pytest.mark.parametrize(
    ("every", "behind"), [(0.1, 0), (1, 0.3), (5, 0), (5, 3), (30, 6), (60, 15), (60, 25)]
)
def test_a_new_group_that_is_well_is_ok_from_its_first_commit_on(
    every: float, behind: float
) -> None:
    assert set(follow(every, behind, start=60.7)) == {"OK"}


@pytest.mark.parametrize("every", [0.1, 1, 5])
def test_a_group_that_works_on_a_backlog_is_ok(every: float) -> None:
    group = Judge()
    for tick in range(40):
        now = tick * TICK
        count = int(now / (every * 1000)) + 1
        at = round((count - 1) * every * 1000)
        done = At(2 * RATE * at // 1000, NOW + at, commits=1, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: done}}))
        assert judged.lag.status == "OK", now


def test_a_lone_commit_is_no_stop_within_an_interval_and_a_heartbeat() -> None:
    group = Judge()
    at = At(5, NOW - 3_600_000, log_end=900)
    times = [0, 5_000, 15_000, 15_001]
    judged = [group.judged(offset_event(NOW + t, {"orders": {0: at}})) for t in times]
    assert [one.lag.topics["orders"].status for one in judged] == [["OK"]] * 3 + [["STOP"]]


@pytest.mark.parametrize("behind", [6, 3600])
def test_an_only_commit_is_no_stop_for_5_minutes(behind: float) -> None:
    statuses = follow(3600, behind, start=60, seconds=500)
    first = statuses.index("STOP") * TICK / 1000
    assert set(statuses) == {"OK", "STOP"}
    assert 60 + 300 <= first <= 60 + 305


@pytest.mark.parametrize("age", [20, 70, 110, 170])
def test_an_only_commit_that_was_there_before_is_no_stop_until_the_next(age: int) -> None:
    """Of a group that commits every 3 minutes; a compacted topic keeps its newest commit alone."""
    group = Judge()
    for now in range(0, (180 - age) * 1000 + TICK, TICK):
        at = At(end_at(-age * 1000), NOW - age * 1000, commits=1, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        assert judged.lag.status == "OK", now


@pytest.mark.parametrize("every", [30, 60, 120])
def test_a_backlog_in_a_log_at_rest_is_ok(every: int) -> None:
    group = Judge()
    for tick in range(60):
        now = tick * TICK
        commits = now // (every * 1000) + 1
        done = At(
            40 * every * commits, NOW + (commits - 1) * every * 1000, commits=1, log_end=60_000
        )
        judged = group.judged(offset_event(NOW + now, {"orders": {0: done}}))
        assert judged.lag.status == "OK", now


@pytest.mark.parametrize("every", [120, 180, 290])
def test_a_new_group_of_large_batches_is_ok(every: float) -> None:
    filling = round(9 * every)
    assert set(follow(every, 20, start=17, seconds=filling)) == {"OK"}


def test_a_new_group_that_is_too_slow_is_a_warning_before_its_window_is_full() -> None:
    """It begins far from the end, and reads half of what is written."""
    group, statuses = Judge(), []
    for tick in range(40):
        now = tick * 20_000
        at = At(end_at(now // 2) - 900_000, NOW + now, commits=1, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert "WARN" in statuses[:9]
    assert set(statuses[statuses.index("WARN") :]) == {"WARN"}


def in_turn(turn: float, every: float = 5, *, stuck_from: float = 1e9) -> list[list[str]]:
    """[tick][partition] of a client with a large backlog that reads four partitions in turn, for so
    many seconds each, and commits what it has read in between; from `stuck_from` on it leaves the
    first one alone.
    """
    group, statuses = Judge(), []
    partitions = range(4)
    done, committed, committed_at = [0] * 4, [-1] * 4, [-1] * 4
    for tick in range(240):
        now = tick * TICK
        reads = int(now // (turn * 1000)) % 4
        if now >= stuck_from * 1000:
            reads = max(reads, 1)
        done[reads] += 5_000
        commits = [0] * 4
        if now % (every * 1000) == 0:
            for each in partitions:
                if done[each] > max(committed[each], 0):
                    commits[each], committed[each], committed_at[each] = 1, done[each], NOW + now
        states = {
            each: At(
                committed[each], committed_at[each], commits=commits[each], log_end=end_at(now)
            )
            for each in partitions
        }
        judged = group.judged(offset_event(NOW + now, {"orders": states}))
        statuses.append(judged.lag.topics["orders"].status)
    return statuses


@pytest.mark.parametrize(
    ("turn", "every"), [(10, 5), (20, 5), (40, 5), (70, 5), (20, 30), (60, 30), (60, 60), (30, 60)]
)
def test_a_client_that_reads_a_backlog_partition_by_partition_is_ok(
    turn: float, every: float
) -> None:
    """Whether the windows have filled meanwhile or not."""
    assert {status for tick in in_turn(turn, every) for status in tick} == {"OK"}


@pytest.mark.parametrize("stuck_from", [10, 400])
def test_a_partition_that_is_never_read_again_amid_a_backlog_is_a_stop_after_5_minutes(
    stuck_from: float,
) -> None:
    statuses = [all_of[0] for all_of in in_turn(10, stuck_from=stuck_from)]
    first = statuses.index("STOP") * TICK / 1000
    assert stuck_from + 260 <= first <= stuck_from + 310
    assert set(statuses[int(first * 1000 / TICK) :]) == {"STOP"}


def test_a_partition_that_stops_while_others_stay_behind_is_a_stop_at_once() -> None:
    """Nothing is worked off: the others' lag stays."""
    group, statuses = Judge(), []
    for tick in range(60):
        now = tick * TICK
        stopped_at = min(now, 150_000)
        states = {
            0: At(
                end_at(stopped_at) - 30_000,
                NOW + stopped_at,
                commits=int(now <= 150_000),
                log_end=end_at(now),
            ),
            1: At(end_at(now) - 30_000, NOW + now, commits=1, log_end=end_at(now)),
        }
        judged = group.judged(offset_event(NOW + now, {"orders": states}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses.index("STOP") * TICK <= 150_000 + 65_000


def test_a_stop_is_found_as_soon_as_burrow_finds_it_but_for_the_grace() -> None:
    """Two commits 20 s apart, far behind, and then none."""
    group = Judge()
    found = None
    for tick in range(20):
        now = tick * TICK
        newest = min(now // 20_000, 1)
        commits = int(now in (0, 20_000))
        at = At(10 + newest, NOW + newest * 20_000, commits=commits, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        if found is None and judged.lag.topics["orders"].status == ["STOP"]:
            found = now
    assert found is not None
    assert 20_000 + 20_000 < found <= 20_000 + 20_000 + GRACE + TICK


def test_one_commit_does_not_stand_still_and_one_lag_does_not_grow() -> None:
    """A batch that was read some seconds ago: neither STALL nor WARN from its only commit."""
    assert "STALL" not in follow(3600, 6, start=60)
    assert "WARN" not in follow(3600, 6, start=60)


def test_a_group_that_stands_still_is_found_once_a_record_may_not_take_so_long() -> None:
    """A client that commits the same offset while it works on one record for 40 s is well."""
    group, statuses = Judge(), []
    for tick in range(11):
        now = tick * TICK
        at = At(10, NOW + now, commits=1, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses == ["OK"] * 9 + ["STALL"] * 2


WITHOUT_DOUBT = Rules(doubt=False)


def test_without_doubt_an_only_commit_is_a_stop_at_once() -> None:
    group = Judge(WITHOUT_DOUBT)
    at = At(5, NOW - 1, log_end=900)
    assert group.judged(offset_event(NOW, {"orders": {0: at}})).lag.status == "ERR"


def test_without_doubt_a_stop_is_found_as_soon_as_burrow_finds_it() -> None:
    """Two commits 20 s apart, far behind, and then none: the next look after 20 s of silence."""
    group, statuses = Judge(WITHOUT_DOUBT), []
    for tick in range(10):
        now = tick * TICK
        newest = min(now // 20_000, 1)
        commits = int(now in (0, 20_000))
        at = At(10 + newest, NOW + newest * 20_000, commits=commits, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses[4:] == ["WARN"] * 5 + ["STOP"]


def test_without_doubt_the_same_offset_twice_is_a_stall() -> None:
    group, statuses = Judge(WITHOUT_DOUBT), []
    for now in (0, TICK):
        at = At(10, NOW + now, commits=1, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses == ["STALL", "STALL"]


def test_doubt_may_be_switched_off_for_some_topics_of_a_group() -> None:
    override = EvaluationOverride(topics=["^audit$"], doubt=False)
    rules = RuleBook(EvaluationSettings(overrides=[override])).rules_for("prod", "billing")
    lone = {0: At(5, NOW - 1, log_end=900)}
    judged = Judge(rules).judged(offset_event(NOW, {"audit": lone, "orders": lone}))
    assert {name: topic.status for name, topic in judged.lag.topics.items()} == {
        "audit": ["STOP"],
        "orders": ["OK"],
    }


@pytest.mark.parametrize(("heartbeat_ms", "status"), [(2_000, "STOP"), (10_000, "STALL")])
def test_ends_of_before_a_group_came_are_remembered_for_as_long_as_those_after(
    heartbeat_ms: int, status: str
) -> None:
    """It committed where the log ended 50 s ago: with a heartbeat of 2 s ten ends are 22 s."""
    assert first_status(heartbeat_ms, committed=end_at(-50_000), last_end_ms=-10_000) == status


@pytest.mark.parametrize("heartbeat_ms", [200, 1_000, 10_000])
def test_a_consumer_at_the_end_is_no_stop_though_the_end_was_read_again_after_its_commit(
    heartbeat_ms: int,
) -> None:
    """It is not behind, by the end of up to 10 s before."""
    assert first_status(heartbeat_ms, committed=end_at(-200), last_end_ms=-100) != "STOP"


def first_status(heartbeat_ms: int, committed: int, last_end_ms: int) -> str:
    """Of a group without doubt, by its first commit and ten ends before, 10 s apart."""
    ends = [end_at(last_end_ms - back * 10_000) for back in range(9, -1, -1)]
    earlier = EarlierPositions(partition=[0], log_end=[ends], committed=[[]], committed_at=[[]])
    group = Judge(Rules(doubt=False, log_ends_apart_ms=heartbeat_ms * 11 // 10))
    at = At(committed, NOW - 1, log_end=end_at(0))
    judged = group.judged(offset_event(NOW, {"orders": {0: at}}, earlier={"orders": earlier}))
    (status,) = judged.lag.topics["orders"].status
    return status
