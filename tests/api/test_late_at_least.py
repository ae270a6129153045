"""A group whose records retention has deleted: late at least so long, wherever that is said."""

import pytest
from api.served_api import CAUGHT_UP, Api, late
from warren_core.standing.figures import loss_in

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
    rows = stuck.get("/api/v1/groups?sort=late").json()["groups"]
    assert [row["group"] for row in rows] == ["stuck", "slow"]
    assert rows[0]["freshness_at_least_ms"] == 49 * MINUTE
    assert rows[0]["freshness_ms"] == 0  # of the partition that is known


def test_pages_show_a_lower_bound_to_be_believed_with_care(stuck: Api) -> None:
    assert "&gt; 49m" in stuck.get("/?q=is:any").text
    page = stuck.get("/groups/demo/stuck").text
    assert page.count("&gt; 49m") == 2  # the group and its partition
    assert "incomplete" in page


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
    assert view.freshness is not None
    return loss_in(view.freshness.event, view.event), view.loses_in_ms
