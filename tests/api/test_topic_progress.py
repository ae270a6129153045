from __future__ import annotations

from typing import Any

from api.served_api import CAUGHT_UP, NOW, freshness_event, lag_event, paced, topic
from warren.contracts import TopicsEvent
from warren_api.model.topics import TopicIndex, TopicProgress

SECOND = 1_000


def at(committed: int, log_end: int) -> dict[str, Any]:
    return {"committed": committed, "log_end": log_end, "lag": log_end - committed}


def progress_of(*rows: dict[str, Any]) -> TopicProgress:
    """Of one group on topic t, with what was measured of each of its partitions."""
    index = TopicIndex()
    columns = topic(*(at(10, 40) for _ in rows))
    index.apply(lag_event("g", evaluated_at=NOW, topics={"t": columns}))
    if rows:
        index.measure("demo", "g", freshness_event("g", topic="t", rows=list(rows)))
    return index.progress("demo", "g")["t"]


def test_rates_are_those_that_freshness_has_measured() -> None:
    progress = progress_of(paced(10.0, 5.0), paced(1.0, 0.5), CAUGHT_UP)
    assert (progress.produce_rate, progress.consume_rate, progress.lag) == (11.0, 5.5, 90)
    unknown = progress_of(CAUGHT_UP)
    assert (unknown.produce_rate, unknown.consume_rate, unknown.catch_up_ms) == (None, None, None)


def test_it_has_caught_up_when_its_slowest_partition_has() -> None:
    assert progress_of(paced(1.0, 2.0, 7000), paced(1.0, 9.0, 300)).catch_up_ms == 7000
    assert progress_of(paced(1.0, 2.0, 7000), paced(9.0, 1.0)).catch_up_ms is None
    never = {**CAUGHT_UP, "reason": "no_commit", "freshness_ms": None, "bound_ms": None}
    assert progress_of(paced(1.0, 2.0, 7000), never).catch_up_ms == 7000


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
