"""Status changes and incidents: opened, kept, closed; ended by deletion or expiry."""

from support.offset_events import MINUTE, NOW, At, Judge, commits, heartbeat, offset_event
from warren.contracts import StatusChangeEvent
from warren_core.evaluation import Rules
from warren_core.judgement.judge import Duplicate, Ended, Nothing
from warren_core.judgement.state import GroupGone, GroupState


def test_an_incident_stays_from_its_opening_until_the_group_is_ok() -> None:
    group = Judge()
    first, second, _ = group.all(commits(115, 116, 117))
    assert first.change is not None
    assert second.change is not None
    opened = second.change.data
    began = NOW
    assert (opened.previous, opened.status, opened.opened_at) == ("ERR", "WARN", began)
    silent = group.judged(heartbeat(6, 130))
    assert silent.change is not None
    worse = silent.change.data
    assert (worse.previous, worse.status, worse.opened_at) == ("WARN", "ERR", began)
    assert silent.lag.incident is not None
    assert {opened.incident_id} == {worse.incident_id, silent.lag.incident.id}
    closed = group.judged(offset_event(NOW + 7 * MINUTE, {"orders": {0: At(250, NOW)}}))
    assert closed.change is not None
    end = closed.change.data
    assert (end.previous, end.status, end.opened_at) == ("ERR", "OK", began)
    assert end.incident_id == opened.incident_id
    assert closed.lag.incident is None


def test_a_new_incident_has_another_id() -> None:
    changes = [r.change for r in Judge().all(commits(15, 16, 0, *[19] * 10, 20))]
    opened = [c.data.incident_id for c in changes if c is not None and c.data.previous == "OK"]
    assert len(opened) == len(set(opened)) == 2


def test_the_same_events_give_the_same_bytes() -> None:
    events = commits(105, 106, 107, 103, 109, 0)
    once, again = Judge().all(events), Judge().all(events)
    assert [r.lag.to_bytes() for r in once] == [r.lag.to_bytes() for r in again]
    changed = [r.change.to_bytes() for r in once if r.change is not None]
    assert changed == [r.change.to_bytes() for r in again if r.change is not None]
    ids = [r.change.id for r in once if r.change is not None]
    assert len(ids) == len(set(ids)) > 1


def test_deletion_closes_the_incident_and_forgets_the_group() -> None:
    group = Judge()
    opened = group.all(commits(105, 106))[-1].change
    assert opened is not None
    ended = group(offset_event(NOW + 2 * MINUTE, deleted=True))
    assert isinstance(ended, Ended)
    assert ended.change is not None
    data = ended.change.data
    assert (data.status, data.previous, data.reason) == ("NOTFOUND", "WARN", "group_deleted")
    assert data.incident_id == opened.data.incident_id
    assert isinstance(group.state, GroupGone)
    assert StatusChangeEvent.from_bytes(ended.change.to_bytes()) == ended.change


def test_deletion_of_a_healthy_or_unknown_group_is_silent() -> None:
    for group in (Judge(), Judge()):
        group.judged(commits(0)[0])
        ended = group(offset_event(NOW + MINUTE, deleted=True))
        assert isinstance(ended, Ended)
        assert ended.change is None
    unknown = Judge()(offset_event(NOW, deleted=True))
    assert isinstance(unknown, Ended)
    assert unknown.change is None


def test_after_deletion_old_events_are_duplicates_and_new_ones_begin_anew() -> None:
    group = Judge()
    events = commits(5, 6)
    group.all(events)
    group(offset_event(NOW + 2 * MINUTE, deleted=True))
    assert isinstance(group(events[1]), Duplicate)
    reborn = group.judged(offset_event(NOW + 3 * MINUTE, {"orders": {0: At(3, NOW)}}))
    assert reborn.change is None
    assert reborn.lag.topics["orders"].window_start.offset == [3]


def test_a_group_that_has_not_committed_for_long_expires() -> None:
    group = Judge(Rules(expire_group_ms=60 * MINUTE))
    group.all(commits(115, 115, 115))
    assert isinstance(group.state, GroupState)
    ended = group(heartbeat(63, 5))
    assert isinstance(ended, Ended)
    assert ended.change is not None
    assert ended.change.data.reason == "group_expired"
    assert isinstance(group(heartbeat(64, 5)), Nothing)
    back = group.judged(offset_event(NOW + 70 * MINUTE, {"orders": {0: At(9, NOW + 70 * MINUTE)}}))
    assert back.lag.status == "OK"


def test_an_expired_group_that_was_never_known_stays_so() -> None:
    group = Judge(Rules(expire_group_ms=60 * MINUTE))
    assert isinstance(group(heartbeat(90, 5)), Nothing)
    assert group.state is None


def test_a_change_lists_at_most_a_hundred_bad_partitions_the_worst_first() -> None:
    slow = {p: At(10, NOW, lag=p + 2) for p in range(120)}
    slower = {p: At(11, NOW + MINUTE, lag=p + 3) for p in range(120)}
    stuck = {p: At(50, NOW - 60 * MINUTE, lag=2) for p in range(2)}
    group = Judge()
    group.judged(offset_event(NOW, {"orders": {0: At(0, NOW)}}))
    group.judged(offset_event(NOW + 1, {"slow": slow}))
    group.judged(offset_event(NOW + MINUTE, {"slow": slower}))  # WARN
    change = group.judged(offset_event(NOW + MINUTE + 2000, {"stuck": stuck})).change
    assert change is not None
    data = change.data
    assert (data.previous, data.status) == ("WARN", "ERR")
    assert data.partition_counts == {"OK": 1, "WARN": 120, "STOP": 2}
    named = [(bad.topic, bad.partition, bad.status, bad.lag) for bad in data.partitions]
    assert named[:4] == [
        ("stuck", 0, "STOP", 2),
        ("stuck", 1, "STOP", 2),
        ("slow", 119, "WARN", 122),
        ("slow", 118, "WARN", 121),
    ]
    assert (len(named), data.partitions_omitted) == (100, 22)
    assert data.max_lag is not None
    assert data.max_lag.model_dump() == {"topic": "slow", "partition": 119, "lag": 122}
    assert data.total_lag == sum(range(3, 123)) + 4
