"""`/v3/kafka/{cluster}/topic…` as Burrow 1.9.5 answers."""

import pytest
from api.burrow_goldens import golden
from api.served_api import NOW, Api, topic


@pytest.fixture
def shop(api: Api) -> Api:
    api.put(
        "billing", topics={"orders": topic({"log_end": 200}, {"log_end": 210}, {"log_end": -1})}
    )
    later = {"orders": topic({"log_end": 205}, {"log_end": -1}), "quiet": topic({"log_end": 0})}
    api.put("audit", topics=later, evaluated_at=NOW + 1)
    api.put("else", cluster="other", topics={"elsewhere": topic({})})
    return api


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", '"topic list returned","topics":["orders","quiet"]'),
        # The newest known of each partition.
        ("/orders", '"topic offsets returned","offsets":[205,210,-1]'),
        ("/orders/consumers", '"consumers of topic returned","consumers":["audit","billing"]'),
    ],
)
def test_bodies(shop: Api, path: str, said: str) -> None:
    url = f"/v3/kafka/demo/topic{path}"
    answer = shop.get(url)
    assert (answer.status_code, answer.text) == (
        200,
        golden(f'{{"error":false,"message":{said},"request":{{"url":"{url}","host":"host"}}}}'),
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v3/kafka/nope/topic", "cluster not found"),
        ("/v3/kafka/nope/topic/orders/consumers", "cluster not found"),
        ("/v3/kafka/nope/topic/orders", "cluster or topic not found"),
        ("/v3/kafka/demo/topic/nope", "cluster or topic not found"),
        ("/v3/kafka/demo/topic/elsewhere", "cluster or topic not found"),
    ],
)
def test_what_is_not_there(shop: Api, path: str, message: str) -> None:
    answer = shop.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.text == golden(
        f'{{"error":true,"message":"{message}","request":{{"url":"{path}","host":"host"}}}}'
    )


def test_topics_that_nobody_consumes_are_listed_too(shop: Api) -> None:
    shop.list_topics({"alone": [0, 7], "orders": [1, 1, 4, 9]}, observed_at=NOW - 1)
    names = shop.get("/v3/kafka/demo/topic").json()["topics"]
    assert names == ["alone", "orders", "quiet"]
    assert shop.get("/v3/kafka/demo/topic/alone").json()["offsets"] == [0, 7]
    assert shop.get("/v3/kafka/demo/topic/alone/consumers").json()["consumers"] == []
    # What groups saw later wins; what only the list knows stays.
    assert shop.get("/v3/kafka/demo/topic/orders").json()["offsets"] == [205, 210, 4, 9]


def test_a_newer_list_wins_and_forgets_what_it_does_not_name(shop: Api) -> None:
    shop.list_topics({"alone": [7]}, observed_at=NOW)
    shop.list_topics({"orders": [300, -1]}, observed_at=NOW + 2)
    assert shop.get("/v3/kafka/demo/topic/orders").json()["offsets"] == [300, 210, -1]
    assert shop.get("/v3/kafka/demo/topic/alone").status_code == 404
    shop.model.apply_topics(b"demo", None)
    assert shop.get("/v3/kafka/demo/topic/orders").json()["offsets"] == [205, 210, -1]
