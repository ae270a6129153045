"""Few requests are worked on at a time, whatever comes at once, and health is told all the same."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

import httpx
import pytest
from api.served_api import Api, Obeying
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from support.waiting import until
from warren.contracts import Silence
from warren_api.burrow.errors import refusal
from warren_api.http.places import PLACES, RETRY_SECONDS, InLine, Places

HEALTH = "/burrow/admin/ready"
MANY = 200
MOST_THREADS = 40  # that answer requests, where nobody says otherwise
SILENCE = {"group": "^billing$", "for_seconds": 60, "why": "moving"}


class Turns:
    """Counts the turns of the loop that it runs in."""

    def __init__(self) -> None:
        self.now = 0

    def count(self) -> None:
        self.now += 1
        asyncio.get_running_loop().call_soon(self.count)


class Work:
    """An application that answers when it may, and knows how many it has in hand."""

    def __init__(self) -> None:
        self.begun, self.in_hand, self.may_answer = 0, 0, False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun += 1
        self.in_hand += 1
        await until(lambda: self.may_answer)
        self.in_hand -= 1
        await PlainTextResponse("done")(scope, receive, send)


def scope_of(path: str, method: str = "GET") -> Scope:
    return {"type": "http", "method": method, "path": path, "headers": []}


async def whole() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def gone() -> Message:
    return {"type": "http.disconnect"}


async def ignore(_: Message) -> None:
    """A client that takes whatever it is sent."""


def asking(api: Api) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(api.app)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60)


def test_a_turn_of_the_loop_begins_no_more_requests_than_there_are_places(api: Api) -> None:
    turns, begun = Turns(), Counter[int]()

    @api.app.get("/at-once")
    async def at_once() -> str:
        begun[turns.now] += 1
        return "answered without waiting for anything"

    async def ask() -> set[int]:
        turns.count()
        async with asking(api) as client:
            answers = await asyncio.gather(*(client.get("/at-once") for _ in range(MANY)))
        return {answer.status_code for answer in answers}

    assert asyncio.run(ask()) == {200}
    assert begun.total() == MANY
    assert max(begun.values()) <= PLACES


def test_health_is_told_while_all_places_are_taken() -> None:
    async def ask() -> None:
        work, health = Work(), Work()
        health.may_answer = True

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await (health if scope["path"] == HEALTH else work)(scope, receive, send)

        line = InLine(app, Places(), refusal)
        waiting = [
            asyncio.create_task(line(scope_of("/"), whole, ignore)) for _ in range(PLACES + 1)
        ]
        await until(lambda: work.in_hand == PLACES)
        await line(scope_of(HEALTH), whole, ignore)
        assert (health.begun, work.in_hand) == (1, PLACES)
        work.may_answer = True
        await asyncio.gather(*waiting)
        assert work.begun == PLACES + 1

    asyncio.run(ask())


def test_who_comes_when_the_line_is_full_is_told_when_to_come_again() -> None:
    async def ask() -> list[Message]:
        work, told = Work(), list[Message]()
        line = InLine(work, Places(places=1, longest_line=2), refusal)

        async def keep(message: Message) -> None:
            told.append(message)

        waiting = [asyncio.create_task(line(scope_of("/"), whole, ignore)) for _ in range(3)]
        await until(lambda: work.in_hand == 1)
        await line(scope_of("/"), whole, keep)
        work.may_answer = True
        await asyncio.gather(*waiting)
        return told

    start, body = asyncio.run(ask())
    assert start["status"] == 503
    assert (b"retry-after", str(RETRY_SECONDS).encode()) in start["headers"]
    assert body["body"].startswith(b"Busy. ")


def test_a_full_line_is_a_problem_of_its_own(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(_: Places, _caller: str) -> bool:
        return False

    monkeypatch.setattr(Places, "take", full)
    answer = api.get("/api/v1/groups")
    assert (answer.status_code, answer.json()["type"]) == (503, "/api/v1/problems/busy")
    assert answer.headers["Retry-After"] == str(RETRY_SECONDS)
    assert api.get(HEALTH).text == "READY"


def test_whoever_has_gone_is_not_worked_for() -> None:
    async def ask() -> Work:
        work = Work()
        line = InLine(work, Places(places=1), refusal)
        first = asyncio.create_task(line(scope_of("/"), whole, ignore))
        await until(lambda: work.in_hand == 1)
        left = asyncio.create_task(line(scope_of("/"), gone, ignore))
        last = asyncio.create_task(line(scope_of("/"), whole, ignore))
        work.may_answer = True
        await asyncio.gather(first, left, last)
        return work

    assert asyncio.run(ask()).begun == 2


def test_who_takes_an_answer_slowly_keeps_no_place() -> None:
    async def ask() -> None:
        work, may_take = Work(), asyncio.Event()
        work.may_answer = True

        async def take_slowly(_: Message) -> None:
            await may_take.wait()

        line = InLine(work, Places(places=1), refusal)
        slow = asyncio.create_task(line(scope_of("/"), whole, take_slowly))
        await until(lambda: work.begun == 1)
        await line(scope_of("/"), whole, ignore)
        assert not slow.done()
        may_take.set()
        await slow

    asyncio.run(ask())


@pytest.mark.parametrize("is_next", [True, False], ids=["handed over", "waiting"])
def test_a_place_is_not_lost_with_whoever_waited_for_it(is_next: bool) -> None:
    async def ask() -> None:
        places = Places(places=1)
        assert await places.take()
        waiting = asyncio.create_task(places.take())
        await asyncio.sleep(0)
        if is_next:
            places.give_back()
            asyncio.get_running_loop().call_soon(waiting.cancel)
        else:
            waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if not is_next:
            places.give_back()
        assert await asyncio.wait_for(places.take(), 30)

    asyncio.run(ask())


class Waiting(Obeying):
    """A home cluster that lets everybody wait who asks for something."""

    def __init__(self, api: Api) -> None:
        super().__init__(api.model)
        self.asked, self.answers = threading.Event(), threading.Event()

    def silence(self, silence: Silence) -> None:
        self.asked.set()
        assert self.answers.wait(60)
        super().silence(silence)


def test_many_that_wait_for_the_home_cluster_hold_up_nobody_who_reads() -> None:
    api = Api()
    home = Waiting(api)
    api = Api(model=api.model, asking=home)

    async def ask() -> None:
        async with asking(api) as client:
            waiting = [
                asyncio.create_task(client.post("/api/v1/silences", json=SILENCE))
                for _ in range(MOST_THREADS + 20)
            ]
            try:
                # All have begun to wait that ever will: the last of them stands in line by now.
                assert await asyncio.to_thread(home.asked.wait, 60)
                for _ in range(10 * len(waiting)):
                    await asyncio.sleep(0)
                answer = await asyncio.wait_for(client.get("/api/v1/groups"), 30)
                assert answer.status_code == 200
                assert not any(each.done() for each in waiting)
            finally:
                home.answers.set()
            assert {each.status_code for each in await asyncio.gather(*waiting)} == {201}

    asyncio.run(ask())
