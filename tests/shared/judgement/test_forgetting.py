"""Forgetting on request: gone at once, back with the next commit, whatever is told in between."""

from typing import Any

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import OffsetEvent, StatusChange
from warren_core.evaluation import Rules
from warren_core.judgement.judge import Ended, Judged, Nothing
from warren_core.judgement.state import GroupGone, GroupState
from warren_core.judgement.state_codec import decode, encode

TOPICS = ("orders", "quiet")


def told(minute: float, *, commits: dict[str, int] | None = None, lag: int = 50) -> OffsetEvent:
    """Where the group stands. Two partitions a topic; `commits`: which one of a topic commits."""
    at = NOW + round(minute * MINUTE)
    which = commits or {}
    return offset_event(
        at,
        {
            topic: {
                n: At(100 + round(minute), at, lag)
                if which.get(topic) == n
                else At(90, NOW, lag, commits=0)
                for n in (0, 1)
            }
            for topic in TOPICS
        },
    )


def request(minute: float, *topics: str) -> OffsetEvent:
    return offset_event(NOW + round(minute * MINUTE), forget=list(topics), position=-1)


@pytest.fixture
def stalled() -> Judge:
    """A group that stands still although there is lag: both topics have an open incident."""
    group = Judge()
    for minute in range(3):
        at = NOW + minute * MINUTE
        group(offset_event(at, {topic: {0: At(90, at, 50), 1: At(90, at, 50)} for topic in TOPICS}))
    assert isinstance(group.state, GroupState)
    assert group.state.opened_at is not None
    return group


def stored(group: Judge) -> Judge:
    """As a worker has it that read the state from the table."""
    assert group.state is not None
    return Judge(group.rules, decode(encode(group.state)))


def test_a_forgotten_group_ends_with_its_incident(stalled: Judge) -> None:
    assert isinstance(stalled.state, GroupState)
    opened_at = stalled.state.opened_at
    ended = stalled(request(2.1))
    assert isinstance(ended, Ended)
    assert ended.change is not None
    data = ended.change.data
    assert (data.status, data.previous, data.reason) == ("NOTFOUND", "ERR", "group_forgotten")
    assert data.opened_at == opened_at


def test_it_stays_forgotten_while_it_does_not_commit(stalled: Judge) -> None:
    stalled(request(2.1))
    group = stored(stalled)
    for minute in (3, 4, 50):
        assert isinstance(group(told(minute)), Nothing)


def test_its_next_commit_brings_back_that_partition_only(stalled: Judge) -> None:
    stalled(request(2.1))
    group = stored(stalled)
    back = group.judged(told(3, commits={"orders": 1}, lag=0))
    assert list(back.lag.topics) == ["orders"]
    orders = back.lag.topics["orders"]
    assert orders.partition == [1]
    assert orders.committed == [103]
    assert orders.lag == [0]
    assert orders.complete == [0.1]
    assert (back.lag.status, back.change) == ("OK", None)

    again = stored(group).judged(told(4))
    assert list(again.lag.topics) == ["orders"]
    assert again.lag.topics["orders"].partition == [1]
    whole = group.judged(told(5, commits={"orders": 0, "quiet": 0}))
    assert {t: c.committed for t, c in whole.lag.topics.items()} == {
        "orders": [105, 90],
        "quiet": [105],
    }


def test_a_forgotten_topic_leaves_the_others(stalled: Judge) -> None:
    judged = stalled.judged(request(2.1, "orders"))
    assert list(judged.lag.topics) == ["quiet"]
    assert judged.lag.evaluated_at == NOW + 2 * MINUTE
    assert judged.lag.status == "ERR"
    assert judged.change is None
    later = stored(stalled).judged(told(3))
    assert list(later.lag.topics) == ["quiet"]
    assert later.lag.total_lag == 100


def test_forgetting_the_last_bad_topic_ends_the_incident() -> None:
    group = Judge()
    for minute in range(3):
        at = NOW + minute * MINUTE
        topics = {"orders": {0: At(90, at, 50)}, "quiet": {0: At(90 + minute, at)}}
        group(offset_event(at, topics))
    judged = group.judged(request(2.1, "orders"))
    assert (judged.lag.status, judged.lag.incident) == ("OK", None)
    assert judged.change is not None
    assert (judged.change.data.status, judged.change.data.previous) == ("OK", "ERR")


def test_a_group_without_any_topic_left_is_forgotten(stalled: Judge) -> None:
    assert isinstance(stalled(request(2.1, "orders")), Judged)
    assert isinstance(stalled(request(2.2, "quiet")), Ended)
    assert isinstance(stalled(told(3)), Nothing)


def test_a_replayed_request_does_not_forget_what_came_after_it(stalled: Judge) -> None:
    asked = request(2.1)
    stalled(asked)
    stalled(told(3, commits={"orders": 1}))
    again = stalled(asked)
    if isinstance(again, Judged):
        assert again.lag.topics["orders"].committed[-1] == 103
    assert isinstance(stalled.state, GroupState)
    after = stalled.judged(told(4, commits={"orders": 1}))
    assert after.lag.topics["orders"].committed == [104]
    assert list(after.lag.topics) == ["orders"]


def test_what_is_not_known_cannot_be_forgotten(stalled: Judge) -> None:
    assert isinstance(Judge()(request(1)), Nothing)
    before = stalled.state
    assert isinstance(stalled(request(2.1, "nope")), Nothing)
    assert stalled.state is before


def test_a_forgotten_group_can_be_deleted(stalled: Judge) -> None:
    stalled(request(2.1))
    ended = stalled(offset_event(NOW + 3 * MINUTE, deleted=True))
    assert isinstance(ended, Ended)
    assert ended.change is None
    assert isinstance(ended.state, GroupGone)


def test_removed_partitions_are_no_longer_remembered_as_forgotten(stalled: Judge) -> None:
    stalled(request(2.1))
    left = told(3, commits={"quiet": 0}).model_copy(update={"removed": {"orders": [0, 1]}})
    stalled(left.model_copy(update={"topics": {"quiet": left.topics["quiet"]}}))
    assert isinstance(stalled.state, GroupState)
    assert dict(stalled.state.forgotten) == {"quiet": frozenset({1})}


def test_requests_observe_nothing(stalled: Judge) -> None:
    """What is told afterwards is not taken for older, whatever the requester's clock says."""
    stalled(request(1000, "orders"))
    assert isinstance(stalled(told(3)), Judged)


# Committed offsets go while records are unread: that is no recovery, and what was left is told.

WEEK_MS = 7 * 86_400_000


def stopped() -> tuple[Judge, int]:
    """A group that reads payments/0 and has left 800 records in each partition of orders; when it
    was seen last.
    """
    group = Judge(Rules(policy="progress"))
    for now in range(NOW, NOW + 40 * MINUTE, 20_000):
        works = now - NOW < 10 * MINUTE
        at = min((now - NOW) // 20_000, 30)
        end = at if works else at + 800
        orders = At(at, min(now, NOW + 10 * MINUTE), log_end=end, commits=int(works))
        read = At((now - NOW) // 1000, now, log_end=(now - NOW) // 1000)
        topics = {"orders": {0: orders, 1: orders}, "payments": {0: read}}
        outcome = group.judged(offset_event(now, topics))
    assert outcome.lag.status == "ERR"
    return group, now


def last_change(group: Judge, at: int, **event: Any) -> StatusChange:
    outcome = group(offset_event(at, **event))
    assert isinstance(outcome, Ended | Judged)
    assert outcome.change is not None
    return outcome.change.data


LEFT = (
    ", 1,600 records in orders unread; clients start there where their auto.offset.reset says, "
    "by default at the log's end"
)


@pytest.mark.parametrize(
    ("event", "reason", "explanation"),
    [
        (
            {"expired_after_ms": WEEK_MS},
            "offsets_expired",
            f"its committed offsets have expired, 7d without a commit{LEFT}",
        ),
        ({}, "group_deleted", f"the group was deleted{LEFT}"),
        (  # nobody has deleted it: its clients go on where they were
            {"unwatched": True},
            "not_watched",
            "it is not watched any more: the collector's settings leave it out",
        ),
    ],
)
def test_why_a_group_ends(event: dict[str, Any], reason: str, explanation: str) -> None:
    group, now = stopped()
    end = last_change(group, now + 1, deleted=True, **event)
    assert (end.status, end.reason, end.explanation) == ("NOTFOUND", reason, explanation)


@pytest.mark.parametrize(
    ("expired_after_ms", "reason", "why"),
    [
        (WEEK_MS, "offsets_expired", "its committed offsets have expired, 7d without a commit"),
        (None, "offsets_deleted", "its committed offsets, or their topics, were deleted"),
    ],
)
def test_offsets_of_one_topic(expired_after_ms: int | None, reason: str, why: str) -> None:
    """The group goes on with the other; it is OK because nobody knows any more what it left."""
    group, now = stopped()
    offset = (now - NOW) // 1000
    topics = {"payments": {0: At(offset, now, log_end=offset)}}
    removed = {"orders": [0, 1]}
    end = last_change(
        group, now + 1, topics=topics, removed=removed, expired_after_ms=expired_after_ms
    )
    assert (end.status, end.reason) == ("OK", reason)
    assert end.explanation == why + LEFT


@pytest.mark.parametrize(
    ("rate", "reads", "state", "reason"),
    [
        (20, 0, "Empty", "records_skipped"),
        (20, 0, "Stable", None),  # nobody knows how fast it can read
        (10_000, 0.3, "Stable", "records_skipped"),
    ],
)
def test_a_leap_is_no_recovery(rate: int, reads: float, state: str, reason: str | None) -> None:
    """It reads less for half an hour; offsets are set to the end, or sought, or all is read."""
    group, read = Judge(Rules(policy="progress")), 0
    for second in range(0, 3000, 5):
        now, share = NOW + second * 1000, reads if 600 <= second < 2400 else 10**6
        before, read = read, min(read + int(rate * 5 * share), rate * second)
        at = At(read, NOW, log_end=rate * second, commits=int(read > before))
        there = "Stable" if second < 900 else state
        change = group.judged(offset_event(now, {"orders": {0: at}}, group_state=there)).change
        if change is not None and change.data.status == "OK":
            break
    assert change is not None
    said = f"were set further on, {rate * second - before:,} records in orders skipped"
    assert change.data.reason == reason
    assert (change.data.explanation or "").endswith(said if reason else "")


def test_recovery_has_no_reason() -> None:
    group, now = stopped()
    offset = (now - NOW) // 1000
    read = At(830, now + 1, log_end=830)
    topics = {"orders": {0: read, 1: read}, "payments": {0: At(offset, now, log_end=offset)}}
    end = last_change(group, now + 1, topics=topics)
    assert (end.status, end.reason, end.explanation) == ("OK", None, None)


def test_offsets_of_what_is_read_go_without_a_word() -> None:
    group = Judge(Rules(policy="progress"))
    group.judged(offset_event(NOW, {"orders": {0: At(5, NOW, log_end=5)}}))
    outcome = group(offset_event(NOW + 1, deleted=True, expired_after_ms=WEEK_MS))
    assert isinstance(outcome, Ended)
    assert outcome.change is None
