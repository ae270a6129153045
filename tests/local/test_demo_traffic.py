from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from warren.errors import SettingsError
from warren.settings import Settings
from warren_local.demo.command import demo_connection
from warren_local.demo.gate import Gate
from warren_local.demo.topics import ORDERS, PAYMENTS, TOPICS
from warren_local.demo.traffic import FLOWS, Flow, Schedule
from warren_local.ports import free_port

FAST = Flow(PAYMENTS, every=0.5, first=0.5, count=1)
SLOW = Flow(ORDERS, every=2.0, first=1.0, count=9)


def test_flows_come_when_they_are_due() -> None:
    schedule = Schedule((FAST, SLOW), now=100.0)
    assert schedule.seconds_to_next(100.0) == 0.5
    assert schedule.take_due(100.4) == []
    assert schedule.take_due(100.5) == [FAST]
    assert schedule.take_due(101.0) == [FAST, SLOW]
    assert schedule.take_due(101.0) == []
    assert schedule.seconds_to_next(101.1) == pytest.approx(0.4)


def test_turns_that_were_missed_are_not_made_up_for() -> None:
    schedule = Schedule((FAST,), now=0.0)
    assert schedule.take_due(60.0) == [FAST]
    assert schedule.take_due(60.0) == [FAST]  # due since 60.0
    assert schedule.take_due(60.0) == []


def test_a_flow_does_not_drift() -> None:
    schedule = Schedule((FAST,), now=0.0)
    for turn in range(1, 20):
        assert schedule.take_due(turn * 0.5 + 0.1) == [FAST]
        assert schedule.seconds_to_next(turn * 0.5 + 0.1) == pytest.approx(0.4)


def test_there_are_seven_topics_and_all_but_the_quiet_one_get_records() -> None:
    assert len({topic.name for topic in TOPICS}) == 7
    assert {topic.name for topic in TOPICS} - {flow.topic.name for flow in FLOWS} == {"demo.audit"}


def test_the_demo_goes_where_it_is_told() -> None:
    tables = {"home": {"bootstrap": "h:1"}, "clusters": {"demo": {"bootstrap": "d:1"}}}
    settings = Settings.model_validate(tables)
    assert demo_connection(settings, "demo", None).bootstrap == "d:1"
    assert demo_connection(settings, "other", None).bootstrap == "h:1"
    assert demo_connection(settings, "other", "x:1").bootstrap == "x:1"
    with pytest.raises(SettingsError, match=r"^--bootstrap: "):
        demo_connection(settings, "other", "x")


def test_an_address_keeps_the_security_of_the_cluster_of_that_name() -> None:
    secured = {"bootstrap": "d:1", "kafka": {"sasl.password": "secret"}}
    settings = Settings.model_validate({"clusters": {"demo": secured}})
    connection = demo_connection(settings, "demo", "x:1")
    assert connection.librdkafka() == {"bootstrap.servers": "x:1", "sasl.password": "secret"}


@pytest.fixture
def door() -> Iterator[tuple[str, threading.Event]]:
    """A URL that answers 503 until the event is set."""
    is_open = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if is_open.is_set() else 503)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/ready", is_open
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_gate_opens_when_the_collector_is_ready(door: tuple[str, threading.Event]) -> None:
    url, is_open = door
    assert Gate(url).wait(threading.Event(), patience=0.4) is False
    is_open.set()
    assert Gate(url).wait(threading.Event()) is True


def test_the_gate_does_not_hold_up_a_stop() -> None:
    stop = threading.Event()
    stop.set()
    assert Gate(f"http://127.0.0.1:{free_port()}/ready").wait(stop) is False
