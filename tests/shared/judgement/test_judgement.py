"""Judgement: events in, statuses out."""

from support.offset_events import MINUTE, NOW, At, Judge, commits, heartbeat, offset_event
from warren.contracts import LagEvent
from warren.settings import EvaluationOverride, EvaluationSettings
from warren_core.evaluation import GroupRules, RuleBook, Rules
from warren_core.judgement.state import GroupState


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
    assert statuses(Judge(), 111, 112, 113, 112) == ["ERR", "WARN", "WARN", "OK"]


def test_a_consumer_that_had_read_all_that_was_there_was_not_behind() -> None:
    """It commits 5 s apart and is looked at 2 s later, when there always is something new."""
    group = Judge()
    ends = [1000 + 500 * i for i in range(12)]
    events = [
        offset_event(NOW + 5000 * i, {"orders": {0: At(end - 200, NOW + 5000 * i - 2000, 200)}})
        for i, end in enumerate(ends)
    ]
    judged = group.all(events)
    assert [one.lag.status for one in judged][-9:] == ["OK"] * 9
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
    assert (judged.lag.total_lag, judged.lag.unknown_partitions) == (9, 1), "at least"
    assert judged.lag.is_known


def test_a_log_that_was_caught_up_lately_has_not_stopped() -> None:
    group = Judge()
    group.all(commits(0, 0, 0))
    lags = [group.judged(heartbeat(40 + i, i)).lag.status for i in range(11)]
    assert lags == ["OK"] * 10 + ["ERR"]  # remembered for as long as a window is: ten events


def test_extreme_numbers_within_kafkas_are_judged() -> None:
    """Nothing wraps around, and a sum has room where a whole number has 64 bits."""
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
    assert judged.lag.total_lag == largest


def rules_of(*overrides: EvaluationOverride) -> GroupRules:
    return RuleBook(EvaluationSettings(policy="burrow", overrides=list(overrides))).rules_for(
        "prod", "billing"
    )


def test_topics_of_a_group_may_be_judged_by_different_rules() -> None:
    """The lag rises from 0: a window that has the 0 still is OK, one that has lost it is not."""
    group = Judge(
        rules_of(
            EvaluationOverride(topics=["^usual"], policy="progress"),
            EvaluationOverride(topics=["^short"], intervals=3),
            EvaluationOverride(topics=["^allowed"], allowed_lag=5),
            EvaluationOverride(topics=["^far"], min_distance=150),
        )
    )
    topics = ("allowed", "burrow", "far", "short", "usual")
    for minute, lag in enumerate([0, 3, 6, 9, 12]):
        now = NOW + minute * MINUTE
        at = {0: At(100 + minute, now, lag)}
        judged = group.judged(offset_event(now, dict.fromkeys(topics, at)))
    found = {topic: columns.status[0] for topic, columns in judged.lag.topics.items()}
    assert found == dict(zip(topics, ("OK", "OK", "WARN", "WARN", "OK"), strict=True))
    complete = {topic: columns.complete[0] for topic, columns in judged.lag.topics.items()}
    assert complete == dict(zip(topics, (0.5, 0.5, 0.2, 1.0, 0.5), strict=True))


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
