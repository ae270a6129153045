"""Committed offsets go while records are unread: that is no recovery, and what was left is told."""

from typing import Any

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import StatusChange
from warren_core.evaluation import Rules
from warren_core.judgement.judge import Ended, Judged

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


def test_group_whose_offsets_expired() -> None:
    group, now = stopped()
    end = last_change(group, now + 1, deleted=True, expired_after_ms=WEEK_MS)
    assert (end.status, end.reason) == ("NOTFOUND", "offsets_expired")
    assert end.explanation == f"its committed offsets have expired, 7d without a commit{LEFT}"


def test_group_that_somebody_deleted() -> None:
    group, now = stopped()
    end = last_change(group, now + 1, deleted=True)
    assert (end.status, end.reason) == ("NOTFOUND", "group_deleted")
    assert end.explanation == f"the group was deleted{LEFT}"


def test_group_that_the_settings_leave_out() -> None:
    """Nobody has deleted it: its clients go on where they were."""
    group, now = stopped()
    end = last_change(group, now + 1, deleted=True, unwatched=True)
    assert (end.status, end.reason) == ("NOTFOUND", "not_watched")
    assert end.explanation == ("it is not watched any more: the collector's settings leave it out")


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


def test_offsets_that_were_set_further_on_are_no_recovery() -> None:
    """An operator may do so where nobody is there; members that come and read recover."""
    for state, reason in (("Empty", "records_skipped"), ("Stable", None)):
        group = Judge(Rules(policy="progress"))
        for second in range(0, 600, 5):
            read = min(second, 300) * 10
            at = {"orders": {0: At(read, NOW, log_end=10 * second, commits=int(second <= 300))}}
            now = NOW + second * 1000
            group.judged(offset_event(now, at, group_state="Stable" if second < 400 else state))
        end = last_change(
            group, now + 5000, topics={"orders": {0: At(5990, now + 5000)}}, group_state=state
        )
        assert (end.status, end.reason) == ("OK", reason)
        said = "set further on while nobody was there to read, 2,990 records in orders skipped"
        assert (said in (end.explanation or "")) == (reason is not None)


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
