"""`/v3/kafka/{cluster}/consumer/{group}`: the whole window of every partition."""

from api.burrow_goldens import Commit, golden, put_windows, steady, windows_of
from api.served_api import NOW, Api, topic
from warren_core.evaluation.packed_windows import pack

# A group that went back on its eleventh commit, two partitions of which it never committed.
REWOUND: list[Commit] = [
    *((o, NOW + 1500 * n, NOW + 30_000, 65 - 5 * n) for n, o in enumerate(range(35, 80, 5))),
    (0, NOW + 31_069, NOW + 31_069, 100),
]
REWOUND_BODY = golden(
    '{"error":false,"message":"consumer detail returned","topics":{"orders":[{"offsets":['
    '{"offset":35,"timestamp":1795244400000,"observedAt":1795244430000,"lag":65},'
    '{"offset":40,"timestamp":1795244401500,"observedAt":1795244430000,"lag":60},'
    '{"offset":45,"timestamp":1795244403000,"observedAt":1795244430000,"lag":55},'
    '{"offset":50,"timestamp":1795244404500,"observedAt":1795244430000,"lag":50},'
    '{"offset":55,"timestamp":1795244406000,"observedAt":1795244430000,"lag":45},'
    '{"offset":60,"timestamp":1795244407500,"observedAt":1795244430000,"lag":40},'
    '{"offset":65,"timestamp":1795244409000,"observedAt":1795244430000,"lag":35},'
    '{"offset":70,"timestamp":1795244410500,"observedAt":1795244430000,"lag":30},'
    '{"offset":75,"timestamp":1795244412000,"observedAt":1795244430000,"lag":25},'
    '{"offset":0,"timestamp":1795244431069,"observedAt":1795244431069,"lag":100}],'
    '"owner":"","client_id":"","current-lag":100},'
    '{"offsets":[],"owner":"","client_id":"","current-lag":0},'
    '{"offsets":[],"owner":"","client_id":"","current-lag":0}]},'
    '"request":{"url":"/v3/kafka/demo/consumer/batch","host":"host"}}'
)


def test_the_whole_window(api: Api) -> None:
    put_windows(api, "batch", {"orders": [REWOUND, [], []]})
    answer = api.get("/v3/kafka/demo/consumer/batch")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.text == REWOUND_BODY


def test_slots_that_are_still_empty_are_null_and_come_first(api: Api) -> None:
    put_windows(api, "new", {"orders": [steady(2)]})
    (partition,) = api.get("/v3/kafka/demo/consumer/new").json()["topics"]["orders"]
    assert partition["offsets"][:8] == [None] * 8
    assert [slot["offset"] for slot in partition["offsets"][8:]] == [35, 40]


def test_the_index_is_the_number_of_the_partition(api: Api) -> None:
    """Also where lower ones are not known."""
    windows = pack(windows_of(steady(1), steady(1)))
    topics = {"orders": topic({"partition": 2}, {"partition": 4})}
    api.put("g", topics=topics, windows=windows)
    partitions = api.get("/v3/kafka/demo/consumer/g").json()["topics"]["orders"]
    assert [bool(partition["offsets"]) for partition in partitions] == [
        False,
        False,
        True,
        False,
        True,
    ]
    assert partitions[3] == {"offsets": [], "owner": "", "client_id": "", "current-lag": 0}


def test_windows_that_do_not_fit_do_not_fail(api: Api) -> None:
    api.put("g", windows="AAAA")
    answer = api.get("/v3/kafka/demo/consumer/g")
    assert answer.status_code == 200
    assert len(answer.json()["topics"]["orders"]) == 2


def test_an_unknown_group_is_an_error(api: Api) -> None:
    for path in ("/v3/kafka/demo/consumer/nope", "/v3/kafka/nope/consumer/nope"):
        answer = api.get(path)
        assert answer.status_code == 404
        assert answer.text == golden(
            '{"error":true,"message":"cluster or consumer not found",'
            f'"request":{{"url":"{path}","host":"host"}}}}'
        )


def test_owners_are_the_members_of_the_group(api: Api) -> None:
    put_windows(api, "billing", {"orders": [steady(10), steady(1), []]})
    member = {"member_id": "m", "client_id": "billing-1", "host": "/10.0.0.1"}
    api.describe("billing", members=[{**member, "assignment": {"orders": [1, 2]}}])
    nobody, owned, idle = api.get("/v3/kafka/demo/consumer/billing").json()["topics"]["orders"]
    assert (nobody["owner"], nobody["client_id"]) == ("", "")
    for partition in (owned, idle):
        assert (partition["owner"], partition["client_id"]) == ("/10.0.0.1", "billing-1")
    status = api.get("/v3/kafka/demo/consumer/billing/lag").json()["status"]
    assert [p["client_id"] for p in status["partitions"]] == ["", "billing-1", "billing-1"]
