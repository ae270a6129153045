"""What policy `progress` makes of members: nobody there, rebalances, who comes and goes."""

import pytest
from support.followed_partition import FOUND, TICK, Followed, always_ok
from warren_core.evaluation.presence import Presence, presence_of

DEPLOY = 115  # seconds until it is found that all members of who commits rarely have gone


def followed(presence: Presence = Presence.THERE) -> Followed:
    partition = Followed()
    partition.presence = presence
    return partition


@pytest.mark.parametrize(
    ("state", "presence"),
    [
        ("Empty", Presence.NOBODY),
        ("Dead", Presence.NOBODY),
        ("PreparingRebalance", Presence.REBALANCING),
        ("CompletingRebalance", Presence.REBALANCING),
        ("Assigning", Presence.REBALANCING),
        ("Reconciling", Presence.THERE),
        ("Stable", Presence.THERE),
        ("NotReady", Presence.UNKNOWN),
        ("", Presence.UNKNOWN),
        (None, Presence.UNKNOWN),
    ],
)
def test_what_a_groups_state_means(state: str | None, presence: Presence) -> None:
    assert presence_of(state) is presence


@pytest.mark.parametrize("minutes", [1, 3])
def test_a_rebalance_is_no_silence(minutes: int) -> None:
    """As long as one may take; without the group's state it would be a stop."""
    for presence, status in ((Presence.REBALANCING, "OK"), (Presence.THERE, "STOP")):
        partition = followed().healthy(60)
        partition.tick(50)
        partition.presence = presence
        partition.silent_for(minutes)
        assert partition.seen[-1] == status
        partition.presence = Presence.THERE
        partition.healthy(10)
        assert ("STOP" in partition.seen) == (status == "STOP")


def test_a_rebalance_teaches_nothing() -> None:
    """Who hangs after many of them is found as fast as before."""
    partition = followed().healthy(60)
    for _ in range(5):
        partition.presence = Presence.REBALANCING
        partition.silent_for(3)
        partition.presence = Presence.THERE
        partition.healthy(10)
    assert always_ok(partition)
    assert partition.silent(30) == FOUND + 2 * TICK


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize(("known", "found"), [(3, 120 + 2 * TICK), (5, FOUND)])
def test_who_hangs_soon_after_it_was_first_seen_is_found_within_five_minutes_of_then(
    known: int, found: int, loops: bool
) -> None:
    partition = followed().healthy(known)
    at = next(n for n in range(100) if partition.tick(50, read=0 if loops else None) != "OK")
    assert (at + 1) * TICK == found


@pytest.mark.parametrize(("minutes", "found"), [(60, 70), (26, 70), (20, 310)])
def test_a_group_without_members_that_was_dead_long_before_it_was_seen_is_found_at_once(
    minutes: int, found: int
) -> None:
    """Members are looked for once more; a batch may rest for 25 min."""
    partition = followed(Presence.NOBODY)
    partition.committed_at -= minutes * 60_000
    assert partition.silent(30) == found


@pytest.mark.heavy
@pytest.mark.parametrize("away", [30, 50])
def test_a_deployment_of_who_commits_each_minute_is_no_crash(away: int) -> None:
    """It is stopped 55 s after a commit, and commits a minute after it has come back."""
    partition = followed().healthy(60, every=60)
    for _ in range(3):
        partition.silent_for(55 / 60)
        partition.presence = Presence.NOBODY
        partition.silent_for(away / 60)
        partition.presence = Presence.THERE
        partition.healthy(60, every=60)
    assert [each for each in partition.seen if each != "OK"] == []
    partition.presence = Presence.NOBODY
    assert partition.silent(30) == pytest.approx(DEPLOY + away / 2, abs=30)


def test_a_batch_that_was_met_at_work_may_rest_while_its_member_is_there() -> None:
    """Twenty seconds of work in four minutes."""
    batch = followed()
    for _ in range(5):
        batch.healthy(1 / 3)
        batch.silent_for(11 / 3)
    assert always_ok(batch)
    gone = followed().healthy(1)
    gone.presence = Presence.NOBODY
    assert gone.silent(10) == 305 + TICK


@pytest.mark.heavy
def test_a_job_that_comes_and_goes_is_well() -> None:
    """A run of two minutes every twenty; away between them, which is told of once."""
    partition = followed()
    for _ in range(6):
        partition.healthy(2)
        partition.presence = Presence.NOBODY
        partition.silent_for(18)
        partition.presence = Presence.THERE
    partition.healthy(2)
    after_the_first = partition.seen[20 * 60 // TICK :]
    assert set(after_the_first) == {"OK"}
    partition.presence = Presence.NOBODY
    assert 18 * 60 < (partition.silent(60) or 0) < 25 * 60


def test_consumers_that_assign_partitions_to_themselves_are_no_absentees() -> None:
    """Their group is empty, and some collector may say so."""
    partition = followed(Presence.NOBODY).healthy(60, every=60)
    assert always_ok(partition)
    assert partition.silent(30) == pytest.approx(85, abs=10)


def test_nobody_knows_whether_somebody_is_there() -> None:
    """The state comes and goes itself, as where a right is missing at times."""
    partition = followed().healthy(60)
    for presence in (Presence.UNKNOWN, Presence.NOBODY, Presence.UNKNOWN, Presence.THERE) * 5:
        partition.presence = presence
        partition.healthy(1)
    assert always_ok(partition)
    assert partition.silent(30) == FOUND
