from __future__ import annotations

from structlog.testing import capture_logs
from warren.clock import ManualClock
from warren.errors import AuthenticationFailed, ClusterUnreachable
from warren.kafka.trouble import Trouble


def test_lasting_trouble_is_told_now_and_then_and_when_it_is_over() -> None:
    clock = ManualClock()
    trouble = Trouble("prod", clock)
    away = ClusterUnreachable("prod", "clusters.prod.bootstrap", "away")
    with capture_logs() as logs:
        trouble.over()
        for _ in range(35):
            trouble.tell(away)
            clock.advance(1)
        trouble.tell(AuthenticationFailed("prod", "clusters.prod.kafka", "wrong password"))
        trouble.over()
        trouble.over()
        trouble.tell(away)
    assert [(line["event"], line.get("problem")) for line in logs] == [
        ("cluster not usable, retrying", "away"),
        ("cluster not usable, retrying", "away"),
        ("cluster not usable, retrying", "wrong password"),
        ("publishing again", None),
        ("cluster not usable, retrying", "away"),
    ]
    assert logs[3]["after_seconds"] == 35.0
    assert logs[0]["setting"] == "clusters.prod.bootstrap"
