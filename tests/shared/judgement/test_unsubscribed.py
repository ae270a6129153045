"""Topics that no member subscribes to any more: told once as WARN, and counted nowhere."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from support.group_looks import STEP, WELL, group_event, known_of, looks, silent, told
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import GroupEvent, GroupMember, LagEvent, StatusChange
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.membership import (
    CorruptMembership,
    Membership,
    decode,
    encode,
    membership_after,
)
from warren_core.judgement.state import GroupState

DEPLOYED = 60  # known for five minutes
"""The look after which members of the new release are there: until then all is well."""
BOTH, KEPT = ("kept", "old"), ("kept",)


def member(name: str, *topics: str, **more: Any) -> GroupMember:
    assignment = {topic: [0] for topic in topics}
    fields = {"subscription": list(topics), "assignment": assignment, **more}
    return GroupMember(member_id=name, client_id=name, host="h", **fields)


def members(look: float, *each: GroupMember, **more: Any) -> GroupEvent:
    fields = {"state": "Stable" if each else "Empty", "protocol_type": "consumer", **more}
    return GroupEvent(
        cluster="prod",
        group="billing",
        observed_at=round(NOW + look * STEP),
        position=-1,
        members=list(each),
        **{"protocol": "classic", **fields},
    )


RELEASES = (members(0, member("a", *BOTH)), members(DEPLOYED, member("b", *KEPT)))


def played(
    groups: Iterable[GroupEvent] = RELEASES,
    count: int = DEPLOYED + 48,
    *,
    policy: Any = "progress",
    stopped: Sequence[str] = ("old",),
    committed_again: int | None = None,
) -> list[LagEvent]:
    """What is told of a group, look by look, of whose two topics one is read no more."""
    judge = Judge(Rules(policy=policy))
    told: list[LagEvent] = []
    changes: list[StatusChange] = []
    for look in range(count):
        known: Membership | None = None
        for event in groups:
            if event.observed_at <= NOW + look * STEP:
                known = membership_after(event, known)
        kept = None if known is None else decode(encode(known))
        judge.knowledge = Knowledge(lambda kept=kept: kept)
        at = {topic: {0: position(look, topic in stopped)} for topic in BOTH}
        if committed_again is not None and look >= committed_again:
            at["old"] = {0: At(50 * DEPLOYED, NOW + look * STEP, log_end=50 * look)}
        outcome = judge(offset_event(NOW + look * STEP, at))
        assert isinstance(outcome, Judged)
        told.append(outcome.lag)
        if outcome.change is not None:
            changes.append(outcome.change.data)
            assert outcome.change.data.cause == outcome.lag.cause
    assert len(changes) == sum(one.status != other.status for one, other in pairwise(told))
    return told


def position(look: int, is_stopped: bool) -> At:
    last = min(look, DEPLOYED) if is_stopped else look
    return At(50 * last, NOW + last * STEP, log_end=50 * look, commits=int(last == look))


def statuses(told: Sequence[LagEvent]) -> list[str]:
    """Without those that stay."""
    found: list[str] = []
    for each in told:
        if not found or each.status != found[-1]:
            found.append(each.status)
    return found


@pytest.mark.parametrize("policy", ["progress", "burrow"])
def test_a_topic_that_is_left_is_told_once_and_counts_nowhere(policy: str) -> None:
    told = played(policy=policy)
    assert statuses(told) == ["OK", "WARN"]
    last = told[-1]
    assert (last.reason, last.total_lag) == ("unsubscribed", 0)
    assert last.topics["old"].lag == [50 * (len(told) - 1 - DEPLOYED)], "and is still seen"
    assert last.topics["old"].status == ["WARN"]
    assert last.explanation == (
        f"old/0 WARN: no member has subscribed to old for 3m 55s; {last.topics['old'].lag[0]:,} "
        "records unread"
    )
    assert last.cause is not None
    assert (last.cause.name, last.cause.also) == ("unsubscribed", [])
    assert last.cause.action is not None
    assert "--delete-offsets --group billing --topic old" in last.cause.action
    assert last.cause.action.endswith("DELETE /v3/kafka/prod/consumer/billing/topic/old")


@pytest.mark.parametrize(
    ("groups", "count", "said"),
    [
        pytest.param(
            [*RELEASES, members(DEPLOYED + 20, member("a", *BOTH))],
            DEPLOYED + 24,
            ["OK"],
            id="the deployment is taken back",
        ),
        pytest.param(
            [*RELEASES, members(DEPLOYED + 40, member("a", *BOTH))],
            DEPLOYED + 66,
            ["OK", "WARN", "ERR"],
            id="subscribes again, and does not read",
        ),
        pytest.param(
            [members(DEPLOYED + 1, member("b", *KEPT))],
            DEPLOYED + 48,
            ["OK", "WARN"],
            id="nothing was known of it before",
        ),
        pytest.param(
            [members(DEPLOYED + 30, member("b", *KEPT))],
            DEPLOYED + 48,
            ["OK", "ERR", "WARN"],
            id="told as stopped before anybody knew",
        ),
    ],
)
def test_what_is_told_follows_who_subscribes(
    groups: list[GroupEvent], count: int, said: list[str]
) -> None:
    assert statuses(played(groups, count)) == said


@pytest.mark.parametrize(
    "release",
    [
        pytest.param([member("a", *BOTH), member("b", *KEPT)], id="half deployed"),
        pytest.param([member("b", *BOTH, instance_id="static-1")], id="static member"),
        pytest.param([member("b", "kept", subscribed_regex="ol[a-e]")], id="KIP-848, not matched"),
        pytest.param([member("b", "kept", subscribed_regex="(?=x)")], id="not of RE2"),
        pytest.param(
            [member("b", "kept", subscription=["kept"], assignment={"old": [0]})],
            id="cooperative: not given back yet",
        ),
        pytest.param([member("b", "kept", subscription=[])], id="nobody says"),
    ],
)
def test_what_somebody_may_subscribe_to_has_stopped(release: list[GroupMember]) -> None:
    told = played([RELEASES[0], members(DEPLOYED, *release)])
    assert statuses(told) == ["OK", "ERR"]
    assert told[-1].total_lag > 0


@pytest.mark.parametrize(
    "fields",
    [
        {"protocol": "consumer", "protocol_type": ""},
        {"protocol": "streams", "protocol_type": ""},
        {"protocol": "classic"},
    ],
)
def test_all_protocols_whose_members_commit(fields: dict[str, Any]) -> None:
    new = member("b", *KEPT, subscribed_regex="kep.*" if fields["protocol"] != "classic" else None)
    assert statuses(played([RELEASES[0], members(DEPLOYED, new, **fields)])) == ["OK", "WARN"]


@pytest.mark.parametrize(
    "fields", [{"protocol": "share", "protocol_type": ""}, {"protocol_type": "connect"}]
)
def test_members_that_say_otherwise_what_they_read(fields: dict[str, Any]) -> None:
    assert statuses(played([members(0, member("b", *KEPT), **fields)])) == ["OK", "ERR"]


def test_restarts_and_rebalances_change_nothing() -> None:
    """Again and again members leave, the group has none for a while, and then all come back."""
    new, other = member("b", *KEPT), member("c", *KEPT, assignment={})
    lives = [
        event
        for at in range(DEPLOYED, DEPLOYED + 126, 30)
        for event in (
            members(at, new),
            members(at + 8, other, state="PreparingRebalance"),
            members(at + 9),
            members(at + 15, new, state="CompletingRebalance"),
            members(at + 16, new, other),
        )
    ]
    assert statuses(played([RELEASES[0], *lives], 150)) == ["OK", "WARN"]


def test_another_topic_that_stops_is_told_for_itself() -> None:
    """And what is read no more is not named as its cause, nor counted."""
    told = played([*RELEASES], stopped=BOTH)
    assert statuses(told) == ["OK", "ERR"]
    last = told[-1]
    assert (last.reason, last.total_lag) == ("no_commit", 50 * (len(told) - 1 - DEPLOYED))
    assert last.cause is not None
    assert last.cause.name == "unknown"
    assert last.explanation is not None
    assert last.explanation.startswith("kept/0 STOP")


def test_what_is_committed_all_the_same_is_read_by_somebody() -> None:
    told = played(committed_again=DEPLOYED + 10)
    assert statuses(told) == ["OK", "ERR"]
    assert told[-1].reason == "no_progress"


def test_a_topic_with_nothing_left_is_nobody_s_trouble() -> None:
    assert statuses(played(stopped=())) == ["OK"]


def test_a_topic_that_was_left_before_anybody_looked_is_told_after_three_minutes() -> None:
    """Whatever time is allowed to who was never seen to read it."""
    judge, at = Judge(Rules(policy="progress")), None
    known = membership_after(members(0, member("b", *KEPT)), None)
    judge.knowledge = Knowledge(lambda: known)
    told: list[LagEvent] = []
    for look in range(60):
        now = NOW + look * STEP
        old = At(1000, NOW - 60_000, log_end=6_000 + 10 * look, commits=int(look == 0))
        at = {"kept": {0: position(look, False)}, "old": {0: old}}
        outcome = judge(offset_event(now, at))
        assert isinstance(outcome, Judged)
        told.append(outcome.lag)
    assert statuses(told) == ["OK", "WARN"]
    assert (told[-1].reason, told[-1].total_lag) == ("unsubscribed", 0)
    since = next(lag for lag in told if lag.status == "WARN").evaluated_at
    assert since - NOW <= 3 * 60_000 + 2 * STEP


# Groups of generated names that were left behind: the first are told, the others are counted.

RULES = GroupRules(Rules(policy="progress"))


@pytest.mark.parametrize(("before", "status"), [(2, "ERR"), (3, "OK")])
def test_who_follows_others_is_not_judged(before: int, status: str) -> None:
    left = group_event(WELL + 1, left_before=before)
    first = membership_after(left, membership_after(group_event(0, [0]), None))
    group = membership_after(group_event(WELL + 2), first)  # of a collector that starts again
    state: GroupState | None = None
    for event in looks(silent(70)):
        outcome = judge(event, state, RULES, knowledge=known_of(group, None))
        assert isinstance(outcome, Judged)
        state = outcome.state
    lag = outcome.lag
    assert lag.status == status
    assert (lag.reason == "left_behind") == (lag.total_lag == 0) == (status == "OK")


def test_the_first_say_how_many_followed() -> None:
    cause = told(
        looks(silent(), silent()), group_event(0, [0], [1]), group_event(WELL + 1, left_after=46)
    )
    assert cause.name == "no_members"
    assert "; 46 other groups named alike were left" in cause.sentence
    assert cause.action.endswith("leave such names out with groups_deny")


# Membership: what is remembered of a group's members.


def test_a_membership_comes_back_from_its_bytes_as_it_was() -> None:
    before = membership_after(group_event(0, [0], [1]), None)
    for known in (before, membership_after(group_event(3, rebalances=2), before)):
        assert decode(encode(known)) == known
    assert membership_after(group_event(0, rebalances=7), before) is before  # replayed
    for damaged in (b"", b"{}", b"[]", b'{"v":2}', b"\xff", encode(before)[:-9]):
        with pytest.raises(CorruptMembership):
            decode(damaged)
