"""A group that has not been watched for a minute: what its last commits say of its lag."""

from __future__ import annotations

import numpy as np
import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api, lag_event, topic
from warren.contracts import MINUTE_MS
from warren_api.pages.group_sections import first_points
from warren_core.evaluation.packed_windows import Commits, pack_commits

PATH = "/groups/demo/young"
THIS = NOW - NOW % MINUTE_MS


def packed(*lags: list[int], every: int = 5_000) -> str:
    """Windows of partitions; each commits for the last time a second ago, its lag falls to 0."""
    slots = 10
    columns = np.zeros((4, len(lags), slots), np.int64)
    for row, known in enumerate(lags):
        for back, lag in enumerate(reversed(known)):
            at = NOW - 1_000 - back * every
            columns[:, row, slots - 1 - back] = (100 - back, at, at + 10, lag)
    return pack_commits(Commits(columns, np.array([len(known) for known in lags])))


@pytest.fixture
def young(api: Api) -> Api:
    """Ten commits of each of two partitions."""
    lags = [list(range(90, -1, -10))] * 2
    api.put("young", topics={"orders": topic({}, {})}, windows=packed(*lags))
    return api


def test_ten_points_at_once(young: Api) -> None:
    (figure,) = page(young, PATH).select(".charts figure")
    title = text(figure.select("svg > title")[0])
    assert title == "Lag by the last commits: lag 0 at the end, between 0 and 180"
    assert len(figure.select(".hover")) == 10
    assert text(figure.select(".hover title")[0]) == "06:59:14 UTC: lag 180"
    assert text(figure.select(".axis")[0]) == "46s ago 1s ago"


def test_partitions_of_which_less_is_known_count_from_when_it_is() -> None:
    few = lag_event(
        "g",
        topics={"orders": topic({}, {})},
        windows=packed([90, 80, 70, 60, 50, 40, 30, 20, 10, 0], [7, 0]),
    )
    found = first_points(few)
    assert found is not None
    assert (found.start, found.end) == (NOW - 6_000, NOW - 1_000)
    assert "lag 0 at the end, between 0 and 17" in found.lag


def test_an_evaluator_that_publishes_no_windows(api: Api) -> None:
    api.put("young", topics={"orders": topic({})})
    (figure,) = page(api, PATH).select(".charts figure")
    assert "lag 0 at the end, between 0 and 4" in text(figure)
