"""The service as a process: what it pushes while it runs, and once more when it ends."""

from __future__ import annotations

from api.api_process import NOBODY, Start
from support.push_receivers import Said, http_receiver, tcp_receiver
from support.waiting import eventually


def test_an_address_turns_pushes_on_and_the_end_is_told(start: Start) -> None:
    secret = "let-me-in-9f3a"
    with (
        http_receiver() as collector,
        http_receiver(Said(204)) as influxdb,
        tcp_receiver() as carbon,
    ):
        service = start(
            NOBODY,
            WARREN_API__PUSH__OTLP__ENDPOINT=collector.url,
            WARREN_API__PUSH__OTLP__INTERVAL="1",
            WARREN_API__PUSH__INFLUXDB__URL=influxdb.url,
            WARREN_API__PUSH__INFLUXDB__BUCKET="kafka",
            WARREN_API__PUSH__INFLUXDB__TOKEN=secret,
            WARREN_API__PUSH__INFLUXDB__INTERVAL="300",
            WARREN_API__PUSH__GRAPHITE__ADDRESS=carbon.address,
            WARREN_API__PUSH__GRAPHITE__INTERVAL="300",
        )
        eventually(lambda: len(collector.heard) >= 2, message="pushes at the interval")
        counted = 'warren_api_pushes_total{receiver="otlp",result="ok"}'
        assert counted in service.get("/metrics").text
        assert not influxdb.heard
        assert service.end() == 0
        assert len(influxdb.heard) == 1, "once, at the end"
        assert b"warren_api_ready value=0" in influxdb.heard[0].body
        eventually(lambda: "warren_api_ready 0.0 " in "\n".join(carbon.lines()), message="carbon")
    lines = service.lines()
    taken = [line for line in lines if line["event"] == "a receiver takes what is pushed"]
    assert sorted(line["receiver"] for line in taken) == ["graphite", "influxdb", "otlp"]
    assert lines[-1]["event"] == "stopped"
    assert secret not in service.log.read_text()


def test_a_receiver_that_hangs_does_not_hold_up_the_end(start: Start) -> None:
    with tcp_receiver() as hanging:  # it reads, and never answers
        service = start(
            NOBODY,
            WARREN_API__PUSH__OTLP__ENDPOINT=f"http://{hanging.address}",
            WARREN_API__PUSH__OTLP__INTERVAL="1",
            WARREN_API__PUSH__OTLP__TIMEOUT="300",
        )
        eventually(lambda: hanging.received, message="a push hangs")
        assert service.get("/burrow/admin").text == "GOOD"
        assert service.end() == 0
    assert service.lines()[-1]["event"] == "stopped"
