"""Looks at a group whose partitions are well or in trouble, and the cause that is told of it."""

from collections.abc import Iterator
from typing import Any

from support.freshness_events import Row, freshness_event
from support.offset_events import NOW, At, offset_event
from warren.contracts import (
    Cause,
    FreshnessEvent,
    GroupEvent,
    GroupMember,
    LagEvent,
    OffsetEvent,
)
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Duplicate, Ended, Nothing, Taken, judge
from warren_core.judgement.lateness import Lateness, lateness_of
from warren_core.judgement.membership import Membership, membership_after
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import decode as decode_state, encode as encode_state

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


def looks(
    *partitions: Iterator[At],
    leaders: list[int] | None = None,
    last_stable: list[int] | None = None,
    parts: int = 1,
) -> Iterator[OffsetEvent]:
    """In `parts` events each, as a huge group is told."""
    told_of_logs = {"leader": leaders, "last_stable": last_stable}
    for look, ats in enumerate(zip(*partitions, strict=True)):
        now = NOW + look * STEP
        for part in range(parts):
            mine = {n: one for n, one in enumerate(ats) if n % parts == part}
            event = offset_event(now + part, {"orders": mine})
            columns = {
                name: None if values is None else [values[n] for n in mine]
                for name, values in told_of_logs.items()
            }
            topic = event.topics["orders"].model_copy(update=columns)
            update = {"topics": {"orders": topic}, "part": part, "parts": parts}
            yield event.model_copy(update=update)


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


def known_of(membership: Membership | None, lateness: Lateness | None) -> Knowledge:
    return Knowledge(lambda: membership, lambda: lateness)


def told(
    events: Iterator[OffsetEvent],
    *groups: GroupEvent,
    measured: FreshnessEvent | None = None,
    rules: GroupRules | None = None,
) -> Cause:
    """The cause after the last look; what is known of members comes when it was observed."""
    known_late = None if measured is None else lateness_of(measured)
    state: GroupState | None = None
    lag: LagEvent | None = None
    for event in events:
        membership: Membership | None = None
        for group in groups:
            if group.observed_at <= event.observed_at:
                membership = membership_after(group, membership)
        knowledge = known_of(membership, known_late)
        outcome = judge(event, state, rules or RULES, knowledge=knowledge)
        assert not isinstance(outcome, Duplicate | Nothing | Ended)
        assert isinstance(outcome.state, GroupState)
        if isinstance(outcome, Taken):  # stored, as after a batch
            kept = decode_state(encode_state(outcome.state))
            assert isinstance(kept, GroupState)
            state = kept
            continue
        state, lag = outcome.state, outcome.lag
        assert (lag.cause is None) == (lag.status == "OK")
        if outcome.change is not None:
            assert outcome.change.data.cause == lag.cause
    assert lag is not None
    assert lag.cause is not None
    assert LagEvent.from_bytes(lag.to_bytes()).cause == lag.cause
    return lag.cause


def names(cause: Cause) -> list[str]:
    """What is told: the root, then its consequences."""
    return [found.name for found in cause.findings]


def measured_at(look: int, *rows: Row, **more: Any) -> FreshnessEvent:
    return freshness_event(look * STEP, *rows, **more)
