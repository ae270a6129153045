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
    assert trouble.look().obstacle == "cluster prod: away (see clusters.prod.bootstrap)"
    assert logs[0]["setting"] == "clusters.prod.bootstrap"


def test_what_somebody_else_tells_is_taken_down_and_ends_with_a_line() -> None:
    trouble = Trouble("home", ManualClock(), over="at work again")
    with capture_logs() as logs:
        trouble.note(ClusterUnreachable("home", "home.bootstrap", "away"))
        assert trouble.problem is not None
        trouble.over()
    assert trouble.look().obstacle == ""
    assert [line["event"] for line in logs] == ["at work again"]
