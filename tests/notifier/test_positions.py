"""Positions that are to be committed."""

from __future__ import annotations

from warren_notifier.source.consumer import Positions


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
