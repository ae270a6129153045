from typing import Any

import pytest
from api.served_api import CAUGHT_UP, NOW, freshness_event, late
from warren_api.model.freshness import FreshnessRow, GroupFreshness

INTERVAL = 10_000
NO_COMMIT = late(None, reason="no_commit", bound_ms=None, committed=-1)


def measured(*rows: dict[str, Any], **fields: Any) -> GroupFreshness:
    return GroupFreshness(freshness_event("g", rows=list(rows), **fields))


def unreadable(bound_ms: int | None, reason: str = "not_authorised") -> dict[str, Any]:
    return late(None, reason=reason, bound_ms=bound_ms)


def test_columns_become_rows_by_partition() -> None:
    freshness = measured(CAUGHT_UP, late(700, time_to_loss_ms=9, commit_lag_ms=1, append_lag_ms=2))
    assert freshness.rows("orders")[1] == FreshnessRow(
        committed=100,
        freshness_ms=700,
        reason="exact",
        bound_ms=0,
        lost_records=0,
        time_to_loss_ms=9,
        oldest_at=NOW - 700,
        commit_lag_ms=1,
        append_lag_ms=2,
    )
    assert freshness.rows("another") == {}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([CAUGHT_UP, late(5, reason="expired", lost_records=3)], "expired"),
        ([late(7), late(5, reason="expired")], "exact"),
        ([CAUGHT_UP, CAUGHT_UP], "caught_up"),
        # No value at all: what most partitions say.
        ([unreadable(1), unreadable(None), NO_COMMIT], "not_authorised"),
        ([NO_COMMIT], "no_commit"),
        ([], None),
    ],
)
def test_the_reason_is_that_of_the_latest_partition(
    rows: list[dict[str, Any]], reason: str | None
) -> None:
    assert measured(*rows).reason == reason


def test_a_worst_partition_that_is_not_listed_has_no_reason_of_its_own() -> None:
    worst = {"topic": "gone", "partition": 4, "freshness_ms": 1}
    assert measured(CAUGHT_UP, worst=worst).reason == "caught_up"


@pytest.mark.parametrize(
    ("rows", "unknown", "at_least", "reason"),
    [
        ([late(7), CAUGHT_UP], 0, None, None),
        ([late(7), NO_COMMIT], 0, None, None),  # nothing committed: there is nothing to know
        ([late(7), unreadable(90)], 1, 90, "not_authorised"),
        ([late(7), unreadable(None, "timeout")], 1, 7, "timeout"),
        ([unreadable(5), unreadable(90)], 2, 90, "not_authorised"),
        ([unreadable(None)], 1, None, "not_authorised"),
    ],
)
def test_what_is_unknown_makes_the_value_a_lower_bound(
    rows: list[dict[str, Any]], unknown: int, at_least: int | None, reason: str | None
) -> None:
    freshness = measured(*rows)
    assert freshness.unknown_partitions == unknown
    assert freshness.at_least_ms == at_least
    assert freshness.unknown_reason == reason


def passes(*measured_at: int) -> GroupFreshness:
    freshness = measured(measured_at=measured_at[0])
    for at in measured_at[1:]:
        freshness = freshness.followed_by(freshness_event("g", measured_at=at))
    return freshness


def stale_after(freshness: GroupFreshness) -> int:
    """Milliseconds after the measurement."""
    at = freshness.event.measured_at
    return next(ms for ms in range(0, 200_000) if freshness.is_stale(at + ms, INTERVAL)) - 1


def test_old_after_three_intervals() -> None:
    assert stale_after(passes(NOW)) == 3 * INTERVAL
    assert stale_after(passes(NOW - 10_000, NOW)) == 3 * INTERVAL
    # More often than set, by two instances that both think it is theirs: no reason to hurry.
    assert stale_after(passes(NOW - 200, NOW - 100, NOW)) == 3 * INTERVAL


def test_where_passes_take_longer_that_is_usual() -> None:
    assert stale_after(passes(NOW - 50_000, NOW - 25_000, NOW)) == 75_000


def test_an_outage_does_not_become_usual() -> None:
    outage = 3_600_000
    assert stale_after(passes(NOW - outage, NOW)) == 3 * INTERVAL
    assert stale_after(passes(NOW - outage - 10_000, NOW - outage, NOW)) == 3 * INTERVAL
    # Nor does a slow time last for ever.
    slow = passes(*range(NOW - 150_000, NOW, 25_000), *range(NOW, NOW + 60_000, 10_000))
    assert stale_after(slow) == 3 * INTERVAL


def test_a_clock_that_is_set_back_is_no_gap() -> None:
    freshness = passes(NOW, NOW - 60_000, NOW - 50_000)
    assert freshness.gaps == (10_000,)
    assert not freshness.is_stale(NOW - 90_000, INTERVAL)
