from __future__ import annotations

from math import inf

from warren_freshness.topics.log_growth import MOST_POINTS, LogGrowth

BATCH = 1_000_000


def grown(*points: tuple[int, int, int, int]) -> LogGrowth:
    """(second, size, start, end)."""
    growth = LogGrowth()
    for second, size, start, end in points:
        growth.observe(second * 1000, size, start, end)
    return growth


def test_the_first_look_says_nothing_of_growth() -> None:
    growth = grown((10, 5000, 0, 50))
    assert growth.bytes_per_second is None
    assert growth.time_to_loss(0, 9000, BATCH, 10_000) is None


def test_a_log_that_does_not_grow_loses_nothing() -> None:
    assert grown((10, 5000, 0, 50), (20, 5000, 0, 50)).time_to_loss(0, 1, BATCH, 0) == inf


def test_the_fastest_of_lately_counts() -> None:
    steady = grown(*((second, 100 * second, 0, second) for second in range(0, 200, 10)))
    assert steady.bytes_per_second == 100
    slower = grown((0, 0, 0, 0), (10, 10_000, 0, 9), (100, 10_900, 0, 10), (110, 11_000, 0, 11))
    assert slower.bytes_per_second == 100
    assert grown((0, 0, 0, 0), (100, 1000, 0, 1), (110, 3000, 0, 9)).bytes_per_second == 200


def test_what_is_after_an_offset_at_most() -> None:
    growth = grown((0, 5000, 0, 50), (10, 6000, 0, 60), (20, 8000, 0, 65))
    assert growth.bytes_after(0, BATCH) == 8000
    assert growth.bytes_after(49, BATCH) == 8000, "nobody saw how large the records are"
    assert growth.bytes_after(50, BATCH) == 3000
    assert growth.bytes_after(62, BATCH) == 2000
    assert growth.bytes_after(65, BATCH) == 0
    assert growth.bytes_after(64, 300) == 300, "one record"


def test_segments_that_were_deleted_meanwhile_had_bytes_too() -> None:
    growth = grown((0, 5000, 0, 50), (10, 4000, 20, 60))
    assert growth.bytes_after(50, BATCH) == 1000
    assert growth.bytes_per_second == 100


def test_until_what_comes_after_fills_the_limit() -> None:
    growth = grown((0, 5000, 0, 50), (10, 6000, 0, 60))
    assert growth.time_to_loss(50, 3000, BATCH, 10_000) == 20_000
    assert growth.time_to_loss(50, 3000, BATCH, 15_000) == 15_000
    assert growth.time_to_loss(0, 3000, BATCH, 10_000) == 0


def test_a_topic_that_was_made_anew_begins_anew() -> None:
    growth = grown((0, 5000, 0, 50), (10, 6000, 0, 60), (20, 100, 0, 1))
    assert growth.bytes_per_second is None
    assert growth.bytes_after(0, BATCH) == 100


def test_what_is_long_ago_is_remembered_roughly() -> None:
    growth = grown(*((second, 100 * second, 0, second) for second in range(0, 100_000, 10)))
    assert len(growth._points) == MOST_POINTS
    assert growth._points[0].at == 0
    assert growth.bytes_per_second == 100
    for offset in range(0, 100_000, 1000):
        left = 99_990 - offset
        assert 100 * left <= growth.bytes_after(offset, BATCH) <= 100 * left * 1.5 + 10_000
