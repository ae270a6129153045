"""Incidents that the API remembers, whatever the order and the clocks of their events."""

from collections.abc import Iterable

import pytest
from api.served_api import NOW, status_change
from support.condition_changes import late, over, stuck
from warren.contracts import (
    FRESHNESS_CHANGED,
    STATUS_CHANGED,
    GroupIncidentEvent,
    StatusChangeEvent,
    group_key,
)
from warren.errors import ContractViolation
from warren_api.model.incidents import IncidentLog, KnownIncidents
from warren_api.model.status_history import StatusHistory
from warren_core.group_incident import fold

KEY = group_key("prod", "billing")


def events(*changes: StatusChangeEvent) -> list[GroupIncidentEvent]:
    known: GroupIncidentEvent | None = None
    found = []
    for change in changes:
        if (event := fold(known, change)) is not None:
            known = event
            found.append(event)
    return found


def log_of(told: Iterable[GroupIncidentEvent], limit: int = 100) -> IncidentLog:
    log = IncidentLog(limit)
    for event in told:
        log.take(KEY, event.to_bytes())
    return log


def test_an_end_with_an_earlier_time_is_an_end() -> None:
    """What is measured and what is observed have two clocks."""
    ends = events(late(0), stuck(1), over(FRESHNESS_CHANGED, 9), over(STATUS_CHANGED, 5))
    (data,) = log_of(ends).all()
    assert not data.is_open
    (again,) = log_of([*ends, *ends[:2]]).all()
    assert not again.is_open, "events that come again change nothing"


def test_a_group_has_one_open_incident() -> None:
    first, second = events(stuck(0)), events(stuck(60, turn=2))
    newest, before = log_of([*first, *second]).all()
    assert (newest.incident_id, newest.is_open) == ("status-2", True)
    assert (before.incident_id, before.closed_at) == ("status-1", newest.changed_at)
    assert [one.is_open for one in log_of([*second, *first]).all()] == [True]


def test_the_oldest_that_are_over_go() -> None:
    told = [e for n in range(9) for e in events(stuck(n, turn=n), over(STATUS_CHANGED, n, turn=n))]
    known = log_of(told, limit=2).all()
    assert len(known) <= 4
    assert known[0].incident_id == "status-8"


def test_what_is_of_another_group_is_refused() -> None:
    log = IncidentLog(9)
    with pytest.raises(ContractViolation):
        log.take(group_key("prod", "other"), events(stuck(0))[0].to_bytes())


def test_a_change_is_of_the_incident_that_has_its_id_whatever_its_time() -> None:
    told = events(stuck(0), late(1), over(STATUS_CHANGED, 2), over(FRESHNESS_CHANGED, 3))
    history = StatusHistory(9)
    for offset, change in enumerate((late(-5), stuck(99), stuck(50, turn=7))):
        history.take(0, offset, change.to_bytes(), change.key)
    elsewhere = status_change("elsewhere", "ERR", NOW)
    history.take(0, 3, elsewhere.to_bytes(), elsewhere.key)
    (one,) = KnownIncidents.of(log_of(told).all(), history.changes()).all
    assert [each.change.incident_id for each in one.changes] == [
        "freshness-1",
        "status-7",
        "status-1",
    ]
