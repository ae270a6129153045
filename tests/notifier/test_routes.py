"""Which routes a change takes."""

from typing import Any

import pytest
from notifier.builders import change, route
from warren_notifier.routing.routes import matching


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, True),
        ({"clusters": ["^prod$"]}, True),
        ({"clusters": ["^staging$", "pro"]}, True),
        ({"clusters": ["^staging$"]}, False),
        ({"groups_allow": ["ill"]}, True),
        ({"groups_allow": ["^ill"]}, False),
        ({"groups_allow": ["bill"], "groups_deny": ["ing$"]}, False),
        ({"groups_deny": ["^other$"]}, True),
        ({"event_types": ["warren.group.status.changed"]}, True),
        ({"event_types": ["warren.group.retention.changed"]}, False),
        ({"minimum_severity": "WARN"}, True),
        ({"minimum_severity": "ERR"}, False),
        ({"minimum_severity": "OK"}, True),
    ],
)
def test_every_condition_must_hold(settings: dict[str, Any], expected: bool) -> None:
    assert route(**settings).matches(change("WARN")) is expected


def test_the_first_that_matches_wins() -> None:
    routes = [
        route("pager", minimum_severity="ERR"),
        route("team", groups_allow=["^billing$"]),
        route("rest"),
    ]
    assert [r.name for r in matching(routes, change("ERR"))] == ["pager"]
    assert [r.name for r in matching(routes, change("WARN"))] == ["team"]
    assert [r.name for r in matching(routes, change("WARN", group="x"))] == ["rest"]
    assert matching(routes, change("OK")) == []


def test_a_route_can_ask_to_go_on() -> None:
    routes = [route("log", continue_matching=True), route("team"), route("rest")]
    assert [r.name for r in matching(routes, change("ERR"))] == ["log", "team"]


def test_a_channel_counts_once_in_a_route() -> None:
    assert route(channels=("a", "b", "a")).channels == ("a", "b")
