"""Policy `progress`: who may read no further, for a transaction is open."""

from __future__ import annotations

import pytest
from support.followed_partition import FOUND, TICK, Followed


def test_who_stands_where_a_transaction_is_open_is_excused() -> None:
    """Up to a quarter of an hour: then the broker has ended any that Kafka's defaults allow."""
    for minutes, alarm in ((5, None), (30, 900)):
        partition = Followed().healthy(10)
        partition.last_stable = partition.committed
        found = partition.silent(minutes)
        assert found == (alarm and pytest.approx(alarm + FOUND, abs=2 * TICK))
    processed = Followed().healthy(10)  # who commits the last offset that it has processed
    processed.last_stable = processed.committed + 1
    assert processed.silent(5) is None
    stuck = Followed().healthy(10)  # at the last record, and no transaction is open
    stuck.end = stuck.last_stable = stuck.committed + 1
    assert stuck.silent(10, rate=0) is not None
    away = Followed().healthy(10)
    away.last_stable = away.committed + 100
    assert away.silent(30) == FOUND


def test_who_stays_before_aborted_records_and_an_open_transaction_is_excused() -> None:
    """librdkafka commits what it has delivered: not the aborted records and markers after that."""
    partition = Followed().healthy(10)
    partition.last_stable = partition.committed + 20  # at ten records a second
    assert partition.silent(5) is None
