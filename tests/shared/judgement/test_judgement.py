"""Judgement: events in, statuses out."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st
from support.offset_events import MINUTE, NOW, At, Judge, commits, heartbeat, offset_event
from warren.contracts import LagEvent, OffsetEvent
from warren.settings import EvaluationOverride, EvaluationSettings, PolicyName
from warren_core.evaluation import GroupRules, RuleBook, Rules
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import decode, encode


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


# Explanations of groups that are followed: true in every sample, and of the whole incident.

STEP = 2000
MINUTE_STEPS = 60_000 // STEP


def life(*ats: At) -> Iterator[OffsetEvent]:
    """One look at orders/0 every two seconds."""
    for i, at in enumerate(ats):
        yield offset_event(NOW + i * STEP, {"orders": {0: at}})


def committing(offset: int, i: int, log_end: int) -> At:
    return At(offset, NOW + i * STEP, log_end=log_end)


def explained(ats: list[At], policy: PolicyName = "burrow") -> list[tuple[str, str, int]]:
    """(status, explanation, lag) of each look; the state goes through its bytes each time."""
    group = Judge(Rules(policy=policy))
    said = []
    for event in life(*ats):
        outcome = group.judged(event)
        columns = outcome.lag.topics["orders"]
        said.append((columns.status[0], columns.explanation[0] or "", columns.lag[0] or 0))
        group.state = decode(encode(outcome.state))
    return said


def test_a_stall_speaks_of_the_incident_and_not_of_the_window() -> None:
    """Commits every two seconds for 11 minutes: the window knows 20 s of them."""
    moves = [committing(10 * i, i, 10 * i + 5) for i in range(20)]
    steps = 11 * MINUTE_STEPS + 1
    stands = [committing(190, i, 200 + 10 * i) for i in range(20, 20 + steps)]
    status, sentence, _ = explained(moves + stands)[-1]
    assert status == "STALL"
    assert "at offset 190 for 11m" in sentence


def test_the_rate_does_not_alternate() -> None:
    """A look with a commit, a look without: the log grows by 25/s throughout."""
    ats = [At(100, NOW + (i - i % 2) * STEP, log_end=200 + 50 * i, commits=1 - i % 2)
           for i in range(60)]  # fmt: skip
    said = [sentence for status, sentence, _ in explained(ats)[20:] if status == "STALL"]
    assert len(said) > 30
    assert {re.findall(r"growing by (\S+)", sentence)[0] for sentence in said} == {"25/s"}


looks = st.lists(
    st.tuples(st.sampled_from([0, 0, 1]), st.sampled_from([0, 0, 5, 40]), st.integers(0, 30)),
    min_size=40,
    max_size=160,
)


@pytest.mark.heavy
@given(looks, st.sampled_from(["burrow", "progress"]))
def test_what_is_said_is_true_in_every_sample(
    moves: list[tuple[int, int, int]], policy: PolicyName
) -> None:
    committed, committed_at, log_end, ats = 0, NOW, 100, []
    for i, (count, advance, grown) in enumerate(moves):
        log_end += grown
        if count:
            committed, committed_at = min(committed + advance, log_end), NOW + i * STEP
        ats.append(At(committed, committed_at, log_end=log_end, commits=count))
    for i, (status, sentence, lag) in enumerate(explained(ats, policy)):
        if status == "STOP" and (
            said := re.match(r"no commit for (.*), usual pause (.*);", sentence)
        ):
            assert (
                milliseconds(said[2])
                <= milliseconds(said[1])
                <= NOW + i * STEP - ats[i].committed_at
            )
        if "lag growing" in sentence or "lag shrinking" in sentence:
            assert status == "WARN"
            assert lag > 0


# Explanations of groups that are followed: true in every sample, and of the whole incident.


def milliseconds(words: str) -> int:
    if words in ("<1s", "usual pause not known yet"):
        return 0
    units = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
    return sum(int(n) * units[unit] * 1000 for n, unit in re.findall(r"(\d+) ([dhms])", words))


def test_the_words_of_progress_occur_in_what_is_tried() -> None:
    """A lag that grows in a saw tooth: each commit shrinks it for a moment."""
    sawtooth = [
        At(8 * (i - i % 5), NOW + (i - i % 5) * STEP, log_end=20 * i + 100, commits=int(i % 5 == 0))
        for i in range(400)
    ]
    warned = [text for status, text, _ in explained(sawtooth, "progress") if status == "WARN"]
    assert warned
    assert all(text.startswith("lag growing, for") for text in warned)


def test_a_reset_of_who_is_away_is_told_with_how_long_nothing_was_read() -> None:
    ats = [At(i * 10, NOW + i * STEP, log_end=i * 10) for i in range(100)]
    ats += [At(990, NOW + 99 * STEP, log_end=i * 10, commits=0) for i in range(100, 160)]
    ats += [At(90, NOW + 160 * STEP, log_end=1600)]
    status, text, _ = explained(ats, "progress")[-1]
    assert status == "STOP"
    assert text.startswith(
        "nothing read for 2m; committed offset went back from 990 0s ago and is at "
        "90; 1,510 records behind"
    )


def test_progress_says_of_a_replay_when_it_is_caught_up() -> None:
    ats = [At(i * 10, NOW + i * STEP, log_end=i * 10) for i in range(100)]
    for i in range(100, 160):
        ats.append(At(300 + (i - 100) * 15, NOW + i * STEP, log_end=i * 10))
    said = explained(ats, "progress")
    rewinds = [status for status, _, _ in said if status == "REWIND"]
    replays = [text for status, text, _ in said if status == "WARN"]
    assert rewinds
    assert "replaying: went back from 990" in replays[-1]
    assert "caught up in about" in replays[-1]


@pytest.mark.heavy
def test_progress_says_how_late_a_backlog_is_that_does_not_shrink() -> None:
    stops, ats = 1_200_000 // STEP, [At(i * 10, NOW + i * STEP, log_end=i * 10) for i in range(100)]
    ats += [At(990, NOW + 99 * STEP, log_end=i * 10, commits=0) for i in range(100, 100 + stops)]
    for i in range(100 + stops, 200 + stops):
        ats.append(At((i - stops) * 10, NOW + i * STEP, log_end=i * 10))
    status, text, _ = explained(ats, "progress")[-1]
    assert status == "WARN"
    assert "about 20m" in text
    assert "late, not catching up" in text


@pytest.mark.heavy
def test_progress_says_that_nobody_is_there_any_more() -> None:
    """Looked at when it was silent for too long already."""
    first, last = _nobody_is_there(seen_after=24)
    assert "no commit for 48s, usual pause 2s, no members any more" in first
    assert "no commit for 1m 58s, usual pause 2s, no members seen for 1m 10s" in last


def _nobody_is_there(seen_after: int) -> tuple[str, str]:
    """What is said first and last of who has members for an hour, and is then seen to have none so
    many observations after its last commit."""
    group = Judge(Rules(policy="progress"))
    there, steps = 60 * MINUTE_STEPS, 62 * MINUTE_STEPS
    said = []
    for i in range(steps):
        last = min(i, there)
        at = At(last, NOW + last * STEP, log_end=i + 1, commits=int(i <= there))
        event = offset_event(NOW + i * STEP, {"orders": {0: at}})
        state = "Stable" if i < there + seen_after else "Empty"
        outcome = group.judged(event.model_copy(update={"group_state": state}))
        column = outcome.lag.topics["orders"]
        if column.status[0] != "OK":
            assert column.status[0] == "STOP"
            said.append(column.explanation[0] or "")
        group.state = decode(encode(outcome.state))
    return said[0], said[-1]


@pytest.mark.heavy
def test_who_rebalances_without_end_is_told_so() -> None:
    """Processing takes longer than the session: nothing is read for nine minutes."""
    group = Judge(Rules(policy="progress"))
    for i in range(600):
        last = min(i, 330)
        at = At(last * 10, NOW + last * STEP, log_end=i * 10, commits=int(i == last))
        state = "PreparingRebalance" if i > last and i % 30 < 20 else "Stable"
        event = offset_event(NOW + i * STEP, {"orders": {0: at}}, group_state=state)
        told = group.judged(event).lag.topics["orders"]
    assert told.status == ["STOP"]
    assert ", rebalanced for at least 5m of it, with" in (told.explanation[0] or "")


def test_a_silence_that_begins_after_a_rest_says_since_when_there_is_something_to_read() -> None:
    """All was read for ten minutes; then records come, and nobody reads."""
    ats = [At(10 * i, NOW + i * STEP, log_end=10 * i) for i in range(200)]
    last, rest = ats[-1].committed, 600_000 // STEP
    for i in range(200, 200 + rest + 60_000 // STEP):
        written = max(i - 200 - rest, 0)
        ats.append(At(last, NOW + 199 * STEP, log_end=last + written, commits=0))
    *_, (status, said, _) = explained(ats, "progress")
    assert status == "STOP"
    assert re.search(r"no commit for 1\dm.*, with records to read for \d+s;", said), said
