"""Partitions that nobody has ever committed: judged by what was written since they were seen so."""

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import EarlierPositions, GroupEvent, GroupMember, OffsetEvent, TopicPositions
from warren.settings import PolicyName
from warren_core.evaluation import Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Ended, Judged
from warren_core.judgement.membership import membership_after
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import decode, encode
from warren_core.objectives.readings import GroupLag, group_lag

POLICIES: list[PolicyName] = ["progress", "burrow"]


def look(
    seconds: int, ends: dict[int, int], owned: int = 1, committed: dict[int, int] | None = None
) -> OffsetEvent:
    """`ends` of the logs; what is `committed` is so at each look."""
    at = NOW + seconds * 1000
    made = committed or {}
    number = list(ends)
    topic = TopicPositions(
        partition=number,
        committed=[made.get(n, -1) for n in number],
        committed_at=[at if n in made else -1 for n in number],
        commits=[int(n in made) for n in number],
        log_start=[0] * len(number),
        log_end=list(ends.values()),
        owned=[-1 if n in made else owned for n in number],
    )
    event = offset_event(at, group_state="Stable")
    return event.model_copy(update={"topics": {"orders": topic}})


def statuses(judged: Judged) -> list[str]:
    return list(judged.lag.topics["orders"].status)


def follow(group: Judge, minutes: float, *, start: int = 0, rate: int = 1) -> list[Judged]:
    """One partition, owned, 1,000 records long, `rate` more each second, never committed."""
    end = round(minutes * 60)
    return [
        group.judged(look(second, {0: 1000 + rate * second})) for second in range(start, end + 1, 5)
    ]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("owned", [1, -1])
def test_who_never_commits_is_told_after_first_commits_had_time(
    policy: PolicyName, owned: int
) -> None:
    """It may do so on purpose: nobody is called for it."""
    group = Judge(Rules(policy=policy))
    told: dict[str, int] = {}
    for second in range(0, 900, 5):
        judged = group.judged(look(second, {0: 1000 + second}, owned))
        told.setdefault(statuses(judged)[0], second)
    assert told == {"OK": 0, "WARN": 345}
    topic = judged.lag.topics["orders"]
    assert (topic.committed, topic.lag, judged.lag.total_lag) == ([-1], [895], 895)
    assert topic.reason == ["never_committed"]
    said = "never committed, though at least 895 records came within 14m 55s; "
    assert said in str(topic.explanation)
    assert topic.complete == [0.0]
    assert topic.window_end.offset == [None]
    assert judged.lag.status == "WARN"


@pytest.mark.parametrize("policy", POLICIES)
def test_owners_of_empty_and_silent_topics_are_well(policy: PolicyName) -> None:
    """Also whoever begins at the end of a log (auto.offset.reset=latest) that nobody writes to."""
    group = Judge(Rules(policy=policy))
    for second in range(0, 1800, 10):
        judged = group.judged(look(second, {0: 0, 1: 5000}))
        assert statuses(judged) == ["OK", "OK"]
    assert judged.lag.topics["orders"].lag == [0, 0]
    written = group.judged(look(1800, {0: 1, 1: 5000}))
    assert (statuses(written), written.lag.topics["orders"].lag) == (["OK", "OK"], [1, 0])
    for second in range(1810, 2200, 10):
        judged = group.judged(look(second, {0: 1, 1: 5000}))
    assert statuses(judged) == ["WARN", "OK"], "the one record is not read"


@pytest.mark.parametrize("policy", POLICIES)
def test_no_setting_of_full_windows_hides_it(policy: PolicyName) -> None:
    """There will never be a commit that fills one."""
    group = Judge(Rules(policy=policy, minimum_complete=1.0))
    assert statuses(follow(group, 5)[-1]) == ["OK"]
    assert statuses(follow(group, 8, start=305)[-1]) == ["WARN"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("owned", "status"), [(1, "STALL"), (0, "STOP"), (-1, "STOP")])
def test_a_sibling_of_what_is_committed_is_judged(
    policy: PolicyName, owned: int, status: str
) -> None:
    """Partitions were added, and who assigns partitions to itself does not know of them."""
    group = Judge(Rules(policy=policy))
    for second in range(0, 600, 5):
        group.judged(look(second, {0: second * 10}, committed={0: second * 10}))
    for second in range(600, 1200, 5):
        ends = {0: second * 10, 1: (second - 600) * 3}
        judged = group.judged(look(second, ends, owned, committed={0: second * 10}))
    assert statuses(judged) == ["OK", status]
    assert judged.lag.topics["orders"].lag == [0, 595 * 3]


def test_the_first_commit_ends_the_incident() -> None:
    """Also one below where the log ended then: it has begun at the beginning (earliest)."""
    for first in (20, 1300):
        group = Judge(Rules(policy="progress"))
        assert statuses(follow(group, 8)[-1]) == ["WARN"]
        judged = group.judged(look(485, {0: 1485}, committed={0: first}))
        assert judged.change is not None
        assert (judged.change.data.previous, judged.change.data.status) == ("WARN", "OK")
        topic = judged.lag.topics["orders"]
        assert (topic.lag, topic.window_start.offset) == ([1485 - first], [first])


def test_what_is_at_least_unread_never_shrinks() -> None:
    """Not when a log end is unknown, nor by a restart of the evaluator, nor while nobody reads."""
    group = Judge(Rules(policy="progress"))
    least = 0
    for second in range(0, 600, 5):
        end = -1 if 300 <= second < 360 else 1000 + second
        judged = group.judged(look(second, {0: end}))
        (lag,) = judged.lag.topics["orders"].lag
        # The last end counts for as long as a look is only late; then nobody knows.
        assert lag is None if 330 <= second < 360 else (lag is None and end < 0) or lag >= least
        least = max(least, lag or 0)
        assert isinstance(group.state, GroupState)
        group.state = decode(encode(group.state))
    assert statuses(judged) == ["WARN"]


def test_a_topic_that_was_made_anew_begins_anew() -> None:
    group = Judge(Rules(policy="progress"))
    assert statuses(follow(group, 8)[-1]) == ["WARN"]
    judged = group.judged(look(485, {0: 3}))
    assert (statuses(judged), judged.lag.topics["orders"].lag) == (["OK"], [0])


def test_a_group_without_a_commit_does_not_expire() -> None:
    group = Judge(Rules(policy="progress", expire_group_ms=10 * MINUTE))
    assert statuses(follow(group, 30)[-1]) == ["WARN"]


def test_partitions_of_an_uncommitted_topic_are_there_while_they_are_told() -> None:
    """Their owner has let go of them while no collector was there to say so."""
    group = Judge(Rules(policy="progress"))
    for second in range(0, 480, 5):
        judged = group.judged(look(second, {0: second, 1: second}))
    assert statuses(judged) == ["WARN", "WARN"]
    judged = group.judged(look(480, {1: 480}))
    assert list(judged.lag.topics["orders"].partition) == [1]
    judged = group.judged(offset_event(NOW + 485_000, {"returns": {0: At(5, NOW)}}))
    assert (list(judged.lag.topics), judged.lag.status) == (["returns"], "OK")
    assert isinstance(group(offset_event(NOW + 490_000, deleted=True)), Ended)


def test_nobody_says_that_a_limit_of_the_lag_is_kept() -> None:
    group = Judge(Rules(policy="burrow"))
    for second in range(0, 60, 5):
        group.judged(look(second, {0: 1000 + second, 1: 0, 2: 7}, committed={2: 7}))
    assert isinstance(group.state, GroupState)
    lag = group_lag(group.state, NOW)
    assert lag is not None
    assert lag.by_topic == {"orders": (55, False)}
    group.judged(look(60, {0: 1055, 1: 0, 2: 7}, committed={0: 1000, 2: 7}))
    assert group_lag(group.state, NOW) == GroupLag({"orders": (55, True)}), "an empty log has none"


def test_the_cause_says_who_owns_it() -> None:
    member = GroupMember(
        member_id="m", client_id="billing-1", host="/10.0.0.7", assignment={"orders": [0]}
    )
    group = GroupEvent(
        cluster="prod",
        group="billing",
        observed_at=NOW,
        position=1,
        protocol="classic",
        protocol_type="consumer",
        state="Stable",
        members=[member],
    )
    known = membership_after(group, None)
    owned = Judge(Rules(policy="progress"), knowledge=Knowledge(membership=lambda: known))
    cause = follow(owned, 8)[-1].lag.cause
    assert cause is not None
    assert cause.name == "never_committed"
    assert cause.sentence == (
        "Never committed: orders/0; at least 480 records came in 8m; owner billing-1 at 10.0.0.7"
    )
    alone = follow(Judge(Rules(policy="burrow")), 8)[-1].lag.cause
    assert alone is not None
    assert alone.sentence.endswith("no known owner")


# First verdicts of policy `burrow`: to the letter, from the first commit on.

TICK = 5_000
RATE = 100  # records per second


def end_at(ms: int) -> int:
    """Where the log ends so many milliseconds after NOW."""
    return 1_000_000 + RATE * ms // 1000


def test_an_only_commit_is_a_stop_at_once() -> None:
    group = Judge()
    at = At(5, NOW - 1, log_end=900)
    assert group.judged(offset_event(NOW, {"orders": {0: at}})).lag.status == "ERR"


def test_a_stop_is_found_as_soon_as_burrow_finds_it() -> None:
    """Two commits 20 s apart, far behind, and then none: the next look after 20 s of silence."""
    group, statuses = Judge(), []
    for tick in range(10):
        now = tick * TICK
        newest = min(now // 20_000, 1)
        commits = int(now in (0, 20_000))
        at = At(10 + newest, NOW + newest * 20_000, commits=commits, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses[4:] == ["WARN"] * 5 + ["STOP"]


def test_the_same_offset_twice_is_a_stall() -> None:
    group, statuses = Judge(), []
    for now in (0, TICK):
        at = At(10, NOW + now, commits=1, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses == ["STALL", "STALL"]


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
    """Of a group, by its first commit and ten ends before, 10 s apart."""
    ends = [end_at(last_end_ms - back * 10_000) for back in range(9, -1, -1)]
    earlier = EarlierPositions(partition=[0], log_end=[ends], committed=[[]], committed_at=[[]])
    group = Judge(Rules(log_ends_apart_ms=heartbeat_ms * 11 // 10))
    at = At(committed, NOW - 1, log_end=end_at(0))
    judged = group.judged(offset_event(NOW, {"orders": {0: at}}, earlier={"orders": earlier}))
    (status,) = judged.lag.topics["orders"].status
    return status


# Partitions that a topic has gained: who reads the others is known already.

S = 1_000
EVERY = 480  # seconds; it reads for 20


def _statuses(gained_at: int, until: int) -> list[tuple[int, str]]:
    """Of a group that runs for 20 s in each 8 min. [(second, status)] where it is not OK."""
    judge = Judge(Rules(policy="progress"))
    committed = dict.fromkeys(range(2), 0)
    committed_at = dict.fromkeys(committed, 0)
    bad = []
    for second in range(0, until, 5):
        if second == gained_at:
            committed[2], committed_at[2] = 0, second
        commits = second % EVERY < 20
        if commits:
            for partition in committed:
                committed[partition], committed_at[partition] = second * 10 + 1, second
        elif second % 10:
            continue
        at = {
            p: At(offset, NOW + committed_at[p] * S, commits=int(commits), log_end=second * 10 + 1)
            for p, offset in committed.items()
        }
        status: str = judge.judged(offset_event(NOW + second * S, {"orders": at})).lag.status
        if status != "OK":
            bad.append((second, status))
    return bad


@pytest.mark.heavy
@pytest.mark.parametrize("read", [0, 5, 10, 15])
def test_a_new_partition_has_the_habits_of_its_topic(read: int) -> None:
    """`read`: seconds of the run before it is there."""
    learnt = 10 * EVERY
    bad = _statuses(learnt + read, learnt + 6 * EVERY)
    assert [one for one in bad if one[0] >= learnt] == []


def test_a_new_partition_that_nobody_reads_is_told() -> None:
    """As its siblings would be: the habits are theirs, no excuse for ever."""
    judge = Judge(Rules(policy="progress"))
    for second in range(0, 600, 5):
        at = {p: At(second * 10 + 1, NOW + second * S) for p in range(2)}
        judge.judged(offset_event(NOW + second * S, {"orders": at}))
    told = None
    for second in range(600, 1200, 5):
        at = {p: At(second * 10 + 1, NOW + second * S) for p in range(2)}
        at[2] = At(100, NOW + 600 * S, commits=int(second == 600), log_end=second * 10)
        event = offset_event(NOW + second * S, {"orders": at})
        if judge.judged(event).lag.status != "OK":
            told = told or second
    assert told is not None
    assert told - 600 <= 60
