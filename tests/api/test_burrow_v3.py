"""Golden bodies written by hand from Burrow 1.9.5's structs, key order included."""

import json
import socket
from urllib.parse import quote

import httpx
import pytest
from api.served_api import NOW, Api, topic
from warren_api.model.cluster import FeedState

HOST = socket.gethostname()
TEXT = "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("", 200, '"error":false,"message":"cluster list returned","clusters":["demo"]'),
        (
            "/demo/consumer",
            200,
            '"error":false,"message":"consumer list returned","consumers":["a","b"]',
        ),
        ("/nope/consumer", 404, '"error":true,"message":"cluster not found"'),
    ],
)
def test_lists(api: Api, path: str, status: int, said: str) -> None:
    api.put("b")
    api.put("a")
    answer = api.get(f"/v3/kafka{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.text == f'{{{said},"request":{{"url":"/v3/kafka{path}","host":"{HOST}"}}}}'


BAD_PARTITION = (
    '{"topic":"orders","partition":1,"owner":"","client_id":"","status":"STOP",'
    '"start":{"offset":10,"timestamp":1795244310000,"observedAt":1795244310007,"lag":3},'
    '"end":{"offset":40,"timestamp":1795244340000,"observedAt":1795244340009,"lag":null},'
    '"current_lag":60,"complete":0.7}'
)
GOOD_PARTITION = (
    '{"topic":"orders","partition":0,"owner":"","client_id":"","status":"OK",'
    '"start":{"offset":91,"timestamp":1795244390000,"observedAt":1795244390010,"lag":4},'
    '"end":{"offset":100,"timestamp":1795244399000,"observedAt":1795244399010,"lag":0},'
    '"current_lag":0,"complete":1}'
)
EMPTY_PARTITION = (
    '{"topic":"orders","partition":2,"owner":"","client_id":"","status":"OK",'
    '"start":null,"end":null,"current_lag":0,"complete":0}'
)


@pytest.fixture
def stopped(api: Api) -> Api:
    bad = {
        "status": "STOP",
        "lag": 60,
        "complete": 0.7,
        "start": (10, NOW - 90_000, NOW - 89_993, 3),
        "end": (40, NOW - 60_000, NOW - 59_991, None),
    }
    empty = {"committed": -1, "committed_at": -1, "lag": None, "complete": 0.0}
    empty |= {"start": None, "end": None}
    topics = {"orders": topic({}, bad, empty)}
    api.put("billing", status="ERR", complete=1 / 3, total_lag=60, topics=topics)
    return api


@pytest.mark.parametrize(
    ("end", "partitions"),
    [
        ("status", BAD_PARTITION),  # those that are not OK
        ("lag", f"{GOOD_PARTITION},{BAD_PARTITION},{EMPTY_PARTITION}"),
    ],
)
def test_partitions_of_a_group(stopped: Api, end: str, partitions: str) -> None:
    answer = stopped.get(f"/v3/kafka/demo/consumer/billing/{end}")
    assert answer.status_code == 200
    assert answer.text == (
        '{"error":false,"message":"consumer status returned","status":{"cluster":"demo",'
        '"group":"billing","status":"ERR","complete":0.33333334,'
        f'"partitions":[{partitions}],"partition_count":3,"maxlag":{BAD_PARTITION},'
        f'"totallag":60}},"request":{{"url":"/v3/kafka/demo/consumer/billing/{end}",'
        f'"host":"{HOST}"}}}}'
    )


def test_a_healthy_group_has_no_partitions_in_status_but_a_largest_lag(api: Api) -> None:
    api.put("billing", topics={"orders": topic({})})
    status = api.get("/v3/kafka/demo/consumer/billing/status").json()["status"]
    assert (status["status"], status["partitions"]) == ("OK", [])
    assert status["maxlag"] == json.loads(GOOD_PARTITION)


@pytest.mark.parametrize("end", ["status", "lag"])
@pytest.mark.parametrize("cluster", ["demo", "nope"])
def test_an_unknown_group_is_a_status_not_an_error(api: Api, cluster: str, end: str) -> None:
    answer = api.get(f"/v3/kafka/{cluster}/consumer/nobody/{end}")
    assert answer.status_code == 404
    assert answer.text == (
        f'{{"error":false,"message":"consumer status returned","status":{{"cluster":"{cluster}",'
        '"group":"nobody","status":"NOTFOUND","complete":1,"partitions":[],"partition_count":0,'
        f'"maxlag":null,"totallag":0}},"request":{{"url":"/v3/kafka/{cluster}/consumer/nobody/{end}",'
        f'"host":"{HOST}"}}}}'
    )


@pytest.mark.parametrize(
    "group",
    [
        "a/b",
        "a/status",
        "status",
        "grün 🐇",
        "100%",
        "%2F",
        "a|b",
        "a?b#c",
        "a+b c",
        "<b>",
        "a;b=c",
    ],
)
def test_any_group_name_works_when_percent_encoded(api: Api, group: str) -> None:
    api.put(group)
    encoded = quote(group, safe="")
    answer = api.get(f"/v3/kafka/demo/consumer/{encoded}/status")
    assert answer.status_code == 200
    assert answer.json()["status"]["group"] == group
    # As in Burrow, the URL in the answer is the decoded one.
    assert answer.json()["request"]["url"] == f"/v3/kafka/demo/consumer/{group}/status"


@pytest.mark.parametrize("path", ["/v3", "/v4/kafka", "/v3/kafka/demo/consumer/g/other", "/x/"])
def test_unknown_urls_get_what_go_sends(api: Api, path: str) -> None:
    answer = api.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == TEXT
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text == '{"error":true,"message":"invalid request type","result":{}}\n'


@pytest.mark.parametrize("path", ["/v3/kafka/", "//v3/kafka", "/v3//kafka//"])
def test_a_path_is_cleaned_by_a_redirect(api: Api, path: str) -> None:
    answer = api.request("GET", httpx.URL("http://localhost/", raw_path=f"{path}?x=1".encode()))
    assert (answer.status_code, answer.headers["location"]) == (301, "/v3/kafka?x=1")
    assert answer.text == '<a href="/v3/kafka?x=1">Moved Permanently</a>.\n\n'


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/%2Fevil.example/", "///", "//evil.example/..//"]
)
def test_a_redirect_never_leaves_the_host(api: Api, path: str) -> None:
    answer = api.request("GET", f"http://localhost{path}")
    assert "evil" not in answer.headers.get("location", "")
    assert answer.status_code == 404


def test_admin(api: Api) -> None:
    answer = api.get("/burrow/admin")
    assert (answer.status_code, answer.text, answer.headers["content-type"]) == (200, "GOOD", TEXT)


def test_ready_once_the_topics_have_been_read(api: Api) -> None:
    api.feed = FeedState(ready=False, problem=None)
    answer = api.get("/burrow/admin/ready")
    assert (answer.status_code, answer.text) == (503, "STARTING")
    api.feed = FeedState(ready=True, problem="home cluster away")
    answer = api.get("/burrow/admin/ready")
    assert (answer.status_code, answer.text, answer.headers["content-type"]) == (200, "READY", TEXT)
