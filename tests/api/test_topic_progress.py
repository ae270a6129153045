from __future__ import annotations

from typing import Any

import pytest
from api.served_api import NOW, lag_event, topic
from warren.contracts import TopicsEvent
from warren_api.model.topics import TopicIndex

SECOND = 1_000


def index_of(*evaluations: tuple[int, list[dict[str, Any]]]) -> TopicIndex:
    """One group on topic t: seconds after NOW, and its partitions then."""
    index = TopicIndex()
    for seconds, rows in evaluations:
        at = NOW + seconds * SECOND
        index.apply(lag_event("g", evaluated_at=at, topics={"t": topic(*rows)}))
    return index


def rates(index: TopicIndex) -> tuple[float | None, float | None]:
    progress = index.progress("demo", "g")["t"]
    return progress.produce_rate, progress.consume_rate


def at(committed: int, log_end: int) -> dict[str, Any]:
    return {"committed": committed, "log_end": log_end, "lag": log_end - committed}


def test_rates_come_from_evaluations_that_follow_one_another() -> None:
    assert rates(index_of((0, [at(10, 20)]))) == (None, None)
    index = index_of((0, [at(10, 20), at(0, 0)]), (10, [at(60, 120), at(5, 10)]))
    assert rates(index) == (11.0, 5.5)
    progress = index.progress("demo", "g")["t"]
    assert (progress.lag, progress.catch_up_ms) == (65, None)


def test_time_to_catch_up() -> None:
    behind = index_of((0, [at(0, 100)]), (10, [at(60, 110)])).progress("demo", "g")["t"]
    assert behind.catch_up_ms == 10_000
    caught_up = index_of((0, [at(0, 0)])).progress("demo", "g")["t"]
    assert caught_up.catch_up_ms == 0


def test_a_group_that_stops_consumes_nothing_a_minute_later() -> None:
    steps = [(second, [at(min(second, 60) * 10, second * 10)]) for second in range(0, 140, 5)]
    assert rates(index_of(*steps)) == (10.0, 0.0)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param([at(5, 120)], (10.0, 0.0), id="rewound"),
        pytest.param([at(-1, -1)], (0.0, 0.0), id="unknown"),
        pytest.param([at(0, 3)], (0.0, 0.0), id="made anew"),
        pytest.param([at(10, 20), at(900, 900)], (0.0, 0.0), id="a new partition"),
    ],
)
def test_what_is_no_progress_counts_as_none(
    after: list[dict[str, Any]], expected: tuple[float, float]
) -> None:
    after = [{**row, "lag": None} if row["committed"] < 0 else row for row in after]
    assert rates(index_of((0, [at(10, 20)]), (10, after))) == expected


def test_a_replay_changes_no_rate() -> None:
    steps = [(0, [at(0, 0)]), (10, [at(100, 100)])]
    assert rates(index_of(*steps, steps[1])) == (10.0, 10.0)


def test_a_topic_is_what_its_groups_see_of_it() -> None:
    index = TopicIndex()
    for group, ends in (("old", [50, 7]), ("new", [60])):
        rows = [{"log_end": end, "log_start": 1, "lag": end, "committed": 0} for end in ends]
        when = NOW + (group == "new")
        index.apply(lag_event(group, evaluated_at=when, topics={"t": topic(*rows)}))
    view = index.topic("demo", "t")
    assert view is not None
    assert (sorted(view.groups), view.partition_count) == (["new", "old"], 2)
    assert [tuple(log) for log in view.partitions()] == [(0, 1, 60), (1, 1, 7)]


def test_topics_go_with_their_last_group() -> None:
    index = TopicIndex()
    index.apply(lag_event("a", topics={"t": topic({}), "u": topic({})}))
    index.apply(lag_event("b", topics={"t": topic({})}))
    index.apply(lag_event("a", topics={"t": topic({})}))
    assert [view.topic for view in index.topics()] == ["t"], "no group has offsets of u any more"
    index.forget("demo", "a")
    assert [sorted(view.groups) for view in index.topics()] == [["b"]]
    index.forget("demo", "b")
    index.forget("demo", "never there")
    assert index.topics() == []
    assert index.topic("demo", "t") is None


def listed(seconds: int, **log_ends: list[int]) -> TopicsEvent:
    at = NOW + seconds * SECOND
    return TopicsEvent(cluster="demo", observed_at=at, log_ends=log_ends)


def test_a_topic_that_no_group_consumes_has_a_rate_too() -> None:
    index = TopicIndex()
    index.list_all(listed(0, quiet=[5, -1], t=[10]))
    index.list_all(listed(10, quiet=[105, 7, 3], t=[20]))
    quiet = index.topic("demo", "quiet")
    assert quiet is not None
    assert (quiet.produce_rate, quiet.consume_rate, quiet.partition_count) == (10.0, None, 3)
    assert [log.log_end for log in quiet.partitions()] == [105, 7, 3]
    index.list_all(listed(20, t=[30]))
    assert [view.topic for view in index.topics()] == ["t"], "quiet was deleted"
    index.apply(lag_event("g", evaluated_at=NOW, topics={"t": topic({"log_end": 4})}))
    view = index.topic("demo", "t")
    assert view is not None
    assert (view.produce_rate, index.names("demo")) == (1.0, ["t"])
    assert [tuple(log) for log in view.partitions()] == [(0, 0, 30)], "the list is newer"
    index.unlist("demo")
    index.forget("demo", "g")
    assert index.topics() == []


def test_log_ends_do_not_go_back_when_the_last_group_goes() -> None:
    index = TopicIndex()
    index.list_all(listed(0, t=[10, 5]))
    index.apply(lag_event("g", evaluated_at=NOW + 5 * SECOND, topics={"t": topic(at(0, 30))}))
    index.forget("demo", "g")
    assert log_ends(index) == [30, 5]
    scraped = index.brought_up_to_date(listed(0, t=[10, 5], other=[1]))
    assert scraped.log_ends == {"t": [30, 5], "other": [1]}
    index.list_all(listed(10, t=[2, 6]))  # as it is now: made anew, or truncated
    assert log_ends(index) == [2, 6]
    index.apply(lag_event("g", evaluated_at=NOW + 8 * SECOND, topics={"t": topic(at(0, 30))}))
    index.forget("demo", "g")
    assert log_ends(index) == [2, 6]
    index.unlist("demo")
    assert index.topic("demo", "t") is None


def log_ends(index: TopicIndex) -> list[int]:
    view = index.topic("demo", "t")
    assert view is not None
    return view.log_ends()
