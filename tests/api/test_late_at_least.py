"""A group whose records retention has deleted: late at least so long, wherever that is said."""

from __future__ import annotations

import pytest
from api.served_api import CAUGHT_UP, Api, late

MINUTE = 60_000


@pytest.fixture
def stuck(api: Api) -> Api:
    """One has lost records and is 49 minutes late at least, another is half an hour late."""
    for group in ("stuck", "slow"):
        api.put(group)
    lost = {"reason": "expired", "bound_ms": 49 * MINUTE, "lost_records": 5_564}
    api.measure("stuck", CAUGHT_UP, late(None, time_to_loss_ms=20 * MINUTE, **lost))
    api.measure("slow", CAUGHT_UP, late(30 * MINUTE))
    return api


def test_it_is_the_latest(stuck: Api) -> None:
    rows = stuck.get("/api/v1/groups?sort=time_lag").json()["groups"]
    assert [row["group"] for row in rows] == ["stuck", "slow"]
    assert rows[0]["freshness_at_least_ms"] == 49 * MINUTE
    assert rows[0]["freshness_ms"] == 0  # of the partition that is known


def test_pages_show_a_lower_bound_to_be_believed_with_care(stuck: Api) -> None:
    assert "&gt; 49m" in stuck.get("/?q=is:any").text
    page = stuck.get("/groups/demo/stuck").text
    assert page.count("&gt; 49m") == 2  # the group and its partition
    assert "incomplete" in page


def test_series_have_what_it_is_at_least(stuck: Api) -> None:
    lines = [line for line in stuck.get("/metrics").text.splitlines() if "stuck" in line]
    for name, value in (
        ("warren_group_freshness_seconds{", 2940),
        ("warren_topic_freshness_seconds{", 2940),
        ("kafka_consumergroup_group_max_lag_seconds{", 2940),
    ):
        (line,) = [line for line in lines if line.startswith(name)]
        assert float(line.split()[-1]) == value
    for name, value in (
        ("warren_partition_freshness_seconds{", 2940),
        ("kafka_consumergroup_group_lag_seconds{", 2940),
        ("kafka_consumer_freshness_ms{", 2_940_000),
    ):
        found = [float(line.split()[-1]) for line in lines if line.startswith(name)]
        assert found == [0, value]


def test_it_runs_out_when_less_is_left_than_it_is_late(stuck: Api) -> None:
    view = stuck.model.group("demo", "stuck")
    assert view is not None
    assert view.loses_in_ms == 20 * MINUTE


def test_what_runs_out_is_one_partition_not_two(api: Api) -> None:
    """One is late and far from loss, the other keeps up where records are kept for half an hour."""
    api.put("g")
    late_one = late(120 * MINUTE, time_to_loss_ms=300 * MINUTE, retention_left=0.7)
    api.measure("g", late_one, late(MINUTE, time_to_loss_ms=29 * MINUTE, retention_left=0.97))
    assert running_out(api) == (None, None)
    near = late(MINUTE, time_to_loss_ms=29 * MINUTE, retention_left=0.5)
    api.measure("g", late_one, near, late(MINUTE, time_to_loss_ms=MINUTE, retention_left=0.9))
    assert running_out(api) == (29 * MINUTE, 29 * MINUTE)
    lines = api.get("/metrics").text.splitlines()
    samples = [line for line in lines if line.startswith("warren_group_running_out_seconds{")]
    assert [float(line.split()[-1]) for line in samples] == [1740]


def running_out(api: Api) -> tuple[int | None, int | None]:
    view = api.model.group("demo", "g")
    assert view is not None
    return view.runs_out_in_ms, view.loses_in_ms


def test_no_time_until_loss_where_size_deletes(api: Api) -> None:
    api.put("g")
    api.measure("g", late(MINUTE, time_to_loss_reason="size_unknown"))
    (row,) = api.get("/api/v1/groups").json()["groups"]
    assert (row["time_to_loss_ms"], row["time_to_loss_reason"]) == (None, "size_unknown")
    detail = api.get("/api/v1/groups/demo/g").json()
    assert detail["partitions"][0]["time_to_loss_reason"] == "size_unknown"
    why = 'retention.bytes deletes records; how fast the log grows was not seen">unknown</span>'
    assert why in api.get("/?q=is:any").text
    assert api.get("/groups/demo/g").text.count(why) == 2


@pytest.mark.parametrize(("left", "shown"), [(30 * MINUTE, "30m"), (9 * 60 * MINUTE, "unknown")])
def test_what_is_known_of_others_is_shown_when_it_is_near(api: Api, left: int, shown: str) -> None:
    api.put("g")
    unknown = late(MINUTE, time_to_loss_reason="size_unknown")
    api.measure("g", unknown, late(MINUTE, time_to_loss_ms=left))
    assert f">{shown}</span>" in api.get("/?q=is:any").text
