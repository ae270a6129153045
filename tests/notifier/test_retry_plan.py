"""The plan of attempts."""

import pytest
from hypothesis import given, strategies as st
from notifier.builders import MINUTE, OPENED_AT, pending_delivery
from warren.contracts import PendingDelivery
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.delivery.attempts import RetryPlan

NOW = OPENED_AT


def plan(jitter: float = 1.0) -> RetryPlan:
    return RetryPlan(first=2, longest=60, jitter=lambda: jitter)


@pytest.mark.parametrize(
    ("result", "outcome"), [(Delivered("HTTP 200"), "delivered"), (Refused("HTTP 404"), "refused")]
)
def test_ends(result: Result, outcome: str) -> None:
    step = plan().after(pending_delivery(attempts=2), result, NOW)
    assert (step.outcome, step.final, step.pending.attempts) == (outcome, True, 3)


def test_waits_double_up_to_the_longest() -> None:
    waits = [plan().backoff(attempts) for attempts in (1, 2, 3, 4, 5, 6, 7, 1000)]
    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_jitter_shortens_by_half_at_most(jitter: float, attempts: int) -> None:
    full = plan().backoff(attempts)
    assert full / 2 <= plan(jitter).backoff(attempts) <= full


@pytest.mark.parametrize(("asked", "wait"), [(30.0, 30_000), (0.5, 2000), (None, 2000)])
def test_what_the_receiver_asks_for_counts_when_it_is_longer(
    asked: float | None, wait: int
) -> None:
    step = plan().after(pending_delivery(), Retry("HTTP 429", asked), NOW)
    assert step.pending.next_attempt_at == NOW + wait


def test_given_up_when_no_attempt_fits_before_the_deadline() -> None:
    soon = pending_delivery(deadline_at=NOW + 1999)
    step = plan().after(soon, Retry("HTTP 500"), NOW)
    assert (step.outcome, step.final) == ("given_up", True)
    assert "HTTP 500" in step.detail


@pytest.mark.parametrize("asked", [3601.0, 90_000.0, 1e9])
def test_put_off_beyond_the_deadline_there_is_one_more_attempt_at_it(asked: float) -> None:
    pending = pending_delivery(deadline_at=NOW + 60 * MINUTE)
    step = plan().after(pending, Retry("HTTP 503", asked), NOW)
    assert (step.outcome, step.pending.next_attempt_at) == ("failed", pending.deadline_at)
    last = plan().after(step.pending, Retry("HTTP 503", asked), pending.deadline_at)
    assert last.outcome == "given_up"


def test_attempts_go_on_until_the_deadline() -> None:
    pending: PendingDelivery = pending_delivery(deadline_at=NOW + 10 * MINUTE)
    now, attempts = NOW, 0
    while not (step := plan().after(pending, Retry("no"), now)).final:
        attempts, pending, now = attempts + 1, step.pending, step.pending.next_attempt_at
        assert now <= pending.deadline_at
    assert step.outcome == "given_up"
    assert 10 < attempts < 20


@pytest.mark.parametrize(
    ("overdue", "asked", "wait"),
    [(-10 * MINUTE, None, 2), (-10 * MINUTE, 7200, 7200), (1, None, 3600), (1, 31_000_000, 86_400)],
)
def test_an_end_is_not_given_up(overdue: int, asked: float | None, wait: int) -> None:
    end = pending_delivery(kind="resolved", deadline_at=NOW - overdue)
    step = plan().after(end, Retry("HTTP 503", asked), NOW)
    assert (step.outcome, step.pending.next_attempt_at) == ("failed", NOW + wait * 1000)
