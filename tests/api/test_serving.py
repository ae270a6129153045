"""Clients that send half a request, too much, or take nothing: others are answered all the same."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx
import pytest
from api.served_api import Api, Obeying, served
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from support.waiting import eventually, until
from warren.contracts.topics import Topic
from warren.settings import ApiSettings
from warren_api.burrow.answers import refusal
from warren_api.http import middleware, serving
from warren_api.http.middleware import LARGEST_BODY, PLACES, Gate
from warren_api.http.serving import LARGEST_HEAD

HEALTH = "/burrow/admin/ready"
SECONDS = 60  # a test that waits longer fails
HALF = b"GET /burrow/admin HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = b"POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
MUCH = b"GET /static/warren.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4000
SILENCE = {"group": "^billing$", "for_seconds": 60, "why": "moving"}


@pytest.fixture
def address(api: Api) -> Iterator[str]:
    with served(api) as where:
        yield where


def connect(address: str) -> socket.socket:
    where = httpx.URL(address)
    return socket.create_connection((where.host, where.port or 80), SECONDS)


def answer_to(address: str, sent: bytes) -> bytes:
    """All that comes until the connection is closed."""
    received = b""
    with connect(address) as client:
        with suppress(ConnectionError):
            client.sendall(sent)
        with suppress(ConnectionError):
            while part := client.recv(2**20):
                received += part
    return received


def is_well(address: str) -> bool:
    return httpx.get(f"{address}{HEALTH}", timeout=SECONDS).text == "READY"


def test_half_sent_requests_give_way_to_whoever_comes() -> None:
    with served(Api(api=ApiSettings(connections=10))) as address, ExitStack() as closing:
        for _ in range(40):
            slow = closing.enter_context(connect(address))
            slow.sendall(HALF)
            assert is_well(address)
        name = 'warren_api_connections_closed_total{reason="crowded_out"}'
        assert name in httpx.get(f"{address}/metrics", timeout=SECONDS).text


@pytest.mark.parametrize(
    ("step", "sent"),
    [("HEAD", b""), ("HEAD", HALF), ("BODY", BODY), ("WRITE", MUCH)],
    ids=["nothing", "half a head", "half a body", "an answer that nobody takes"],
)
def test_each_step_of_a_request_has_its_time(
    monkeypatch: pytest.MonkeyPatch, address: str, step: str, sent: bytes
) -> None:
    monkeypatch.setattr(serving, f"{step}_SECONDS", 0.2)
    reasons = {"HEAD": "slow_head", "BODY": "slow_body", "WRITE": "slow_reader"}
    with connect(address) as slow:
        slow.setblocking(False)
        with suppress(BlockingIOError):
            slow.send(sent)
        name = f'warren_api_connections_closed_total{{reason="{reasons[step]}"}}'
        eventually(
            lambda: name in httpx.get(f"{address}/metrics", timeout=SECONDS).text,
            message="it is closed",
        )


def test_a_head_that_is_too_large_or_none_is_refused(address: str) -> None:
    for sent in (HALF + b"x" * 2 * LARGEST_HEAD, b"\x16\x03\x01 nonsense\r\n\r\n"):
        assert answer_to(address, sent).startswith(b"HTTP/1.1 400")
    assert is_well(address)


@pytest.mark.parametrize("size", [LARGEST_BODY + 1, 20 * 2**20])
def test_a_body_that_is_too_large_is_refused(address: str, size: int) -> None:
    answer = httpx.post(f"{address}/api/v1/silences", content=b"x" * size, timeout=SECONDS)
    assert (answer.status_code, answer.json()["title"]) == (413, "Too large")


def test_what_stands_where_an_unread_body_would_be_is_no_request(address: str) -> None:
    inner = b"GET /burrow/admin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    head = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(inner)
    assert answer_to(address, head + inner + inner).count(b"HTTP/1.1 ") == 2


def test_a_body_that_is_malformed_ends_the_connection(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        b"POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    assert answer_to(address, head + b"2\r\n{}??ZZ\r\n").count(b"HTTP/1.1 ") == 1
    assert is_well(address)
    assert not any(record.exc_info for record in caplog.records), "it leaves no traceback"


class Work:
    """An application that answers when it may, and knows how many it has in hand."""

    def __init__(self) -> None:
        self.in_hand, self.may_answer = 0, asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.in_hand += 1
        if scope["path"] != HEALTH:
            await self.may_answer.wait()
        await PlainTextResponse("done")(scope, receive, send)
        self.in_hand -= 1


async def nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def test_health_is_told_while_others_wait_and_a_full_line_says_when_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(middleware, "LONGEST_LINE", 2)

    async def ask() -> None:
        work, told = Work(), list[Message]()
        line = Gate(work, refusal)

        async def keep(message: Message) -> None:
            told.append(message)

        def request(path: str) -> asyncio.Task[None]:
            scope = {
                "type": "http",
                "method": "GET",
                "path": path,
                "headers": [],
                "query_string": b"",
            }
            return asyncio.create_task(line(scope, nothing, keep))

        waiting = [request("/") for _ in range(PLACES + 2)]
        await until(lambda: work.in_hand == PLACES)
        await request(HEALTH)
        await request("/")
        assert [each["status"] for each in told if "status" in each] == [200, 503]
        assert (b"retry-after", b"5") in told[-2]["headers"]
        work.may_answer.set()
        await asyncio.gather(*waiting)
        assert sum(each.get("status") == 200 for each in told) == PLACES + 3

    asyncio.run(ask())


def test_who_takes_an_answer_slowly_keeps_no_place() -> None:
    async def ask() -> None:
        work, may_take = Work(), asyncio.Event()
        work.may_answer.set()
        line = Gate(work, refusal)
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}

        async def take_slowly(_: Message) -> None:
            await may_take.wait()

        slow = [asyncio.create_task(line(scope, nothing, take_slowly)) for _ in range(3 * PLACES)]
        await until(lambda: work.in_hand == 3 * PLACES)
        may_take.set()
        await asyncio.gather(*slow)

    asyncio.run(ask())


def test_many_that_wait_for_the_home_cluster_hold_up_nobody_who_reads(api: Api) -> None:
    answers = threading.Event()

    class Waiting(Obeying):
        def __call__(self, topic: Topic, key: bytes, value: bytes | None) -> None:
            assert answers.wait(SECONDS)
            super().__call__(topic, key, value)

    api = Api(model=api.model, asking=Waiting(api.model))

    async def ask() -> None:
        transport = httpx.ASGITransport(api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            waiting = [
                asyncio.create_task(client.post("/api/v1/silences", json=SILENCE))
                for _ in range(60)
            ]
            try:
                answer = await asyncio.wait_for(client.get("/api/v1/groups"), SECONDS)
                assert answer.status_code == 200
                assert not any(each.done() for each in waiting)
            finally:
                answers.set()
            assert {each.status_code for each in await asyncio.gather(*waiting)} == {201}

    asyncio.run(ask())
