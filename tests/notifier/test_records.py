"""The records that a notifier writes."""

import pytest
from notifier.builders import OPENED_AT, change, delivery, pending_delivery, route
from warren.contracts import DeliveryOutcome, NotificationEvent, NotifierState
from warren_notifier.delivery.outcomes import Records
from warren_notifier.owned import Owned
from warren_notifier.routing.decisions import Router
from warren_notifier.state.subject_state import SubjectState, restored, to_store
from warren_notifier.state.telling import Step

RECORDS = Records("t.")
NOW = OPENED_AT + 1000


@pytest.mark.parametrize(("outcome", "next_at"), [("failed", OPENED_AT), ("delivered", None)])
def test_the_audit_names_the_next_attempt_only_where_there_is_one(
    outcome: DeliveryOutcome, next_at: int | None
) -> None:
    step = Step(pending_delivery(attempts=3), outcome, "HTTP 500")
    record = RECORDS.audit(delivery(partition=2), step, NOW, 17)
    assert (record.topic, record.partition, record.key) == ("t.notifications", 2, b"prod|billing")
    audit = NotificationEvent.from_bytes(record.value)
    assert (audit.outcome, audit.attempt, audit.at, audit.duration_ms) == (outcome, 3, NOW, 17)
    assert audit.next_attempt_at == next_at


def test_the_end_of_a_delivery_is_noted_though_its_event_is_gone() -> None:
    """It was replaced, and the notifier killed before it had written that down."""
    gone = delivery()
    gone.event = None
    record = RECORDS.audit(gone, Step(pending_delivery(), "superseded", "newer news"), NOW, None)
    assert NotificationEvent.from_bytes(record.value).conditions == []


def test_a_state_and_its_tombstone_have_one_key() -> None:
    news = change()
    decision = Router([route()], 1).on_change(news, 7, None, {}, NOW)
    state, _, _ = SubjectState(2, news.subject, 7).decided(news, decision)
    owned = Owned(state)
    (sent,) = state.deliveries
    owned.line(sent).foresee(sent, at_once=True)
    kept = RECORDS.state(owned, settled=False)
    gone = RECORDS.state(owned, settled=True)
    assert kept.key == gone.key == b"prod|billing"
    assert (kept.topic, kept.partition, gone.value) == ("t.notifier-state", 2, None)
    stored = NotifierState.from_bytes(kept.value)
    assert to_store(restored(2, stored)[0]) == stored
    assert stored.notified is not None
    assert [(one.channel, one.opened) for one in stored.notified] == [("mail", True)]
