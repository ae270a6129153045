"""The demo's operator against the API."""

from __future__ import annotations

import threading

from api.served_api import NOW, Api, served
from support.waiting import eventually
from warren.api_tokens import hash_of
from warren.settings import ApiSettings, ApiToken
from warren_local.demo.groups import GROUPS
from warren_local.demo.operator import LOOKED_AFTER, SILENCED, Operator


def test_its_groups_are_the_demos() -> None:
    assert {SILENCED, LOOKED_AFTER} <= {group.name for group in GROUPS if group.status == "ERR"}


def test_it_waits_for_the_incident_and_silences_once() -> None:
    api, stop = Api(), threading.Event()
    with served(api) as address:
        first = threading.Thread(target=Operator(address, "demo").run, args=(stop,))
        first.start()
        eventually(api.model.silences.all, message="silenced")
        assert api.model.silences.in_force(NOW).of("demo", SILENCED) is not None
        assert api.model.silences.in_force(NOW).of("demo", LOOKED_AFTER) is None
        api.put(LOOKED_AFTER, status="ERR", incident={"id": "i-1", "opened_at": NOW})
        first.join(60)
        assert api.model.silences.acknowledgement("i-1") is not None
        Operator(address, "demo").run(stop)  # the demo was started again
    assert len(api.model.silences.all()) == 1


def test_it_ends_where_nothing_may_be_changed() -> None:
    tokens = [ApiToken(name="ada", role="admin", hash=hash_of("a" * 30))]
    api = Api(api=ApiSettings(tokens=tokens))
    with served(api) as address:
        Operator(address, "demo").run(threading.Event())
    assert not api.model.silences.all()


def test_it_stops_when_told_to() -> None:
    stop = threading.Event()
    asking = threading.Thread(target=Operator("http://127.0.0.1:1", "demo").run, args=(stop,))
    asking.start()
    stop.set()
    asking.join(60)
    assert not asking.is_alive()
