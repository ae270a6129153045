"""What is read: positions that are committed, and the past before the first start."""

from notifier.builders import MINUTE, OPENED_AT, change
from warren_notifier.source.consumer import Backlog, Positions


def test_what_was_refused_is_due_until_it_is_committed() -> None:
    positions = Positions()
    positions.take({0: 10, 1: 20})
    refused = positions.due
    positions.take({})
    assert positions.due == refused == {0: 10, 1: 20}
    positions.take({1: 25})
    positions.committed({0: 10, 1: 20})
    assert positions.due == {1: 25}
    positions.committed({1: 25})
    assert positions.due == {}


def test_nothing_is_due_of_a_partition_that_went() -> None:
    positions = Positions()
    positions.take({0: 10, 1: 20})
    positions.revoked([0, 7])
    assert positions.due == {1: 20}


def test_only_what_lasts_is_told() -> None:
    backlog = Backlog(until=5)
    backlog.fold(change("WARN", group="a", event_id="a1"), 0)
    backlog.fold(change("ERR", group="b", event_id="b1"), 1)
    backlog.fold(change("ERR", group="a", event_id="a2"), 2)
    backlog.fold(change("OK", group="b", event_id="b2"), 3)
    assert [(c.event_id, offset) for c, offset in backlog.lasting()] == [("a2", 2)]


def test_a_late_end_is_of_the_incident_before() -> None:
    backlog = Backlog(until=5)
    later = OPENED_AT + MINUTE
    backlog.fold(change("ERR", event_id="first"), 0)
    backlog.fold(change("ERR", event_id="next", incident_id="i-2", opened_at=later), 1)
    backlog.fold(change("OK", event_id="late"), 2)
    assert [c.event_id for c, _ in backlog.lasting()] == ["next"]
    backlog.fold(change("OK", event_id="end", incident_id="i-2", opened_at=later), 3)
    assert backlog.lasting() == []


def test_where_it_ends() -> None:
    backlog = Backlog(until=5)
    assert backlog.covers(4)
    assert not backlog.covers(5)
    assert [backlog.is_read_to(offset + 1) for offset in (3, 4, 7)] == [False, True, True]
