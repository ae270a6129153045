"""Causes: what speaks for each, and that nothing is said where too little does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.offset_events import NOW, At, offset_event
from warren.contracts import Cause, GroupEvent, GroupMember, LagEvent, OffsetEvent
from warren.evaluation import GroupRules, Rules
from warren.judgement.facts import Knowledge
from warren.judgement.judge import Judged, judge
from warren.judgement.membership import (
    CorruptMembership,
    Membership,
    decode,
    encode,
    membership_after,
)
from warren.judgement.state import GroupState

STEP = 5000
RULES = GroupRules(Rules())
WELL = 12  # looks at which everything is well


def group_event(at: int, *owned: list[int], **more: Any) -> GroupEvent:
    """A member for each list of partitions of `orders`."""
    members = [
        GroupMember(
            member_id=f"m-{n}", client_id=f"client-{n}", host=f"h{n}", assignment={"orders": ps}
        )
        for n, ps in enumerate(owned)
    ]
    fields: dict[str, Any] = {"state": "Stable" if owned else "Empty", "protocol_type": "consumer"}
    return GroupEvent(
        cluster="prod",
        group="billing",
        observed_at=NOW + at * STEP,
        position=-1,
        protocol="classic",
        members=members,
        **fields | more,
    )


def at(look: int, committed: int, log_end: int, commits: int = 1, log_start: int = 0) -> At:
    return At(committed, NOW + look * STEP, log_end=log_end, commits=commits, log_start=log_start)


def looks(*partitions: Iterator[At]) -> Iterator[OffsetEvent]:
    for look, ats in enumerate(zip(*partitions, strict=True)):
        yield offset_event(NOW + look * STEP, {"orders": dict(enumerate(ats))})


def well(count: int = 40) -> Iterator[At]:
    for look in range(count):
        yield at(look, 50 * look, 50 * look)


def silent(count: int = 40, **more: int) -> Iterator[At]:
    """No commit once everything was well."""
    for look in range(count):
        last = min(look, WELL)
        ended = At(50 * last, NOW + last * STEP, log_end=50 * look, commits=int(look <= WELL))
        yield ended if look <= WELL else At(**{**vars(ended), **more})


def standing(count: int = 40, log_start: int = 0) -> Iterator[At]:
    """Commits of the same offset, once everything was well."""
    for look in range(count):
        yield at(look, 50 * min(look, WELL), 50 * look, log_start=log_start if look > WELL else 0)


def told(events: Iterator[OffsetEvent], *groups: GroupEvent) -> Cause:
    """The cause after the last look; what is known of members comes when it was observed."""
    state: GroupState | None = None
    lag: LagEvent | None = None
    for event in events:
        membership: Membership | None = None
        for group in groups:
            if group.observed_at <= event.observed_at:
                membership = membership_after(group, membership)
        outcome = judge(event, state, RULES, knowledge=Knowledge(lambda known=membership: known))
        assert isinstance(outcome, Judged)
        state, lag = outcome.state, outcome.lag
        assert (lag.cause is None) == (lag.status == "OK")
        if outcome.change is not None:
            assert outcome.change.data.cause == lag.cause
    assert lag is not None
    assert lag.cause is not None
    assert LagEvent.from_bytes(lag.to_bytes()).cause == lag.cause
    return lag.cause


def test_nobody_is_in_the_group() -> None:
    cause = told(looks(silent(), silent()), group_event(0, [0], [1]), group_event(WELL + 1))
    assert cause.name == "no_members"
    assert (
        cause.sentence == "nobody has been in the group for 2 m 10 s; client-0 at h0 was there last"
    )
    assert cause.evidence.model_dump() == {
        "since": NOW + (WELL + 1) * STEP,
        "client_id": "client-0",
        "host": "h0",
        "members": 0,
    }


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([], id="nothing is known of its members"),
        pytest.param([group_event(0, [0], [1])], id="they are there and hang"),
        pytest.param([group_event(0, protocol_type="")], id="they never were in the group"),
    ],
)
def test_silence_alone_has_no_known_cause(groups: list[GroupEvent]) -> None:
    cause = told(looks(silent(), silent()), *groups)
    assert (cause.name, cause.is_known, cause.action) == ("unknown", False, None)


def test_all_that_is_bad_belongs_to_one_member() -> None:
    lives = silent(), silent(), well(), well()
    cause = told(looks(*lives), group_event(0, [0, 1], [2, 3]))
    assert cause.name == "one_member"
    assert (
        "orders/0 and 1 more belong to member client-0 at h0; the other one is well"
        in cause.sentence
    )
    halves = told(looks(*(silent(), silent(), well(), well())), group_event(0, [0, 2], [1, 3]))
    assert halves.name == "unknown"


def test_a_record_that_the_group_cannot_get_past() -> None:
    cause = told(looks(standing(), well()), group_event(0, [0, 1]))
    assert cause.name == "stuck_record"
    assert cause.action is not None
    assert cause.action.endswith("--topic orders --partition 0 --offset 600 --max-messages 1")
    assert (
        told(looks(standing(), standing(), well()), group_event(0, [0, 2], [1])).name == "unknown"
    )


def test_one_record_behind_may_be_the_end_of_a_transaction() -> None:
    still = (at(look, 600, 601) for look in range(40))
    assert told(looks(still), group_event(0, [0])).name == "unknown"


def test_records_that_are_gone() -> None:
    cause = told(looks(standing(log_start=700), well()), group_event(0, [0, 1]))
    assert (cause.name, cause.evidence.lost_records) == ("records_lost", 100)


def test_partitions_that_nobody_owns() -> None:
    groups = group_event(0, [0, 1]), group_event(WELL, [0], unowned={"orders": [1]})
    cause = told(looks(well(), silent()), *groups)
    assert (cause.name, cause.evidence.partition) == ("unowned_partitions", 1)
    assert told(looks(silent(), silent()), *groups).name == "unknown"


def test_rebalances_again_and_again() -> None:
    groups = [group_event(n, [0, 1], rebalances=n // 4) for n in range(0, 40, 4)]
    cause = told(looks(silent(), silent()), *groups)
    assert (cause.name, cause.evidence.times) == ("rebalance_loop", 9)
    assert told(looks(silent(), silent()), group_event(0, [0, 1], rebalances=99)).name == "unknown"


def test_too_slow_says_how_much_is_missing() -> None:
    slow = (at(look, 50 * look, 200 * look) for look in range(40))
    cause = told(looks(slow), group_event(0, [0]))
    assert cause.name == "too_slow"
    assert cause.sentence == "consumes 10/s of 40/s produced: needs 4.0 times as much"
    assert (cause.evidence.consumed_per_s, cause.evidence.produced_per_s) == (10.0, 40.0)


def test_a_topic_that_was_made_anew() -> None:
    anew = (at(look, 600, 50 if look > WELL else 600, commits=0) for look in range(40))
    first = [at(0, 600, 600), *list(anew)[1:]]
    cause = told(looks(iter(first)), group_event(0, [0]))
    assert (cause.name, cause.evidence.log_end) == ("beyond_log_end", 50)


def test_what_was_read_is_read_again() -> None:
    def reset() -> Iterator[At]:
        for look in range(WELL + 5):
            offset = 50 * look if look <= WELL else 10 * (look - WELL)
            yield at(look, offset, 50 * look)

    cause = told(looks(reset()), group_event(0, [0]))
    assert cause.name == "replaying"
    assert "went back from offset 600 15 s ago" in cause.sentence


def test_a_membership_comes_back_from_its_bytes_as_it_was() -> None:
    before = membership_after(group_event(0, [0], [1]), None)
    for known in (before, membership_after(group_event(3, rebalances=2), before)):
        assert decode(encode(known)) == known
    assert membership_after(group_event(0, rebalances=7), before) is before  # replayed
    for damaged in (b"", b"{}", b"[]", b'{"v":2}', b"\xff", encode(before)[:-9]):
        with pytest.raises(CorruptMembership):
            decode(damaged)
