"""`/api/v1/groups`: filters, orders, pages; members, topics and the past of one group."""

from typing import Any, get_args

import pytest
from api.served_api import NOW, Api, late, paced, topic
from warren.settings import ClusterSettings, ObjectiveSettings, Settings
from warren_api.v1.groups import GroupSort

MINUTE = 60_000


@pytest.fixture
def filled(api: Api) -> Api:
    """Five groups on two clusters: two bad, one share group, one without a commit."""
    incident = {"id": "i", "opened_at": NOW - 9 * MINUTE}
    orders = {"orders": topic({"status": "STOP", "lag": 7})}
    api.put("billing", status="ERR", total_lag=7, incident=incident, topics=orders)
    api.put("mailer", cluster="eu", status="WARN", total_lag=900, topics={"mails": topic({})})
    api.put("fine", total_lag=40)
    api.measure("billing", late(5_000, lost_records=2), late(3_000))
    api.measure("fine", late(8_000, time_to_loss_ms=9_000_000), late(0))
    api.change("fine", "OK", NOW - 20 * MINUTE)
    api.describe("thumbnails", protocol="share")
    api.describe("new", members=[{"member_id": "m", "client_id": "c", "host": "h"}])
    api.describe("left", members=[])
    return api


def names(api: Api, query: str = "") -> list[str]:
    answer = api.get(f"/api/v1/groups?{query}")
    assert answer.status_code == 200, answer.text
    return [group["group"] for group in answer.json()["groups"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["billing", "mailer", "fine", "new", "thumbnails"]),
        ("sort=lag", ["mailer", "fine", "billing", "new", "thumbnails"]),
        ("sort=late", ["fine", "billing", "new", "thumbnails", "mailer"]),
        ("sort=loss", ["billing", "fine", "new", "thumbnails", "mailer"]),
        ("sort=since", ["billing", "fine", "new", "thumbnails", "mailer"]),
        ("sort=name", ["billing", "fine", "new", "thumbnails", "mailer"]),
        ("status=ERR", ["billing"]),
        ("status=ERR&status=WARN", ["billing", "mailer"]),
        ("regex=^.i", ["billing", "fine"]),
        ("regex=ile", ["mailer"]),
        ("regex=ing$", ["billing"]),
        ("regex=BILL", []),
        ("regex=(?i)BILL", ["billing"]),
        ("topic=mails", ["mailer"]),
        ("topic=orders", ["billing", "fine", "thumbnails"]),
        ("cluster=eu", ["mailer"]),
        ("cluster=eu&status=OK", []),
    ],
)
def test_filters_and_orders(filled: Api, query: str, expected: list[str]) -> None:
    assert names(filled, query) == expected


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("status=NICE", "status"),
        ("statsu=ERR", "statsu"),
        ("sort=size", "sort"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=many", "limit"),
        ("regex=(", "regex: not a regular expression: missing ): ("),
        ("regex=(?=a)", "regex: not a regular expression: invalid perl operator: (?="),
        ("regex=(a{999}){999}", "regex: not a regular expression: invalid repetition size: {999}"),
        (r"regex=(\pL{9}){99}", "regex: not a regular expression: pattern too large"),
        (f"regex={'x' * 301}", "regex"),
        (f"topic={'x' * 301}", "topic"),
    ],
)
def test_what_it_does_not_understand_is_refused(filled: Api, query: str, named: str) -> None:
    answer = filled.get(f"/api/v1/groups?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["type"] == "/api/v1/problems/invalid-request"
    assert f"query.{named}" in body["detail"]
    assert filled.get(body["type"]).json()["title"] == body["title"]


@pytest.mark.parametrize("sort", get_args(GroupSort))
def test_pages_show_every_group_once(filled: Api, sort: str) -> None:
    whole = names(filled, f"sort={sort}")
    shown: list[str] = []
    cursor = ""
    while True:
        body = filled.get(f"/api/v1/groups?sort={sort}&limit=2{cursor}").json()
        assert body["total"] == 5
        shown += [group["group"] for group in body["groups"]]
        if body["next"] is None:
            break
        cursor = f"&cursor={body['next']}"
    assert shown == whole


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("thumbnails", "lag not defined by committed offsets"),
        ("new", "no offset committed yet"),
    ],
)
def test_a_group_without_a_verdict_never_has_a_lag_of_zero(
    filled: Api, name: str, why: str
) -> None:
    (group,) = filled.get(f"/api/v1/groups?regex=^{name}$").json()["groups"]
    unknown = ("status", "total_lag", "freshness_ms", "lost_records", "complete", "evaluated_at")
    assert [group[field] for field in unknown] == [None] * len(unknown)
    assert group["not_judged"] == why
    detail = filled.get(f"/api/v1/groups/demo/{name}").json()
    assert (detail["not_judged"], detail["partitions"], detail["policy"]) == (why, [], None)
    assert len(detail["membership"]["members"]) == 1


def test_members_and_what_they_own(api: Api) -> None:
    api.put("g", topics={"orders": topic({}, {}, {})})
    api.describe("g", last_rebalance_at=NOW - MINUTE, rebalances=2, unowned={"orders": [2]})
    body = api.get("/api/v1/groups/demo/g").json()
    assert (body["protocol"], body["state"], body["member_count"]) == ("consumer", "Stable", 1)
    assert [row["owner"] for row in body["partitions"]] == ["m-1", "m-1", None]
    membership = body["membership"]
    assert (membership["generation"], membership["rebalances"]) == (3, 2)
    assert membership["last_rebalance_at"] == NOW - MINUTE
    assert membership["unowned"] == {"orders": [2]}
    (member,) = membership["members"]
    assert (member["client_id"], member["host"]) == ("billing-1", "/10.0.0.1")
    assert (member["assignment"], member["epoch"]) == ({"orders": [0, 1]}, None)


def test_why_is_on_the_group_and_on_each_partition(api: Api) -> None:
    why = {"reason": "no_commit", "explanation": "no commit for 4m 12s, usual pause 5s"}
    bad = {"status": "STOP", "lag": 7, **why}
    columns = topic({}, bad) | {"reason": [None, why["reason"]]}
    columns["explanation"] = [None, why["explanation"]]
    api.put("g", status="ERR", topics={"orders": columns}, **why)
    body = api.get("/api/v1/groups/demo/g").json()
    told = [(each["status_reason"], each["explanation"]) for each in (body, *body["partitions"])]
    assert told == [tuple(why.values()), (None, None), tuple(why.values())]


def test_the_past_of_a_group_newest_first(api: Api) -> None:
    api.put("g")
    fields: dict[str, Any] = {"opened_at": NOW - 2 * MINUTE}
    why = {"reason": "no_commit", "explanation": "no commit for 30s"}
    api.change("g", "ERR", NOW - 2 * MINUTE, total_lag=8, **why, **fields)
    api.change("other", "ERR", NOW - MINUTE)
    api.change("g", "OK", NOW - MINUTE, previous="ERR", **fields)
    history = api.get("/api/v1/groups/demo/g").json()["history"]
    assert [(each["status"], each["previous"], each["at"]) for each in history] == [
        ("OK", "ERR", NOW - MINUTE),
        ("ERR", "OK", NOW - 2 * MINUTE),
    ]
    assert {each["incident_id"] for each in history} == {f"g-{NOW - 2 * MINUTE}"}
    assert (history[1]["reason"], history[1]["explanation"]) == tuple(why.values())
    assert history[1]["total_lag"] == 8


def test_rates_of_a_group_by_topic(api: Api) -> None:
    api.put("g", topics={"orders": topic({"committed": 100, "log_end": 200, "lag": 100})})
    api.measure("g", paced(20.0, 10.0))
    (row,) = api.get("/api/v1/groups/demo/g").json()["topics"]
    assert row == {
        "topic": "orders",
        "partition_count": 1,
        "lag": 100,
        "produce_rate": 20.0,
        "consume_rate": 10.0,
        "catch_up_ms": None,
    }


def breach(objective: str, status: str) -> dict[str, Any]:
    return {
        "objective": objective,
        "limit": "max_lag",
        "status": status,
        "since": NOW - MINUTE,
        "value": 7,
        "wanted": 5,
        "sentence": f"{objective} is broken",
    }


def test_objectives_that_an_ok_group_does_not_keep(filled: Api) -> None:
    def broken() -> list[tuple[str, str, str]]:
        listed = filled.get("/api/v1/groups", params={"regex": "fine"}).json()["groups"]
        one = filled.get("/api/v1/groups/demo/fine").json()
        assert [row["broken_objectives"] for row in listed] == [one["broken_objectives"]]
        return [(b["status"], b["sentence"], b["incident_id"]) for b in one["broken_objectives"]]

    assert broken() == []
    late = {"type": "warren.group.freshness.changed", "incident_id": "late-1"}
    lost = {"type": "warren.group.retention.changed", "incident_id": "lost-1"}
    on_time = [breach("on-time", "WARN")]
    filled.change("fine", "WARN", NOW - 3, **late, objectives=on_time)
    filled.change("fine", "ERR", NOW - 2, **lost, objectives=[breach("retention", "ERR")])
    said = [("ERR", "retention is broken", "lost-1"), ("WARN", "on-time is broken", "late-1")]
    assert broken() == said
    filled.put("fine")  # judged again
    assert broken() == said
    filled.change("fine", "OK", NOW, previous="ERR", **lost, objectives=[])
    assert broken() == said[1:]


def test_a_search_that_is_not_understood_is_refused(filled: Api) -> None:
    answer = filled.get("/api/v1/groups", params={"q": "status:bad,worse late:soon"})
    assert answer.status_code == 422
    detail = answer.json()["detail"]
    assert "status: needs one of bad, err, warn, unknown, ok." in detail
    assert "late: needs a duration, e.g. late:>10m." in detail


def test_a_group_says_whose_it_is_as_the_pages_do_and_commands_have_the_address() -> None:
    owned = ObjectiveSettings(
        name="fast", groups=["^bill"], max_freshness=60, owner="payments", runbook="https://r.test"
    )
    settings = Settings(
        objectives=[owned], clusters={"demo": ClusterSettings(bootstrap="broker:9092")}
    )
    api = Api(settings=settings)
    action = 'Look: kafka-topics --bootstrap-server "$BOOTSTRAP"'
    cause = {"name": "stuck_record", "sentence": "it stands", "action": action}
    api.put("billing", status="ERR", cause=cause)
    api.put("other")
    for path in ("/api/v1/groups/demo/billing", "/api/v1/groups?regex=bill"):
        body = api.get(path).json()
        row = body["groups"][0] if "groups" in body else body
        assert (row["owner"], row["runbook"]) == ("payments", "https://r.test")
    detail = api.get("/api/v1/groups/demo/billing").json()
    assert detail["cause"]["action"] == "Look: kafka-topics --bootstrap-server broker:9092"
    assert api.get("/api/v1/groups/demo/other").json()["owner"] is None
