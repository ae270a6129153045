from __future__ import annotations

from warren.clock import ManualClock
from warren_freshness.log_position import RecordTimes
from warren_freshness.record_times.local_cache import LocalCache

A, B, C = RecordTimes(1, None), RecordTimes(2, 1), RecordTimes(3, 2)


def test_what_nobody_has_asked_for_lately_goes_first() -> None:
    clock = ManualClock()
    cache = LocalCache[str, RecordTimes](2, 60, clock)
    cache.put_many({"a": A, "b": B})
    clock.advance(31)
    assert cache.get_many(["a", "nothing"]) == {"a": A}
    cache.put_many({"c": C})
    assert cache.get_many(["a", "b", "c"]) == {"a": A, "c": C}
    assert len(cache) == 2


def test_what_nobody_asks_for_goes_after_its_time() -> None:
    clock = ManualClock()
    cache = LocalCache[str, RecordTimes](2, 60, clock)
    cache.put_many({"a": A, "b": B})
    for _ in range(3):  # a position that stays is read once
        clock.advance(59)
        assert cache.get_many(["a"]) == {"a": A}
    assert cache.get_many(["b"]) == {}
    clock.advance(60)
    assert cache.get_many(["a"]) == {}
    cache.put_many({"c": C})
    assert len(cache) == 1
