"""What was before a position's first event: taken in where nothing is known, and nowhere else."""

from typing import Any

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import EarlierPositions, OffsetEvent
from warren.errors import ContractViolation
from warren_core.evaluation import Rules

S = 1_000


def earlier(**columns: Any) -> dict[str, EarlierPositions]:
    lists = {"log_end": [[]], "committed": [[]], "committed_at": [[]], **columns}
    return {"orders": EarlierPositions(partition=[0], **lists)}


# Columns: what is declared decides what is kept of them, in parts and in bytes.


def event(seconds: int, at: At, **columns: Any) -> OffsetEvent:
    more = {"earlier": earlier(**columns)} if columns else {}
    return offset_event(NOW + seconds * S, {"orders": {0: at}}, **more)


def test_a_window_is_filled_by_the_commits_before_its_first() -> None:
    group = Judge()
    judged = group.judged(
        event(
            0,
            At(70, NOW - 5 * S, lag=30),
            committed=[[10, 30, 50]],
            committed_at=[[NOW - 185 * S, NOW - 125 * S, NOW - 65 * S]],
        )
    )
    topic = judged.lag.topics["orders"]
    assert topic.complete == [0.4]
    assert topic.window_start.model_dump() == {
        "offset": [10],
        "at": [NOW - 185 * S],
        "observed_at": [NOW],
        "lag": [90],
    }
    # It commits once a minute: silence for so long is no stop.
    assert group.judged(event(120, At(70, NOW - 5 * S, lag=300, commits=0))).lag.status == "OK"
    stopped = group.judged(event(200, At(70, NOW - 5 * S, lag=500, commits=0)))
    assert stopped.lag.topics["orders"].status == ["STOP"]


def test_the_newest_commit_follows_those_before_it() -> None:
    """A topic at rest for minutes when Warren starts: its next record is no backlog."""
    group, times = Judge(), [NOW - (200 + 5 * n) * S for n in range(9, 0, -1)]
    before = {"committed": [list(range(25, 70, 5))], "committed_at": [times]}
    at_rest = At(70, NOW - 200 * S, commits=0)
    first = group.judged(event(0, at_rest, log_end=[[70] * 10], **before))
    end = first.lag.topics["orders"].window_end.model_dump()
    assert (end["offset"], end["at"]) == ([70], [NOW - 200 * S])
    assert group.judged(event(20, At(70, NOW - 200 * S, lag=1, commits=0))).lag.status == "OK"


def test_a_commit_that_had_reached_the_log_end_before_was_not_behind() -> None:
    """One record has just come on a log at rest, and the group committed the same all the time."""
    times = [NOW - age * S for age in (25, 20, 15, 10, 5)]
    judged = Judge().judged(
        event(
            0,
            At(100, NOW, lag=1),
            log_end=[[100] * 9],
            committed=[[100] * 5],
            committed_at=[times],
        )
    )
    assert judged.lag.status == "OK"
    assert judged.lag.topics["orders"].window_start.lag == [0]


def test_log_ends_before_the_first_commit_show_that_it_was_caught_up() -> None:
    ends = [[60, 100, 140, 180]]
    knows, does_not = Judge(), Judge()
    first = At(80, NOW - 5 * S, log_end=220)
    knows.judged(event(0, first, log_end=ends))
    does_not.judged(event(0, first))
    later = event(320, At(80, NOW - 5 * S, commits=0, log_end=340))
    assert knows.judged(later).lag.topics["orders"].status == ["STALL"]
    assert does_not.judged(later).lag.topics["orders"].status == ["STOP"]


def test_what_is_known_stays() -> None:
    """As when a collector begins anew: to it, all positions are new."""
    group, same = Judge(), Judge()
    for judge in (group, same):
        judge.judged(event(0, At(80, NOW, lag=20)))
    told_again = event(
        10, At(90, NOW + 9 * S, lag=20), log_end=[[1]], committed=[[2]], committed_at=[[3]]
    )
    plain = event(10, At(90, NOW + 9 * S, lag=20))
    assert group.judged(told_again).lag == same.judged(plain).lag


def test_an_event_says_nothing_of_it_when_there_is_nothing() -> None:
    assert b"earlier" not in event(0, At(80, NOW)).to_bytes()
    said = event(0, At(80, NOW), log_end=[[7, 8]])
    assert OffsetEvent.from_bytes(said.to_bytes()) == said


@pytest.mark.parametrize(
    "columns",
    [
        {"committed": [[2**63]], "committed_at": [[1]]},
        {"committed": [[1]], "committed_at": [[2**63]]},
        {"log_end": [[2**63]]},
    ],
)
def test_numbers_beyond_kafkas_are_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(ContractViolation, match=r"earlier\.orders"):
        Judge()(event(0, At(80, NOW), **columns))


def test_columns_of_different_length_are_refused() -> None:
    for columns in ({"log_end": [[], []]}, {"committed": [[1]]}):
        with pytest.raises(ValueError, match="length"):
            earlier(**columns)


@pytest.mark.parametrize(("apart", "until_stopped"), [(5, 310), (1800, 2270)])
def test_progress_expects_pauses_as_those_before(apart: int, until_stopped: int) -> None:
    """Each 5 s, or each half hour. Who has not advanced yet has five minutes."""
    group = Judge(Rules(policy="progress"))
    times = [NOW - (60 + n * apart) * S for n in range(9, 0, -1)]
    before = {"committed": [list(range(10, 100, 10))], "committed_at": [times]}
    at = NOW - 60 * S
    group.judged(event(0, At(100, at, lag=5), **before))
    for second in range(10, 3600, 10):
        told = group.judged(event(second, At(100, at, lag=5 + second, commits=0)))
        if told.lag.status != "OK":
            break
    assert second == pytest.approx(until_stopped, abs=60)
