"""Judgement: events in, statuses, incidents and lag events out."""

from __future__ import annotations

import numpy as np
import pytest
from support.offset_events import MINUTE, NOW, At, Judge, commits, offset_event
from warren.contracts import LagEvent, OffsetEvent, StatusChangeEvent
from warren.errors import ContractViolation
from warren.evaluation import GroupRules, RuleBook, Rules
from warren.evaluation.packed_windows import unpack
from warren.judgement.judge import Duplicate
from warren.judgement.state import GroupState
from warren.settings import EvaluationOverride, EvaluationSettings


def heartbeat(minute: float, lag: int, **more: int) -> OffsetEvent:
    """orders/0 as it was after `commits(…, …, …)`, without a new commit."""
    at = At(120, NOW + 2 * MINUTE, lag, commits=0)
    return offset_event(NOW + round(minute * MINUTE), {"orders": {0: at}}, **more)


def stopped(lag: int = 9) -> Judge:
    """A group that stopped after three commits, until its caught-up days are forgotten."""
    group = Judge()
    group.all(commits(0, 0, 0))
    group.all(heartbeat(40 + i, lag) for i in range(10))
    return group


def statuses(group: Judge, *lags: int) -> list[str]:
    return [judged.lag.status for judged in group.all(commits(*lags))]


def test_a_healthy_group_is_ok_from_the_first_event_and_says_nothing_of_it() -> None:
    results = Judge().all(commits(0, 1, 0, 2))
    assert [r.lag.status for r in results] == ["OK"] * 4
    assert all(r.change is None and r.lag.incident is None for r in results)


def test_growing_lag_is_a_warning_and_shrinking_lag_ends_it() -> None:
    assert statuses(Judge(), 11, 12, 13, 12)[1:] == ["WARN", "WARN", "OK"]


def test_a_consumer_that_had_read_all_that_was_there_was_not_behind() -> None:
    """It commits 5 s apart and is looked at 2 s later, when there always is something new."""
    group = Judge()
    ends = [1000 + 500 * i for i in range(12)]
    events = [
        offset_event(NOW + 5000 * i, {"orders": {0: At(end - 200, NOW + 5000 * i - 2000, 200)}})
        for i, end in enumerate(ends)
    ]
    judged = group.all(events)
    assert [one.lag.status for one in judged] == ["ERR"] + [
        "OK"
    ] * 11  # a lone commit, as in Burrow
    topic = judged[-1].lag.topics["orders"]
    assert topic.lag == [200]
    assert topic.window_end.lag == [0]


def test_a_consumer_that_had_not_was_behind_by_all_there_is_now() -> None:
    group = Judge()
    group.all(commits(15))
    at = At(114, NOW + MINUTE, 40)  # the log ended at 115
    topic = group.judged(offset_event(NOW + MINUTE, {"orders": {0: at}})).lag.topics["orders"]
    assert topic.window_end.lag == [40]


def test_an_unknown_log_end_says_nothing_of_a_commit() -> None:
    group = Judge()
    group.all(commits(0))
    at = At(200, NOW + MINUTE, log_end=-1)
    topic = group.judged(offset_event(NOW + MINUTE, {"orders": {0: at}})).lag.topics["orders"]
    assert topic.window_end.lag == [None]


def test_a_silent_group_that_lags_has_stopped() -> None:
    group = stopped(9)
    assert isinstance(group.state, GroupState)
    change = group.judged(heartbeat(50, 11)).change
    assert change is None  # it had stopped before
    judged = group.judged(heartbeat(51, 12))
    assert judged.lag.topics["orders"].status == ["STOP"]
    assert judged.lag.topics["orders"].lag == [12]


def test_what_is_published_is_what_the_contracts_allow() -> None:
    """Events are built without validation, so they are validated here."""
    for judged in Judge().all(commits(5, 6, 7, 0)):
        assert LagEvent.from_bytes(judged.lag.to_bytes()) == judged.lag
        if judged.change is not None:
            raw = judged.change.to_bytes()
            assert StatusChangeEvent.from_bytes(raw).to_bytes() == raw


def test_a_lag_event_has_the_window_edges() -> None:
    *_, last = Judge().all(commits(13, 11, 12))
    topic = last.lag.topics["orders"]
    assert topic.window_start.model_dump() == {
        "offset": [100],
        "at": [NOW],
        "observed_at": [NOW],
        "lag": [13],
    }
    assert topic.window_end.model_dump() == {
        "offset": [120],
        "at": [NOW + 2 * MINUTE],
        "observed_at": [NOW + 2 * MINUTE],
        "lag": [12],
    }
    assert topic.complete == [0.3]
    assert last.lag.complete == 0.0


def test_a_lag_event_has_all_commits_of_the_windows() -> None:
    *_, judged = Judge().all(commits(15, 14, 13))
    ends = judged.lag.topics["orders"].window_end
    newest = np.array([ends.offset, ends.at, ends.observed_at, ends.lag], np.int64)
    assert judged.lag.windows is not None
    found = unpack(judged.lag.windows, newest)
    assert found.filled.tolist() == [3]
    times = [NOW, NOW + MINUTE, NOW + 2 * MINUTE]
    assert found.columns[:, 0, -3:].tolist() == [[100, 110, 120], times, times, [15, 14, 13]]


def test_a_full_window_is_complete() -> None:
    last = Judge(Rules(intervals=3)).all(commits(3, 1, 2))[-1]
    assert last.lag.topics["orders"].complete == [1.0]
    assert last.lag.complete == 1.0


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
            at, {"orders": {0: At(100 + minute, at, 1)}}, source=source, position=position
        )
        judged = group.judged(event)
        assert judged.lag.topics["orders"].window_end.offset == [100 + minute]
    assert judged.lag.topics["orders"].window_start.offset == [100]
    assert judged.lag.topics["orders"].complete == [0.5]


def test_a_group_that_two_sources_know_has_no_position_and_continues_by_time() -> None:
    group = Judge()
    group.all(commits(5, 4, 3))
    for minute, position in ((5, -1), (6, -1), (7, 9)):
        at = NOW + minute * MINUTE
        topics = {"orders": {0: At(100 + minute, at, 1)}}
        judged = group.judged(offset_event(at, topics, position=position))
        assert judged.lag.topics["orders"].window_end.offset == [100 + minute]
        assert isinstance(group(offset_event(at, topics, position=position)), Duplicate)
    assert judged.lag.topics["orders"].complete == [0.6]


def test_a_heartbeat_is_no_commit() -> None:
    group = Judge()
    group.all(commits(5, 5, 5))
    judged = group.judged(heartbeat(3, 8))
    topic = judged.lag.topics["orders"]
    assert topic.window_end.at == [NOW + 2 * MINUTE]
    assert topic.complete == [0.3]
    assert topic.lag == [8]


def test_a_heartbeat_after_a_merged_commit_is_no_commit_either() -> None:
    """The slot has the offset of the second commit but the time of the first."""
    group = Judge()
    group.all(commits(5, 4, step_ms=900))
    at = At(110, NOW + 900, 4, commits=0)
    topic = group.judged(offset_event(NOW + 5 * MINUTE, {"orders": {0: at}})).lag.topics["orders"]
    assert (topic.window_end.at, topic.window_end.observed_at) == ([NOW], [NOW + 900])


def test_a_commit_that_is_reported_again_is_no_new_one() -> None:
    group = Judge()
    group.all(commits(15, 14))
    at = At(110, NOW + MINUTE, 9, commits=1)
    topic = group.judged(offset_event(NOW + 5 * MINUTE, {"orders": {0: at}})).lag.topics["orders"]
    assert topic.window_end.observed_at == [NOW + MINUTE]
    assert topic.window_end.lag == [14]


def test_the_first_event_fills_a_window_even_without_a_commit_of_its_own() -> None:
    judged = Judge().judged(heartbeat(9, 8))
    assert judged.lag.topics["orders"].window_end.offset == [120]


def test_commits_closer_than_the_minimum_distance_are_one() -> None:
    last = Judge().all(commits(5, 4, 3, step_ms=900))[-1]
    topic = last.lag.topics["orders"]
    assert topic.complete == [0.2]  # the third is 1.8 s after the first, which kept its time
    assert topic.window_start.offset == [110]
    assert topic.window_start.at == [NOW]


def test_a_partition_never_committed_is_there_but_ok_and_without_lag() -> None:
    event = offset_event(NOW, {"orders": {0: At(5, NOW), 1: At(-1, -1, commits=0, log_end=77)}})
    judged = Judge().judged(event)
    topic = judged.lag.topics["orders"]
    assert (topic.status[1], topic.committed[1], topic.lag[1]) == ("OK", -1, None)
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


def test_an_unknown_log_end_gives_an_unknown_lag_but_no_other_status() -> None:
    """While a broker is away the group is judged by where the log last ended."""
    group = stopped()
    event = offset_event(
        NOW + 60 * MINUTE, {"orders": {0: At(120, NOW + 2 * MINUTE, commits=0, log_end=-1)}}
    )
    judged = group.judged(event)
    assert judged.change is None
    assert judged.lag.topics["orders"].lag == [None]
    assert judged.lag.topics["orders"].status == ["STOP"]
    assert judged.lag.total_lag == 0


def test_a_log_end_that_was_never_known_leaves_a_partition_ok() -> None:
    group = Judge()
    for minute in (0, 1, 40):
        at = At(100 + minute, NOW + minute * MINUTE, log_end=-1, commits=int(minute < 2))
        judged = group.judged(offset_event(NOW + minute * MINUTE, {"orders": {0: at}}))
    assert judged.lag.status == "OK"


def test_a_log_that_was_caught_up_lately_has_not_stopped() -> None:
    group = Judge()
    group.all(commits(0, 0, 0))
    lags = [group.judged(heartbeat(40 + i, i)).lag.status for i in range(11)]
    assert lags == ["OK"] * 10 + ["ERR"]  # remembered for as long as a window is: ten events


@pytest.mark.parametrize(
    ("event", "where"),
    [
        (offset_event(NOW, {"t": {0: At(2**63, NOW)}}), "topics.t.committed"),
        (offset_event(NOW, {"t": {0: At(1, -(2**63) - 1)}}), "topics.t.committed_at"),
        (offset_event(NOW, {"t": {0: At(1, NOW, commits=2**63)}}), "topics.t.commits"),
        (offset_event(NOW, {"t": {2**31: At(1, NOW)}}), "topics.t.partition"),
        (offset_event(NOW, position=2**63), "position"),
        (offset_event(-1, position=1), "observed_at"),
        (offset_event(2**62, position=1), "observed_at"),
    ],
)
def test_numbers_beyond_kafkas_are_refused(event: OffsetEvent, where: str) -> None:
    with pytest.raises(ContractViolation, match=f"^{where}: "):
        Judge()(event)


def test_extreme_numbers_within_kafkas_are_judged() -> None:
    """Nothing wraps around: neither times nor lags nor their sum."""
    largest = 2**63 - 1
    group = Judge()
    sane = At(5, NOW)
    for i, time in enumerate((-(2**63), largest, 0)):
        at = At(largest - i, time, log_end=largest)
        judged = group.judged(offset_event(NOW + i, {"orders": {0: at, 1: at, 2: sane}}))
    assert judged.lag.topics["orders"].lag == [2, 2, 0]
    assert LagEvent.from_bytes(judged.lag.to_bytes()) == judged.lag
    behind = At(0, 0, log_end=largest)
    judged = group.judged(offset_event(NOW + 3, {"orders": {0: behind, 1: behind}}))
    assert judged.lag.total_lag == 2 * largest


def test_a_silly_commit_time_does_not_wrap_around() -> None:
    at = {0: At(5, -(2**63), lag=2), 1: At(5, 2**63 - 1, lag=2), 2: At(5, NOW)}
    judged = Judge().judged(offset_event(NOW + 1000, {"orders": at}))
    assert judged.lag.topics["orders"].status == ["STOP", "STALL", "OK"]


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


def rules_of(*overrides: EvaluationOverride) -> GroupRules:
    return RuleBook(EvaluationSettings(overrides=list(overrides))).rules_for("prod", "billing")


def test_topics_of_a_group_may_be_judged_by_different_rules() -> None:
    """The lag rises from 0: a window that has the 0 still is OK, one that has lost it is not."""
    group = Judge(
        rules_of(
            EvaluationOverride(topics=["^wiki"], policy="wiki"),
            EvaluationOverride(topics=["^short"], intervals=3),
            EvaluationOverride(topics=["^allowed"], allowed_lag=5),
            EvaluationOverride(topics=["^far"], min_distance=150),
        )
    )
    topics = ("allowed", "burrow", "far", "short", "wiki")
    for minute, lag in enumerate([0, 3, 6, 9, 12]):
        now = NOW + minute * MINUTE
        at = {0: At(100 + minute, now, lag)}
        judged = group.judged(offset_event(now, dict.fromkeys(topics, at)))
    found = {topic: columns.status[0] for topic, columns in judged.lag.topics.items()}
    assert found == dict(zip(topics, ("OK", "OK", "WARN", "WARN", "OK"), strict=True))
    complete = {topic: columns.complete[0] for topic, columns in judged.lag.topics.items()}
    assert complete == dict(zip(topics, (0.5, 0.5, 0.2, 1.0, 0.5), strict=True))


def test_a_shorter_window_of_one_topic_is_that_of_a_group_with_short_windows() -> None:
    mixed = Judge(rules_of(EvaluationOverride(topics=["^b"], intervals=3)))
    short = Judge(Rules(intervals=3))
    for minute, (offset, lag) in enumerate([(10, 0), (20, 5), (30, 6), (25, 7), (40, 8), (40, 9)]):
        now = NOW + minute * MINUTE
        at = {0: At(offset, now, lag)}
        expected = short.judged(offset_event(now, {"b": at}))
        judged = mixed.judged(offset_event(now, {"a": at, "b": at}))
        assert judged.lag.topics["b"] == expected.lag.topics["b"]


def test_rules_may_change_while_a_group_is_judged() -> None:
    """As after a restart with other settings: to progress, which begins to learn, and back."""
    group = Judge()
    group.all(commits(5, 4, 3))
    for minute, policy in ((3, "progress"), (4, "progress"), (5, "burrow")):
        group.rules = Rules(policy=policy)
        judged = group.judged(heartbeat(minute, 3))
        assert isinstance(group.state, GroupState)
        assert (group.state.track is not None) == (policy == "progress")
        assert judged.lag.policy == policy


def test_who_is_not_ok_says_why() -> None:
    """In the lag event for each partition and the group, and in the change for those it lists."""
    group = Judge()
    for minute in range(4):
        now = NOW + minute * MINUTE
        rising = At(100 + minute, now, 60 * minute + 2)
        topics = {"a": {0: At(100 + minute, now), 1: rising}, "b": {0: rising}}
        judged = group.judged(offset_event(now, topics))
        if minute == 0:
            first = judged
    sentence = (
        "lag has not shrunk over 4 commits in 3 m: from 2 to 182; "
        "182 records behind, log still growing by 1/s"
    )
    lag = judged.lag
    assert lag.topics["a"].reason == [None, "lag_not_shrinking"]
    assert lag.topics["a"].explanation == [None, sentence]
    assert lag.topics["b"].reason == ["lag_not_shrinking"]
    assert lag.reason == "lag_not_shrinking"
    assert lag.explanation == f"a/1 WARN: {sentence}; 1 more is not OK"
    assert first.change is not None
    data = first.change.data
    assert (data.reason, data.explanation) == (first.lag.reason, first.lag.explanation)
    listed = [(bad.topic, bad.reason, bad.explanation) for bad in data.partitions]
    assert [entry[:2] for entry in listed] == [("a", data.reason), ("b", data.reason)]
    assert listed[0][2] == first.lag.topics["a"].explanation[1]


def test_a_group_that_is_ok_again_has_no_reason() -> None:
    judged = Judge().all(commits(11, 12, 13, 12))[-1]
    assert judged.change is not None
    assert (judged.change.data.reason, judged.change.data.explanation) == (None, None)
    assert (judged.lag.reason, judged.lag.explanation) == (None, None)
    assert judged.lag.topics["orders"].reason == judged.lag.topics["orders"].explanation == [None]


def test_a_sentence_of_progress_tells_the_pause_it_has_learnt() -> None:
    group = Judge(Rules(policy="progress"))
    for i in range(12):
        at = At(1000 + 200 * i, NOW + i * 5000, 5 * (i % 2))
        group.judged(offset_event(NOW + i * 5000, {"orders": {0: at}}))
    last = NOW + 11 * 5000
    for seconds in range(10, 253, 10):
        silent = At(3200, last, 5 + 40 * seconds, commits=0)
        judged = group.judged(offset_event(last + seconds * 1000, {"orders": {0: silent}}))
    assert judged.lag.explanation == (
        "orders/0 STOP: no commit for 4 m 10 s, usual pause 5 s; "
        "10,005 records behind, log still growing by 40/s"
    )
    assert judged.lag.reason == "no_commit"
