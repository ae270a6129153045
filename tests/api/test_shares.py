"""Places of which there are few: who has many of them keeps out nobody who has fewer."""

from __future__ import annotations

import asyncio
from typing import NoReturn, cast

import pytest
from api.login_lab import Lab
from starlette.types import Message, Scope
from support.waiting import until
from warren.clock import ManualClock
from warren_api.burrow.errors import refusal
from warren_api.http.callers import Caller, Holder, Person, Shares, site_of
from warren_api.http.places import InLine, Places
from warren_api.http.serving import Connection, Connections
from warren_api.login.claims import LoginFailed, ProviderAway
from warren_api.login.cookies import Attempt
from warren_api.login.service import AT_A_TIME, LONGEST_LINE
from warren_api.v1.events import StreamPlaces


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
        (None, ""),
    ],
)
def test_whom_an_address_stands_for(address: str | None, site: str) -> None:
    assert site_of(address) == site


def test_who_holds_a_place() -> None:
    assert Holder.of(Caller("ops", "admin"), "10.1.2.3") == Holder("token ops", is_admin=True)
    assert Holder.of(Caller(None, "read"), "10.1.2.3") == Holder("10.1.2.3")
    assert Holder.of(Person("Ada", "read", "sub-1", 0), "10.1.2.3") == Holder("person sub-1")


def test_callers_have_their_turns_one_after_the_other() -> None:
    shares = Shares[str]()
    for caller, held in (("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1")):
        shares.add(caller, held)
    shares.remove("c1")
    shares.remove("c1")
    assert [shares.next() for _ in range(5)] == ["a1", "b1", "a2", "a3", None]
    assert (len(shares), shares.count("a")) == (0, 0)


def test_the_newest_of_whoever_has_most_gives_way() -> None:
    shares = Shares[str]()
    assert shares.crowding("a") is None
    for caller, held in (("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("b", "b2")):
        shares.add(caller, held)
    assert shares.crowding("c") == "a3"
    assert shares.crowding("a") is None
    assert shares.crowding("b") is None, "b would have as many then"


def test_a_place_that_was_lost_before_it_was_used_is_left_at_once() -> None:
    places, left = StreamPlaces(1), list[str]()
    first = places.take(Holder("a"))
    assert first is not None
    assert places.take(Holder("b")) is None
    second = places.take(Holder("ops", is_admin=True))
    assert second is not None
    first.when_lost(lambda: left.append("first"))
    assert left == ["first"]
    first.give_back()
    assert places.take(Holder("c")) is None, "it was not his any more"
    second.give_back()
    assert places.take(Holder("c")) is not None


def asked(address: str) -> Scope:
    client = (address, 1)
    return {"type": "http", "method": "GET", "path": "/", "headers": [], "client": client}


def test_the_line_is_shared_by_addresses() -> None:
    """One has filled it: another's request is in all the same, and is the second to be done."""
    done, told = list[str](), list[tuple[str, int]]()
    may_answer = asyncio.Event()

    async def work(scope: Scope, *_: object) -> None:
        await may_answer.wait()
        done.append(scope["client"][0])

    async def whole() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def run() -> None:
        places = Places(places=1, longest_line=4)
        line = InLine(work, places, refusal)

        def ask(address: str) -> asyncio.Task[None]:
            async def keep(message: Message) -> None:
                if message["type"] == "http.response.start":
                    told.append((address, message["status"]))

            return asyncio.create_task(line(asked(address), whole, keep))

        greedy = [ask("10.0.0.1") for _ in range(5)]
        await until(lambda: len(places._line) == 4)
        other = ask("10.0.0.2")
        await until(lambda: bool(told))
        assert told == [("10.0.0.1", 503)], "the newest of the greedy one gives way"
        await ask("10.0.0.1")
        assert told == [("10.0.0.1", 503)] * 2
        may_answer.set()
        await asyncio.gather(*greedy, other)

    asyncio.run(run())
    assert done == ["10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.1"]


def test_whoever_has_gone_from_a_full_line_leaves_room() -> None:
    async def run() -> None:
        places = Places(places=1, longest_line=2)
        assert await places.take("a")
        left, kept = (asyncio.create_task(places.take("a")) for _ in range(2))
        await until(lambda: len(places._line) == 2)
        other = asyncio.create_task(places.take("b"))
        kept.cancel()  # its place in the line is looked at before it has left it
        places.give_back()
        assert await left
        places.give_back()
        assert await other
        assert kept.cancelled()

    asyncio.run(run())


class Given:
    """A connection, as far as the limit knows it."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.reason = ""

    def give_up(self, reason: str) -> None:
        self.reason = reason
        self.connections.gone(cast(Connection, self))


def test_whoever_has_all_connections_keeps_nobody_out() -> None:
    """All are worked for: none waits for its request, or is slow to take an answer."""
    connections = Connections(4, ManualClock())

    def opened(address: str) -> Given:
        one = Given(connections)
        connection = cast(Connection, one)
        connections.opened(connection, address)
        connections.waits(connection, is_waiting=False)
        return one

    greedy = [opened("10.0.0.1") for _ in range(4)]
    other = opened("10.0.0.2")
    assert [one.reason for one in (*greedy, other)] == ["", "", "", "crowded_out", ""]
    assert opened("10.0.0.1").reason == "crowded_out"
    assert opened("10.0.0.2").reason == ""
    assert opened("10.0.0.2").reason == "crowded_out", "they have two each"


def test_whoever_begins_many_logins_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider is slow, and one address sends more codes than it is asked about at a time."""
    login = Lab().api.login
    assert login is not None
    asked, may_answer = list[str](), asyncio.Event()

    async def ask(code: str, _: Attempt) -> NoReturn:
        asked.append(code)
        await may_answer.wait()
        raise LoginFailed("It did not take the login.", "no id_token")

    monkeypatch.setattr(login._attempts, "find", lambda *_: Attempt.new("/"))
    monkeypatch.setattr(login, "_exchange", ask)

    async def run() -> list[object]:
        def finish(code: str, address: str) -> asyncio.Task[object]:
            return asyncio.create_task(login.finish({"code": code}, {}, address))

        many = [finish("many", "10.0.0.1") for _ in range(AT_A_TIME + LONGEST_LINE)]
        await until(lambda: len(asked) == AT_A_TIME)
        with pytest.raises(ProviderAway):
            await finish("one more", "10.0.0.1")
        other = finish("other", "10.0.0.2")
        await until(lambda: sum(one.done() for one in many) == 1)  # gives way to it
        may_answer.set()
        return await asyncio.gather(*many, other, return_exceptions=True)

    answers = asyncio.run(run())
    assert sum(isinstance(one, ProviderAway) for one in answers) == 1
    assert isinstance(answers[-1], LoginFailed), "it was asked about"
    assert asked.index("other") <= AT_A_TIME + 1
