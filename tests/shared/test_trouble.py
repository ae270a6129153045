"""."""

import pytest
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from warren.errors import AuthenticationFailed, ClusterUnreachable
from warren.kafka.trouble import Refusals, Trouble


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


@pytest.fixture
def refusals() -> Refusals:
    return Refusals("prod", "clusters.prod", "DESCRIBE", "group", "members are unknown")


def told(refusals: Refusals, refused: set[str], asked: set[str] | None = None) -> list[str]:
    with capture_logs() as logs:
        refusals.observe(refused, asked)
    assert all((line["cluster"], line["setting"]) == ("prod", SETTING) for line in logs)
    return [line["problem"] for line in logs]


SETTING = "clusters.prod.kafka"
BILLING = "not authorised: DESCRIBE on group billing; members are unknown"


def test_each_refusal_is_told_once(refusals: Refusals) -> None:
    assert told(refusals, set()) == []
    assert told(refusals, {"billing"}) == [BILLING]
    assert told(refusals, {"billing"}) == []


def test_several_are_told_in_one_line(refusals: Refusals) -> None:
    (line,) = told(refusals, {"orders", "billing", "returns"})
    assert line.startswith("not authorised: DESCRIBE on group billing and 2 more groups; ")


def test_what_was_granted_meanwhile_is_news_when_it_is_refused_again(refusals: Refusals) -> None:
    told(refusals, {"billing"})
    told(refusals, set())
    assert told(refusals, {"billing"}) == [BILLING]


def test_who_was_not_asked_about_stays_refused(refusals: Refusals) -> None:
    told(refusals, {"billing"}, {"billing", "orders"})
    told(refusals, set(), {"orders"})
    assert told(refusals, {"billing"}, {"billing"}) == []
    told(refusals, set(), {"billing"})
    assert told(refusals, {"billing"}, {"billing"}) == [BILLING]
