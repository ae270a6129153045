"""`/api/v1/events` over a real connection: streams do not end, which a client in memory needs."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from api.served_api import NOW, Api, served
from support.waiting import eventually
from warren_api.model.status_history import StatusHistory
from warren_api.v1.events import EventStream, id_of, positions_of

SECONDS = 60  # a test that waits longer fails


@pytest.fixture
def address(api: Api) -> Iterator[str]:
    with served(api) as where:
        yield where


@dataclass
class Message:
    """One dispatched event, or a block with no more than an id."""

    id: str | None = None
    event: str | None = None
    data: list[str] = field(default_factory=list)

    def json(self) -> Any:
        return json.loads("\n".join(self.data))


def messages(response: httpx.Response) -> Iterator[Message]:
    """As the HTML standard has a browser read them."""
    message = Message()
    for line in response.iter_lines():
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            yield message
            message = Message()
        elif name == "data":
            message.data.append(value)
        elif name in ("id", "event"):
            setattr(message, name, value)


@contextmanager
def stream(address: str, query: str = "", **headers: str) -> Iterator[Iterator[Message]]:
    with httpx.stream(
        "GET", f"{address}/api/v1/events{query}", headers=headers, timeout=SECONDS
    ) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        with closing(messages(response)) as arriving:
            yield arriving


def changes(arriving: Iterator[Message], count: int) -> list[Message]:
    found: list[Message] = []
    while len(found) < count:
        message = next(arriving)
        if message.event:
            found.append(message)
    return found


def test_a_change_arrives_as_the_event_that_is_on_the_topic(api: Api, address: str) -> None:
    api.change("before", "ERR", NOW)
    with stream(address) as arriving:
        beginning = next(arriving)
        assert (beginning.id, beginning.event) == ("0:1", None), "a position, and nothing old"
        api.change("g", "ERR", NOW + 1, partition=3)
        (message,) = changes(arriving, 1)
    assert (message.id, message.event) == ("0:1,3:1", "warren.group.status.changed")
    assert message.json()["data"]["group"] == "g"
    assert message.json()["id"] == f"g-ERR-{NOW + 1}"


def test_a_client_that_comes_back_gets_what_it_missed_from_any_copy(api: Api, address: str) -> None:
    with stream(address) as arriving:
        next(arriving)
        api.change("a", "ERR", NOW, partition=0)
        api.change("b", "ERR", NOW, partition=1)
        first, _ = changes(arriving, 2)
    api.change("c", "ERR", NOW, partition=0)
    header = {"Last-Event-ID": str(first.id)}
    with stream(address, **header) as arriving:
        assert [each.json()["subject"] for each in changes(arriving, 2)] == ["b", "c"]
    other = Api()
    for partition, group in ((1, "b"), (0, "a"), (0, "c")):
        other.change(group, "ERR", NOW, partition=partition)
    with served(other) as elsewhere, stream(elsewhere, f"?last_event_id={first.id}") as arriving:
        missed = changes(arriving, 2)
        assert [each.json()["subject"] for each in missed] == ["b", "c"]
        assert missed[-1].id == "0:2,1:1"


@pytest.mark.parametrize("last_event_id", ["0:0", "0:99", "an id of something else"])
def test_it_says_when_it_does_not_know_all_that_was_missed(last_event_id: str) -> None:
    api = Api()
    api.model.history.limit = 1
    api.change("a", "ERR", NOW)
    api.change("b", "ERR", NOW)
    with (
        served(api) as address,
        stream(address, **{"Last-Event-ID": last_event_id}) as arriving,
    ):
        assert next(arriving).event == "warren.gap"


def test_only_what_is_asked_for(api: Api, address: str) -> None:
    with stream(address, "?cluster=demo&regex=^b&status=ERR&status=WARN") as arriving:
        next(arriving)
        api.change("a", "ERR", NOW)
        api.change("b", "OK", NOW)
        api.change("b", "ERR", NOW, cluster="eu")
        api.change("b", "WARN", NOW)
        (message,) = changes(arriving, 1)
    assert message.json()["data"]["status"] == "WARN"
    assert message.id == "0:4", "what was not asked for is not asked for again either"


@pytest.mark.parametrize("query", ["?regex=(", "?status=NICE", "?group=b"])
def test_a_wrong_question_is_a_problem(api: Api, query: str) -> None:
    answer = api.get(f"/api/v1/events{query}")
    assert (answer.status_code, answer.json()["title"]) == (422, "Invalid request")


def test_streams_are_limited_and_a_place_is_free_again(address: str) -> None:
    url = f"{address}/api/v1/events"
    with stream(address) as arriving, stream(address) as others:
        next(arriving)
        next(others)
        assert httpx.get(url, timeout=SECONDS).json()["title"] == "Too many event streams"
        from_elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
        with (
            httpx.Client(transport=from_elsewhere, timeout=SECONDS) as another,
            another.stream("GET", url) as given,
        ):
            assert given.status_code == 200
            assert next(arriving, None) is None, "who has the most gives one to who has none"

    def is_free() -> bool:
        with httpx.stream("GET", url, timeout=SECONDS) as response:
            return response.status_code == 200

    eventually(is_free, message="the places of those that went are free")


def test_silence_is_broken_and_tells_the_position() -> None:
    history = StatusHistory(10)

    async def first_two() -> list[str]:
        text = EventStream(history, lambda _: True, heartbeat=0.01).text()
        pieces = [await anext(text), await anext(text)]
        await text.aclose()  # type: ignore[attr-defined]  # an async generator
        return pieces

    _, heartbeat = asyncio.run(first_two())
    assert heartbeat == ": still here\nid: -\n\n"
    assert not history._listeners


@pytest.mark.parametrize("positions", [{}, {0: 0}, {3: 41, 0: 118}])
def test_ids_say_where_a_client_stands(positions: dict[int, int]) -> None:
    assert positions_of(id_of(positions)) == positions


@pytest.mark.parametrize("text", ["x", "0", "0:", ":1", "0:-1", "0:1,", "0:1;1:2", "0:" + "9" * 50])
def test_what_is_no_id_of_ours(text: str) -> None:
    assert positions_of(text) is None


def test_no_name_cuts_an_event_in_two(api: Api, address: str) -> None:
    """Only CR and LF end a line there; Unicode has more."""
    name, got = "a\u2028b\u2029c\x85d", b""
    url = f"{address}/api/v1/events"
    with httpx.stream("GET", url, timeout=SECONDS) as response:
        arriving = response.iter_raw()
        while b"\n\n" not in got:
            got += next(arriving)
        api.change(name, "ERR", NOW)
        while b"event:" not in got or not got.endswith(b"\n\n"):
            got += next(arriving)
    (event,) = (block for block in got.split(b"\n\n") if b"event:" in block)
    data = [line.removeprefix(b"data: ") for line in event.split(b"\n") if line[:5] == b"data:"]
    assert json.loads(b"\n".join(data))["data"]["group"] == name
