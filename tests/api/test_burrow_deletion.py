"""DELETE as Burrow 1.9.5 answers it, and what is asked of the evaluator."""

from collections.abc import Callable

import pytest
from api.burrow_goldens import golden
from api.served_api import NOW, Api, topic
from warren.contracts import OffsetEvent, group_key
from warren.contracts.topics import OFFSETS, Topic
from warren.errors import PublishFailed
from warren_api.model.cluster import FeedState

GROUP = "/v3/kafka/demo/consumer/billing"


class Obeyed:
    """Keeps what is sent; `then` is what the evaluator does about it."""

    def __init__(self) -> None:
        self.sent: list[OffsetEvent] = []
        self.then: Callable[[OffsetEvent], None] = lambda _: None

    def __call__(self, topic: Topic, _key: bytes, value: bytes | None) -> None:
        assert topic is OFFSETS
        assert value is not None
        self.sent.append(OffsetEvent.from_bytes(value))
        self.then(self.sent[-1])


def refused(*asked: object) -> None:
    raise PublishFailed("home", "home", f"not acknowledged: {asked}")


@pytest.fixture
def requests() -> Obeyed:
    return Obeyed()


@pytest.fixture
def api(requests: Obeyed) -> Api:
    api = Api(asking=requests)
    api.put("billing", topics={"orders": topic({}), "quiet": topic({})})
    requests.then = lambda asked: api.model.apply(group_key(asked.cluster, asked.group), None)
    return api


def removed(path: str) -> str:
    return golden(
        '{"error":false,"message":"consumer group removed",'
        f'"request":{{"url":"{path}","host":"host"}}}}'
    )


def test_a_group(api: Api, requests: Obeyed) -> None:
    answer = api.request("DELETE", GROUP)
    assert (answer.status_code, answer.text) == (200, removed(GROUP))
    assert api.get(GROUP).status_code == 404
    (asked,) = requests.sent
    assert (asked.cluster, asked.group, asked.forget) == ("demo", "billing", [])
    assert asked.observed_at == NOW
    assert asked.topics == {}
    assert not asked.deleted


def test_a_topic_of_a_group(api: Api, requests: Obeyed) -> None:
    requests.then = lambda _: api.put("billing", topics={"quiet": topic({})})
    answer = api.request("DELETE", f"{GROUP}/topic/orders")
    assert (answer.status_code, answer.text) == (200, removed(f"{GROUP}/topic/orders"))
    assert list(api.get(GROUP).json()["topics"]) == ["quiet"]
    assert [asked.forget for asked in requests.sent] == [["orders"]]


def test_a_name_with_slashes(api: Api, requests: Obeyed) -> None:
    api.put("a/b")
    answer = api.request("DELETE", "/v3/kafka/demo/consumer/a%2Fb")
    assert answer.text == removed("/v3/kafka/demo/consumer/a/b")
    assert [asked.group for asked in requests.sent] == ["a/b"]


@pytest.mark.parametrize(
    "path",
    [
        "/v3/kafka/demo/consumer/nope",
        "/v3/kafka/nope/consumer/billing",
        "/v3/kafka/nope/consumer/nope/topic/x",
        f"{GROUP}/topic/nope",
    ],
)
def test_what_is_not_known_is_answered_like_what_is(api: Api, requests: Obeyed, path: str) -> None:
    answer = api.request("DELETE", path)
    assert (answer.status_code, answer.text) == (200, removed(path))
    assert requests.sent == []


def test_what_was_evaluated_by_a_clock_ahead_is_forgotten_too(api: Api, requests: Obeyed) -> None:
    api.put("billing", evaluated_at=NOW + 5_000)
    api.request("DELETE", GROUP)
    assert requests.sent[0].observed_at == NOW + 5_000


def test_a_request_that_nobody_took_is_an_error() -> None:
    api = Api(asking=refused)
    api.put("billing")
    answer = api.request("DELETE", GROUP)
    assert answer.status_code == 503
    assert answer.json()["error"] is True
    assert "not acknowledged" in answer.json()["message"]
    assert api.get(GROUP).status_code == 200


def test_while_starting_nobody_knows_what_there_is(api: Api, requests: Obeyed) -> None:
    api.feed = FeedState(ready=False, problem=None)
    assert api.request("DELETE", GROUP).status_code == 503
    assert requests.sent == []
