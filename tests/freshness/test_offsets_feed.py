from __future__ import annotations

import pytest
from confluent_kafka import OFFSET_END, OFFSET_INVALID
from warren_freshness.home.offsets_feed import start_offset

END = 120


@pytest.mark.parametrize(
    ("committed", "recent", "start"),
    [
        (70, 90, 70),  # it was away for long: nothing is skipped
        (95, 90, 90),  # what is committed already is needed again
        (OFFSET_INVALID, 90, 90),  # the first start
        (70, OFFSET_END, 70),  # nobody has published for two heartbeats
        (OFFSET_INVALID, OFFSET_END, END),
        (0, 0, 0),
    ],
)
def test_where_reading_starts(committed: int, recent: int, start: int) -> None:
    assert start_offset(committed, recent, END) == start
