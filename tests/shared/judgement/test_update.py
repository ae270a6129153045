"""The update of a group's state: which events count, and which commits enter a window."""

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, commits, heartbeat, offset_event
from warren.contracts import OffsetEvent
from warren.errors import ContractViolation
from warren.settings import PolicyName
from warren_core.evaluation import POLICIES, Rules
from warren_core.judgement.judge import Duplicate
from warren_core.judgement.state import GroupState


def test_replayed_and_older_events_are_duplicates() -> None:
    group = Judge()
    events = commits(1, 2, 3)
    group.all(events)
    before = group.state
    assert all(isinstance(group(event), Duplicate) for event in events)
    assert isinstance(group(heartbeat(5, 3, position=1)), Duplicate)
    assert group.state is before


def test_positions_that_stay_behind_are_believed_in_the_end() -> None:
    """As when __consumer_offsets was deleted and made anew: the group must not be lost for ever."""
    group = Judge()
    group.all(commits(1, 2, 3))
    assert isinstance(group(heartbeat(12, 3, position=1)), Duplicate)
    at = NOW + 13 * MINUTE
    judged = group.judged(offset_event(at, {"orders": {0: At(125, at, 1)}}, position=2))
    assert judged.lag.topics["orders"].window_end.offset == [125]
    assert judged.lag.topics["orders"].complete == [0.4]
    assert isinstance(group(offset_event(at, {}, position=2)), Duplicate)


def test_an_event_of_long_ago_is_no_news_at_whatever_position() -> None:
    """A collector's clock was set back: its groups are not judged, until it agrees again."""
    group = Judge()
    group.all(commits(1, 2, 3))
    before = group.state
    assert before is not None
    for ago, is_new in ((MINUTE + 1, False), (MINUTE, True)):
        at = before.applied.observed_at - ago
        outcome = group(offset_event(at, {}, position=before.applied.position + 1))
        assert isinstance(outcome, Duplicate) is not is_new


@pytest.mark.parametrize("policy", POLICIES)
def test_how_full_a_window_is_matters_to_burrows_rules_alone(policy: PolicyName) -> None:
    """Who commits twice and dies is told, whatever share is asked for."""
    told = {}
    for share in (0.0, 1.0):
        group = Judge(Rules(policy=policy, minimum_complete=share))
        for second in range(0, 900, 10):
            at = NOW + second * 1000
            committed = At(100 + min(second, 10), NOW + min(second, 10) * 1000, lag=second)
            judged = group.judged(offset_event(at, {"orders": {0: committed}}))
        told[share] = judged.lag.status
    assert told == {0.0: "ERR", 1.0: "ERR" if policy == "progress" else "OK"}


def test_parts_of_a_group_share_their_position_and_are_no_duplicates() -> None:
    group = Judge()
    group.judged(offset_event(NOW, {"a": {0: At(5, NOW)}}, position=9))
    part = group.judged(offset_event(NOW + 1, {"b": {0: At(7, NOW)}}, position=9))
    assert list(part.lag.topics) == ["a", "b"]
    assert part.lag.topics["a"].committed == [5]


def test_another_source_continues_where_the_last_one_stopped() -> None:
    """Positions of two sources cannot be compared, and neither can what orders their commits."""
    group = Judge()
    group.all(commits(5, 4, 3))
    assert isinstance(group(offset_event(NOW, {}, source="admin_api", position=-1)), Duplicate)
    for minute, source, position in ((5, "admin_api", -1), (6, "offsets_topic", 3)):
        at = NOW + minute * MINUTE
        event = offset_event(
            at, {"orders": {0: At(130 + minute, at, 1)}}, source=source, position=position
        )
        judged = group.judged(event)
        assert judged.lag.topics["orders"].window_end.offset == [130 + minute]
    assert judged.lag.topics["orders"].window_start.offset == [100]
    assert judged.lag.topics["orders"].complete == [0.5]


def test_a_group_that_two_sources_know_has_no_position_and_continues_by_time() -> None:
    group = Judge()
    group.all(commits(5, 4, 3))
    for minute, position in ((5, -1), (6, -1), (7, 9)):
        at = NOW + minute * MINUTE
        topics = {"orders": {0: At(130 + minute, at, 1)}}
        judged = group.judged(offset_event(at, topics, position=position))
        assert judged.lag.topics["orders"].window_end.offset == [130 + minute]
        assert isinstance(group(offset_event(at, topics, position=position)), Duplicate)
    assert judged.lag.topics["orders"].complete == [0.6]


def test_a_heartbeat_is_no_commit() -> None:
    group = Judge()
    group.all(commits(5, 5, 5))
    topic = group.judged(heartbeat(3, 8)).lag.topics["orders"]
    assert topic.window_end.at == [NOW + 2 * MINUTE]
    assert topic.complete == [0.3]
    assert topic.lag == [8]


def test_a_commit_that_is_reported_again_is_no_new_one() -> None:
    group = Judge()
    group.all(commits(15, 14))
    at = At(110, NOW + MINUTE, 9, commits=1)
    topic = group.judged(offset_event(NOW + 5 * MINUTE, {"orders": {0: at}})).lag.topics["orders"]
    assert topic.window_end.observed_at == [NOW + MINUTE]
    assert topic.window_end.lag == [14]


def test_the_first_event_fills_a_window_even_without_a_commit_of_its_own() -> None:
    assert Judge().judged(heartbeat(9, 8)).lag.topics["orders"].window_end.offset == [120]


def test_commits_closer_than_the_minimum_distance_are_one() -> None:
    topic = Judge().all(commits(5, 4, 3, step_ms=900))[-1].lag.topics["orders"]
    assert topic.complete == [0.2]  # the third is 1.8 s after the first, which kept its time
    assert topic.window_start.offset == [110]
    assert topic.window_start.at == [NOW]


def test_a_partition_never_committed_is_there_and_nothing_is_known_to_be_unread() -> None:
    event = offset_event(NOW, {"orders": {0: At(5, NOW), 1: At(-1, -1, commits=0, log_end=77)}})
    judged = Judge().judged(event)
    topic = judged.lag.topics["orders"]
    assert (topic.status[1], topic.committed[1], topic.lag[1]) == ("OK", -1, 0)
    assert (topic.complete[1], topic.window_start.offset[1]) == (0.0, None)
    assert judged.lag.total_lag == 0


def test_a_committed_offset_that_is_gone_empties_the_window() -> None:
    group = Judge()
    group.all(commits(5, 6, 7))
    judged = group.judged(
        offset_event(NOW + 3 * MINUTE, {"orders": {0: At(-1, -1, commits=0, log_end=200)}})
    )
    assert judged.lag.status == "OK"
    assert judged.lag.topics["orders"].complete == [0.0]


def test_removed_partitions_are_forgotten() -> None:
    group = Judge()
    group.judged(offset_event(NOW, {"a": {0: At(5, NOW), 1: At(6, NOW)}, "b": {0: At(7, NOW)}}))
    judged = group.judged(offset_event(NOW + 1, {}, removed={"a": [0], "b": [0], "c": [3]}))
    assert {t: topic.partition for t, topic in judged.lag.topics.items()} == {"a": [1]}
    judged = group.judged(offset_event(NOW + 2, {}, removed={"a": [1]}))
    assert (judged.lag.status, judged.lag.complete, judged.lag.topics) == ("OK", 0.0, {})


def test_partitions_may_come_in_any_order_and_number() -> None:
    group = Judge()
    group.judged(offset_event(NOW, {"a": {2: At(20, NOW), 0: At(0, NOW)}}))
    judged = group.judged(
        offset_event(NOW + MINUTE, {"a": {1: At(11, NOW + 1), 2: At(21, NOW + MINUTE)}})
    )
    topic = judged.lag.topics["a"]
    assert topic.partition == [0, 1, 2]
    assert topic.committed == [0, 11, 21]
    assert topic.window_start.offset == [0, 11, 20]


@pytest.mark.parametrize(
    ("event", "where"),
    [
        (offset_event(NOW, {"t": {0: At(2**63, NOW)}}), "topics.t.committed"),
        (offset_event(NOW, {"t": {0: At(1, -(2**63) - 1)}}), "topics.t.committed_at"),
        (offset_event(NOW, {"t": {0: At(1, NOW, commits=2**63)}}), "topics.t.commits"),
        (offset_event(NOW, position=2**63), "position"),
    ],
)
def test_numbers_beyond_kafkas_are_refused(event: OffsetEvent, where: str) -> None:
    with pytest.raises(ContractViolation, match=f"^{where}: "):
        Judge()(event)


def test_other_intervals_keep_the_newest_commits() -> None:
    group = Judge(Rules(intervals=5))
    group.all(commits(9, 8, 7, 6, 5))
    for intervals, complete, first in ((3, 1.0, 120), (6, 0.5, 120)):
        group.rules = Rules(intervals=intervals)
        assert isinstance(group.state, GroupState)
        event = offset_event(
            group.state.applied.observed_at + 1, {"orders": {0: At(140, NOW + 4 * MINUTE, 5)}}
        )
        topic = group.judged(event).lag.topics["orders"]
        assert topic.window_start.offset == [first]
        assert topic.complete == [complete]
