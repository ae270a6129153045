"""Policy `progress`: what it learns, and what it therefore says. Observations every 5 seconds."""

import pytest
from support.followed_partition import ALL, FOUND, TICK, Followed, always_ok
from warren_core.evaluation import UNKNOWN, Figure


def test_a_silent_consumer_has_stopped_once_its_usual_pause_is_long_over() -> None:
    """(e) Burrow waits for as long as the window is: here 45 s, 9 min and 45 min."""
    assert Followed().healthy(10).silent(30) == FOUND
    assert Followed().healthy(60, every=60).silent(30) == pytest.approx(145, abs=10)
    assert Followed().healthy(180, every=300).silent(30) == pytest.approx(680, abs=10)


@pytest.mark.heavy
def test_a_quiet_topic_is_not_stopped_when_a_record_takes_its_time() -> None:
    """(a) Commits hours apart, in a burst before: a window says nothing about the next record."""
    partition = Followed().healthy(2)
    for _ in range(5):
        for _ in range(240):
            partition.tick()
        partition.tick(3)
        for _ in range(6):
            partition.tick()
        partition.tick(read=ALL)
    assert always_ok(partition)


def test_one_record_is_a_lag_where_all_were_read_before() -> None:
    partition = Followed().healthy(10)
    partition.tick(1)
    assert partition.silent(60, rate=0) == FOUND - TICK  # it was there before


@pytest.mark.parametrize("met", [8, 5 / 6])
def test_of_a_rest_that_nobody_saw_begin_counts_what_was_since_the_last_commit(met: float) -> None:
    """So many minutes before the next run of an hourly batch, which begins by committing what it
    had committed.
    """
    partition = Followed()
    partition.committed_at -= 50 * 60_000
    partition.observe(0, log_end=UNKNOWN)
    partition.silent_for(met)
    partition.tick(50, read=0)
    for _ in range(12):
        partition.tick(50, read=3000)
    partition.tick(50, read=ALL)
    assert partition.silent(50 + met) is None


def test_a_rewind_is_told_once_somebody_reads_on_and_then_that_it_replays() -> None:
    partition = Followed().healthy(10)
    before = partition.committed
    partition.committed -= 5000
    began = partition.now
    assert partition.tick(50, read=0) == "OK"
    while partition.committed < before:
        told = partition.tick(50, read=60)
        soon = partition.now - began < 65_000
        assert told == ("REWIND" if soon else "WARN") or partition.committed >= before
    partition.healthy(1)
    assert partition.seen[-1] == "OK"


@pytest.mark.parametrize("records", [50, 900, 3000])
def test_a_late_commit_of_a_former_member_is_no_rewind(records: int) -> None:
    """The next commit is right again, whatever its size."""
    partition = Followed().healthy(10)
    partition.committed -= records
    partition.tick(50, read=0)
    partition.tick(50, read=ALL)
    assert always_ok(partition.healthy(5))


def test_a_group_that_was_reset_while_it_is_away_is_told_soon() -> None:
    partition = Followed().healthy(10)
    partition.committed -= 5000
    partition.tick(50, read=0)
    assert [partition.tick(50), partition.tick(50)] == ["OK", "REWIND"]


@pytest.mark.parametrize(("read", "status"), [(None, "STOP"), (0, "STALL")])
def test_who_stands_still_amid_a_replay_is_not_replaying(read: int | None, status: str) -> None:
    """It dies, or comes to a record that it cannot read: that is the trouble now, for hours."""
    partition = Followed().healthy(10)
    partition.committed -= 5000
    for _ in range(20):
        partition.tick(50, read=60)
    assert partition.seen[-1] == "WARN"
    began = len(partition.seen)
    for _ in range(360):
        partition.tick(50, read=read)
    assert partition.seen[-1] == status
    assert set(partition.seen[began:]) == {"WARN", status}


def test_a_reset_does_not_end_the_stop_of_who_is_away() -> None:
    """Stopped, reset, and started a minute later."""
    partition = Followed().healthy(30)
    partition.silent_for(2)
    assert partition.seen[-1] == "STOP"
    partition.committed -= 9000
    began = len(partition.seen)
    partition.tick(50, read=0)
    partition.silent_for(1)
    for _ in range(40):
        partition.tick(50, read=150)
    assert list(dict.fromkeys(partition.seen[began:])) == ["STOP", "REWIND", "WARN"]


def test_a_small_step_back_has_time_to_be_made_good() -> None:
    back, stays = Followed().healthy(10), Followed().healthy(10)
    for partition in (back, stays):
        partition.committed -= 20
        partition.tick(50, read=0)
    back.tick(50, read=ALL)
    assert always_ok(back)
    while stays.tick(5, read=1) == "OK":
        pass
    assert stays.seen[-1] == "REWIND"
    assert (len(stays.seen) - 120) * TICK == FOUND


def test_what_was_not_observed_teaches_nothing() -> None:
    """Nobody looked for an hour, and the consumer was there all the time."""
    partition = Followed().healthy(10)
    assert partition.tick(36_000, read=ALL, seconds=3600) == "OK"
    assert partition.silent(10) == FOUND


def test_who_has_not_moved_meanwhile_is_still_stopped() -> None:
    partition = Followed().healthy(10)
    assert partition.silent(10) == FOUND
    assert partition.tick(100, seconds=3600) == "STOP"


def test_a_clock_that_is_set_is_no_pause() -> None:
    partition = Followed().healthy(10)
    partition.tick(50, read=ALL)
    partition.now, partition.end = partition.now + 5000, partition.end + 50
    partition.committed, partition.committed_at = partition.end, partition.now + 86_400_000
    partition.observe(1)
    assert partition.track.figures[Figure.COMMIT_PAUSE, 0] < 60_000


def test_an_unknown_log_end_is_the_last_known_one() -> None:
    partition = Followed().healthy(10)
    assert partition.silent(10) == FOUND
    partition.now += 5000
    assert partition.observe(0, log_end=UNKNOWN) == "STOP"
    fresh = Followed()
    for _ in range(100):
        fresh.now += 5000
        assert fresh.observe(0, log_end=UNKNOWN) == "OK"


def test_a_topic_made_anew_is_learnt_anew() -> None:
    partition = Followed().healthy(10)
    partition.end, partition.committed = 10, 0
    assert partition.tick(10) == "OK"
    assert partition.silent(20) == 300


def test_what_retention_has_deleted_is_not_read() -> None:
    """It is sent to where the log begins now, each time with a third of its lag."""
    partition = Followed().healthy(10)
    partition.silent_for(40)
    for _ in range(24):
        partition.tick(50, read=50)
    told = len(partition.seen)
    for _ in range(3):
        partition.log_start = partition.end - (partition.end - partition.committed) * 2 // 3
        partition.tick(50, read=partition.log_start - partition.committed)
        for _ in range(24):
            partition.tick(50, read=50)
    assert set(partition.seen[told:]) == {"WARN"}
    for _ in range(40):
        partition.tick(50, read=400)
    assert partition.seen[-1] == "OK"


def test_who_stood_still_is_well_once_half_of_the_backlog_is_read() -> None:
    """One trouble, not three: STOP, OK, and then late."""
    partition = Followed().healthy(10)
    partition.silent_for(20)
    backlog = partition.end - partition.committed
    said = [partition.tick(50, read=100) for _ in range(480)]
    lag = [backlog - 50 * (tick + 1) for tick in range(480)]
    assert said == ["WARN" if left > backlog / 2 - 50 else "OK" for left in lag]


def test_a_log_end_that_falls_once_costs_nothing_that_was_learnt() -> None:
    partition = Followed().healthy(180, every=300)
    partition.now += 5000
    partition.observe(0, log_end=partition.end - 2_000)
    partition.healthy(30, every=300)
    assert always_ok(partition)
    assert partition.silent(30) == pytest.approx(680, abs=10)
