from __future__ import annotations

import pytest
from structlog.testing import capture_logs
from warren.kafka.refusals import Refusals


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
