"""Groups whose status is not known: what was judged last is not shown as if it were so now."""

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api
from api.test_clusters import say
from warren_api.model.cluster import FeedState

MINUTE = 60_000
HOUR = 60 * MINUTE


@pytest.fixture
def dark() -> Api:
    """Of two clusters one cannot be reached since an hour ago; `fine` of the other is well."""
    api = Api(clusters=("dark", "prod"))
    say(api, "a", "unreachable", "dark", since=NOW - HOUR, problem="no broker answers")
    say(api, "a", "ok", "prod")
    incident = {"id": "5b6a", "opened_at": NOW - 2 * HOUR}
    api.put("was-bad", "dark", status="ERR", incident=incident, evaluated_at=NOW - HOUR)
    api.put("was-fine", "dark", evaluated_at=NOW - HOUR)
    api.put("fine", "prod")
    return api


def statuses(api: Api, query: str = "") -> dict[str, str]:
    groups = api.get(f"/api/v1/groups{query}").json()["groups"]
    return {group["group"]: group["status"] for group in groups}


def test_groups_of_a_cluster_that_cannot_be_reached(dark: Api) -> None:
    assert statuses(dark) == {"was-bad": "UNKNOWN", "was-fine": "UNKNOWN", "fine": "OK"}
    assert statuses(dark, "?q=is:action") == {"was-bad": "UNKNOWN"}  # until somebody knows better
    assert statuses(dark, "?q=status:err") == {"was-bad": "UNKNOWN"}
    assert {text(cell) for cell in page(dark, "/fleet").select("td a.count")} == {
        "1 ERR",
        "1 UNKNOWN",
    }
    group = dark.get("/api/v1/groups/dark/was-fine").json()
    assert (group["last_status"], group["status_reason"]) == ("OK", "cluster_unreachable")
    assert group["explanation"] == "cluster unreachable for 1h; last judged 1h ago: OK"
    assert (group["since"], group["evaluated_at"]) == (NOW - HOUR, NOW - HOUR)
    clusters = dark.get("/api/v1/clusters").json()["clusters"]
    assert [each["status_counts"] for each in clusters] == [
        {"ERR": 0, "WARN": 0, "UNKNOWN": 2, "OK": 0},
        {"ERR": 0, "WARN": 0, "UNKNOWN": 0, "OK": 1},
    ]
    topic = dark.get("/api/v1/topics/dark/orders").json()
    assert {each["status"] for each in topic["groups"]} == {"UNKNOWN"}


def test_trouble_of_one_cluster_is_its_own(dark: Api) -> None:
    doubt = "Cluster dark is unreachable for 1h: no broker answers."
    assert dark.get("/api/v1/groups").json()["doubts"] == [doubt]
    assert dark.get("/api/v1/groups?cluster=dark").json()["doubts"] == [doubt]
    assert dark.get("/api/v1/groups?cluster=prod").json()["doubts"] == []
    assert dark.get("/api/v1/groups/prod/fine").json()["doubts"] == []
    assert not page(dark, "/groups/prod/fine").select(".banner:not([hidden])")
    (banner,) = page(dark, "/").select(".banner:not([hidden])")
    assert doubt in text(banner)
    assert "Do not rely on this page" not in text(banner)


def test_the_page_of_the_group_says_why(dark: Api) -> None:
    soup = page(dark, "/groups/dark/was-fine")
    (why,) = soup.select(".why")
    assert text(why) == (
        "Unknown: cluster unreachable for 1h; last judged 1h ago: OK. All below is as it was then."
    )
    assert not soup.select(".chip.ok, .count.ok")
    assert "Yes" not in text(soup)


@pytest.mark.parametrize("seconds", [34, 36])
def test_what_was_not_judged_for_three_heartbeats_and_an_interval(api: Api, seconds: int) -> None:
    api.put("g")
    assert statuses(api) == {"g": "OK"}, "rendered once"
    api.clock.advance(seconds)
    assert statuses(api) == {"g": "OK" if seconds == 34 else "UNKNOWN"}
    api.put("g", evaluated_at=NOW + seconds * 1000)
    assert statuses(api) == {"g": "OK"}


@pytest.mark.parametrize(
    ("state", "reason"),
    [("refused", "cluster_refused"), ("failing", "cluster_failing"), ("ok", None)],
)
def test_a_cluster_in_trouble_for_long_though_its_groups_are_published(
    api: Api, state: str, reason: str | None
) -> None:
    api.put("g")
    say(api, "a", state, since=NOW - HOUR)
    assert api.get("/api/v1/groups/demo/g").json()["status_reason"] == reason
    say(api, "b", "ok")  # another collector reads its part: ages tell which groups are whose
    assert statuses(api) == {"g": "OK"}


def test_trouble_that_has_just_begun_is_no_reason_yet(api: Api) -> None:
    api.put("g")
    say(api, "a", "unreachable", since=NOW - 1000)
    assert statuses(api) == {"g": "OK"}


@pytest.mark.parametrize(
    ("age", "state", "reason", "why"),
    [
        (5, "rebuilding", "cluster_rebuilding", "cluster being read for 1m; last judged 5m ago"),
        (5, "ok", "not_judged_lately", "last judged 5m ago"),
        (-5, "ok", "not_judged_lately", "last judged by a clock that is 5m ahead"),
    ],
)
def test_other_reasons(api: Api, age: int, state: str, reason: str, why: str) -> None:
    api.put("g", evaluated_at=NOW - age * MINUTE)
    say(api, "a", state, since=NOW - MINUTE)
    group = api.get("/api/v1/groups/demo/g").json()
    assert group["status_reason"] == reason
    assert group["explanation"] == f"{why}: OK"


def test_a_collector_that_fell_silent(api: Api) -> None:
    api.put("g", evaluated_at=NOW - 5 * MINUTE)
    say(api, "a", "ok", observed_at=NOW - 5 * MINUTE)
    group = api.get("/api/v1/groups/demo/g").json()
    assert group["status_reason"] == "collector_silent"
    assert group["explanation"].startswith("a collector was last heard of 5m ago; ")
    assert "A collector of cluster demo was last heard of 5m ago." in group["doubts"]


def test_while_the_home_cluster_is_away(api: Api) -> None:
    api.put("g", evaluated_at=NOW - 5 * MINUTE)
    api.feed = FeedState(ready=True, problem="cluster home: no broker answers")
    group = api.get("/api/v1/groups/demo/g").json()
    assert group["status_reason"] == "own_topics_unreadable"
