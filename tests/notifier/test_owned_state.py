"""State by partition: assigned, revoked, forgotten."""

from __future__ import annotations

from notifier.builders import change, route
from warren.contracts import NotifierState
from warren_notifier.routing.decisions import Router
from warren_notifier.state.owned_state import OwnedState
from warren_notifier.state.subject_state import SubjectState

NEWS = change()
END = change("OK", previous="ERR", event_id="event-2")
DECISION = Router([route()], 1).on_change(NEWS, 7, None, {}, 0)


def stored(offset: int) -> NotifierState:
    state = SubjectState(0, NEWS.subject)
    state.offset = offset
    (telling,), _ = state.decide(NEWS, DECISION)
    telling.at_once = True  # so the opening may have arrived
    return state.to_store()


def test_what_was_assigned_is_owned_until_it_is_revoked() -> None:
    owned = OwnedState()
    (state,) = owned.assign(0, [stored(7)], end=8, committed=8)
    (delivery,) = state.deliveries
    assert list(owned.states()) == [state]
    assert owned.state(0, NEWS.subject) is state
    assert owned.holds(delivery)
    owned.revoke(0)
    assert not owned.holds(delivery)
    assert owned.partitions == set()


def test_beyond_the_log_end_offsets_have_begun_anew() -> None:
    owned = OwnedState()
    (state,) = owned.assign(0, [stored(8)], end=8, committed=0)
    assert state.offset == -1


def test_a_state_is_settled_when_it_is_empty_and_its_event_is_not_read_again() -> None:
    owned = OwnedState()
    (state,) = owned.assign(0, [stored(7)], end=8, committed=8)
    assert not owned.forget_settled(state)  # a delivery is pending
    (telling,) = state.tellings
    state.decide(END, Router([], 1).on_change(END, 7, state.incident, state.told(), 0))
    assert not owned.forget_settled(state)  # the end is owed
    telling.delivery = None
    state.forget_done()
    owned.committed(0, 7)
    assert not owned.forget_settled(state)
    owned.committed(0, 8)
    assert owned.forget_settled(state)
    assert list(owned.states()) == []
