"""Topics as their groups and lists of all topics have them."""

from typing import Any

from api.served_api import CAUGHT_UP, NOW, Api, freshness_event, lag_event, paced, topic
from warren_api.model.freshness import GroupFreshness
from warren_api.model.group import GroupView
from warren_api.model.topics import TopicProgress, TopicView, progress_on

SECOND = 1_000


def progress_of(*rows: dict[str, Any]) -> TopicProgress:
    """Of one group on topic t, with what was measured of each of its partitions."""
    columns = topic(*({"committed": 10, "log_end": 40, "lag": 30} for _ in rows))
    measured = GroupFreshness(freshness_event("g", topic="t", rows=list(rows)))
    return progress_on(GroupView(lag_event("g", topics={"t": columns}), measured=measured), "t")


def view(api: Api, name: str) -> TopicView:
    found = api.model.topics.topic("demo", name)
    assert found is not None
    return found


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


def test_a_topic_is_what_its_groups_see_of_it(api: Api) -> None:
    for group, ends in (("old", [50, 7]), ("new", [60])):
        rows = [{"log_end": end, "log_start": 1, "lag": end, "committed": 0} for end in ends]
        api.put(group, evaluated_at=NOW + (group == "new"), topics={"t": topic(*rows)})
    found = view(api, "t")
    assert (sorted(found.groups), found.partition_count) == (["new", "old"], 2)
    assert [tuple(log) for log in found.partitions()] == [(0, 1, 60), (1, 1, 7)]
    api.put("old", topics={"u": topic({})})
    assert [each.topic for each in api.model.topics.topics()] == ["t", "u"]
    assert sorted(view(api, "t").groups) == ["new"]


def test_a_topic_that_no_group_consumes_has_a_rate_too(api: Api) -> None:
    api.list_topics({"quiet": [5, -1], "t": [10]}, NOW)
    api.list_topics({"quiet": [105, 7, 3], "t": [20]}, NOW + 10 * SECOND)
    quiet = view(api, "quiet")
    assert (quiet.produce_rate, quiet.consume_rate, quiet.partition_count) == (10.0, None, 3)
    assert [log.log_end for log in quiet.partitions()] == [105, 7, 3]
    api.list_topics({"t": [30]}, NOW + 20 * SECOND)
    assert [each.topic for each in api.model.topics.topics()] == ["t"], "quiet was deleted"
    api.put("g", evaluated_at=NOW, topics={"t": topic({"log_end": 4})})
    assert (view(api, "t").produce_rate, api.model.topics.names("demo")) == (1.0, ["t"])
    assert [tuple(log) for log in view(api, "t").partitions()] == [(0, 0, 30)], "the list is newer"
