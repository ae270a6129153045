from __future__ import annotations

from structlog.testing import capture_logs
from warren.clock import ManualClock
from warren_collector.cluster.progress import Progress


def test_progress_is_told_every_two_seconds_with_the_time_left() -> None:
    clock = ManualClock()
    progress = Progress("prod", clock)
    with capture_logs() as logs:
        for behind in range(1_000_000, 0, -50_000):
            progress.tell(behind, groups=3, positions=9)
            clock.advance(1)
        progress.tell(0, groups=4, positions=10)
        progress.tell(0, groups=4, positions=10)
    assert [line["event"] for line in logs] == ["rebuilding state"] * 9 + ["state rebuilt"]
    assert logs[0] == {
        "event": "rebuilding state",
        "log_level": "info",
        "cluster": "prod",
        "records_left": 900_000,
        "records_per_second": 50_000,
        "seconds_left": 18,
        "groups": 3,
        "positions": 9,
    }
    assert (logs[-1]["seconds"], logs[-1]["positions"]) == (20.0, 10)


def test_standing_still_has_no_end() -> None:
    clock = ManualClock()
    progress = Progress("prod", clock)
    with capture_logs() as logs:
        progress.tell(10, 0, 0)
        clock.advance(5)
        progress.tell(10, 0, 0)
    assert (logs[0]["records_per_second"], logs[0]["seconds_left"]) == (0, None)
