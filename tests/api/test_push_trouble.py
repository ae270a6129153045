"""Receivers that are away, hang, refuse or lie: counted, told once, and nobody else's trouble."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from api.pushed import api_with, of_influxdb, pusher
from api.served_api import Api
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from structlog.testing import capture_logs
from support.push_receivers import Said, deaf_receiver, http_receiver, tcp_receiver
from support.waiting import eventually
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.metrics import api as metrics
from warren_api.push.pusher import Pusher
from warren_api.push.pushes import configured
from warren_local.ports import free_port

SECRET = "let-me-in-9f3a"
ENOUGH = 2.0  # seconds in which it is asked at least once, however busy the machine is
OF_A_GROUP = 100  # samples in a batch: several batches a push
# prometheus_client's bridge leaves a connection that failed to be closed by being forgotten.
bridge = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@contextmanager
def of_settings(**push: Any) -> Iterator[Pusher]:
    api = api_with(**push)
    api.clock = SystemClock()  # type: ignore[assignment]  # deadlines are real here
    api.__post_init__()
    for n in range(20):
        api.put(f"g-{n}", total_lag=n)
    with pusher(api) as one:
        yield one


def counted(metric: str, **labels: str) -> float:
    return metrics.API.get_sample_value(metric, labels) or 0.0


@contextmanager
def one_more(receiver: str, result: str) -> Iterator[None]:
    labels = {"receiver": receiver, "result": result}
    before = counted("warren_api_pushes_total", **labels)
    yield
    assert counted("warren_api_pushes_total", **labels) == before + 1


def test_errors_of_the_moment_are_tried_again() -> None:
    with (
        http_receiver(Said(500), Said(503, headers={"Retry-After": "1"}), Said(204)) as receiver,
        of_settings(influxdb={"url": receiver.url}) as one,
        one_more("influxdb", "ok"),
    ):
        assert one.push(30) == "ok"
        assert len(receiver.heard) == 3
        assert len({heard.body for heard in receiver.heard}) == 1
    assert counted("warren_api_push_success_timestamp_seconds", receiver="influxdb") > 0


@pytest.mark.parametrize("code", [500, 429, 503])
def test_attempts_end_with_the_interval(code: int) -> None:
    with (
        http_receiver(Said(code)) as receiver,
        of_settings(otlp={"endpoint": receiver.url}) as one,
        one_more("otlp", "failed"),
    ):
        assert one.push(4.0) == "failed"
        assert 1 <= len(receiver.heard) <= 4, "it backs off"


def test_a_wait_that_is_longer_than_the_interval_is_not_begun() -> None:
    with (
        http_receiver(Said(429, headers={"Retry-After": "3600"})) as receiver,
        of_settings(influxdb={"url": receiver.url}) as one,
    ):
        assert one.push(30) == "failed"
        assert len(receiver.heard) == 1


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_batch_that_is_refused_does_not_keep_the_others(code: int) -> None:
    with (
        http_receiver(Said(code, b"too much"), Said(204)) as receiver,
        of_settings(influxdb={"url": receiver.url, "batch": OF_A_GROUP}) as one,
        one_more("influxdb", "partial"),
    ):
        assert one.push(30) == "partial"
        assert len(receiver.heard) > 2
        assert len({heard.body for heard in receiver.heard}) == len(receiver.heard), "none twice"


def test_samples_that_influxdb_drops_are_counted() -> None:
    said = b'{"error":"partial write: field type conflict: input field dropped=3"}'
    before = counted("warren_api_push_samples_total", receiver="influxdb", outcome="refused")
    with (
        http_receiver(Said(400, said)) as receiver,
        of_settings(influxdb={"url": receiver.url}) as one,
    ):
        assert one.push(30) == "partial"
        sent = sum(len(series) for series in of_influxdb(receiver).values())
    after = counted("warren_api_push_samples_total", receiver="influxdb", outcome="refused")
    assert after == before + 3 < sent


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (
            "application/x-protobuf",
            ExportMetricsServiceResponse(
                partial_success={"rejected_data_points": 4, "error_message": "no"}
            ).SerializeToString(),
        ),
        ("application/json", b'{"partialSuccess": {"rejectedDataPoints": "4"}}'),
    ],
)
def test_points_that_a_collector_rejects_are_counted(kind: str, body: bytes) -> None:
    before = counted("warren_api_push_samples_total", receiver="otlp", outcome="refused")
    with (
        http_receiver(Said(200, body, {"Content-Type": kind})) as receiver,
        of_settings(otlp={"endpoint": receiver.url}) as one,
        one_more("otlp", "partial"),
    ):
        assert one.push(30) == "partial"
    after = counted("warren_api_push_samples_total", receiver="otlp", outcome="refused")
    assert after == before + 4


@pytest.mark.parametrize("receiver_kind", ["otlp", "influxdb"])
@pytest.mark.parametrize(
    "said",
    [
        Said(401, b"who are you"),
        Said(403),
        Said(404, b'{"error":"database not found"}'),
        Said(200, b"<html>log in</html>", {"Content-Type": "text/html"}),
        Said(302, headers={"Location": "/elsewhere"}),
        Said(307, headers={"Location": "/elsewhere"}),
    ],
    ids=lambda said: str(said.code),
)
def test_who_takes_nothing_is_asked_once(receiver_kind: str, said: Said) -> None:
    address = {"otlp": "endpoint", "influxdb": "url"}[receiver_kind]
    with http_receiver(said) as receiver:
        settings = {address: receiver.url, "batch": OF_A_GROUP}
        with of_settings(**{receiver_kind: settings}) as one, one_more(receiver_kind, "refused"):
            assert one.push(30) == "refused"
        assert len(receiver.heard) == 1
        assert receiver.heard[0].path != "/elsewhere"


@pytest.mark.parametrize("address", ["otlp.endpoint", "influxdb.url"])
@pytest.mark.parametrize(
    "answer", [b"220 mail.example ESMTP\r\n", b"\x00" * 100_000, b"HTTP/1.1 2000\r\n\r\n"]
)
def test_garbage_is_no_answer(address: str, answer: bytes) -> None:
    kind, _, setting = address.partition(".")
    with (
        tcp_receiver(answer) as receiver,
        of_settings(**{kind: {setting: f"http://{receiver.address}"}}) as one,
        one_more(kind, "failed"),
    ):
        assert one.push(1) == "failed"


@pytest.mark.parametrize("address", ["otlp.endpoint", "influxdb.url"])
def test_an_answer_without_an_end_ends(address: str) -> None:
    kind, _, setting = address.partition(".")
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000
    with (
        tcp_receiver(head, drips=True) as receiver,
        of_settings(**{kind: {setting: f"http://{receiver.address}", "timeout": 0.5}}) as one,
        one_more(kind, "failed"),
    ):
        assert one.push(1) == "failed"


@pytest.mark.parametrize("address", ["otlp.endpoint", "influxdb.url"])
def test_one_that_hangs_is_left_alone(address: str) -> None:
    kind, _, setting = address.partition(".")
    with (
        deaf_receiver() as at,
        of_settings(**{kind: {setting: f"http://{at}", "timeout": 0.2}}) as one,
        one_more(kind, "failed"),
    ):
        assert one.push(1) == "failed"


@bridge
def test_a_graphite_that_hangs_is_left_alone() -> None:
    # More than what the buffers of the machine hold, which would be gone unread.
    labels = {f"label_{n}": "x" * 200 for n in range(100)}
    settings = {"timeout": 0.2, "batch": 50_000, "labels": labels}
    with (
        deaf_receiver() as at,
        of_settings(graphite={"address": at, **settings}) as one,
        one_more("graphite", "failed"),
    ):
        assert one.push(1) == "failed"


@pytest.mark.parametrize("kind", ["otlp", "influxdb", "graphite"])
def test_one_that_is_away_is_counted_and_told_once(kind: str) -> None:
    setting = {"otlp": "endpoint", "influxdb": "url", "graphite": "address"}[kind]
    where = f"127.0.0.1:{free_port()}"
    where = where if kind == "graphite" else f"http://{where}"
    with of_settings(**{kind: {setting: where}}) as one, capture_logs() as logs:
        for _ in range(3):
            with one_more(kind, "failed"):
                assert one.push(ENOUGH) == "failed"
    (told,) = [line for line in logs if line["event"].startswith("a receiver")]
    assert told["log_level"] == "warning"
    assert told["address"] == where
    assert told["receiver"] == kind


class HastyClock(SystemClock):
    """Jumps ahead at one look, as a machine does that had no time for this process."""

    def __init__(self, look: int, jump: float) -> None:
        self._look, self._jump = look, jump
        self._looks = 0

    def monotonic(self) -> float:
        self._looks += 1
        return super().monotonic() + (self._jump if self._looks >= self._look else 0.0)


@bridge
@pytest.mark.parametrize("look", [2, 3, 4])
def test_a_busy_machine_is_not_another_trouble(look: int) -> None:
    where = f"127.0.0.1:{free_port()}"
    with of_settings(graphite={"address": where}) as one, capture_logs() as logs:
        assert one.push(ENOUGH) == "failed"
        one._clock = HastyClock(look, jump=30)
        assert one.push(20) == "failed"
        one._clock = SystemClock()
        assert one.push(ENOUGH) == "failed"
    (told,) = [line for line in logs if line["event"].startswith("a receiver")]
    assert told["reason"].startswith("ConnectionRefusedError")


@bridge
def test_an_answer_is_not_hidden_by_the_end_of_the_interval() -> None:
    """Time is over between an attempt and the next: the log says what the attempt met."""
    where = f"127.0.0.1:{free_port()}"
    with of_settings(graphite={"address": where}) as one, capture_logs() as logs:
        one._clock = HastyClock(4, jump=30)  # began, first attempt, whether to wait, the next
        assert one.push(20) == "failed"
    (told,) = [line for line in logs if line["event"].startswith("a receiver")]
    assert told["reason"].startswith("ConnectionRefusedError")


def test_its_return_is_told_once() -> None:
    with (
        http_receiver(Said(404), Said(404, b"other words"), Said(401), Said(204)) as receiver,
        of_settings(influxdb={"url": receiver.url}) as one,
        capture_logs() as logs,
    ):
        assert [one.push(30) for _ in range(5)] == ["refused"] * 3 + ["ok"] * 2
    told = [(line["log_level"], line.get("reason", "")[:8]) for line in logs]
    assert told == [("warning", "HTTP 404"), ("warning", "HTTP 401"), ("info", "")]


@pytest.mark.parametrize("code", [200, 400, 403, 500])
@pytest.mark.parametrize("kind", ["otlp", "influxdb"])
def test_no_secret_is_logged(
    code: int, kind: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The receiver sends back what it was sent."""
    said = Said(code, f"Authorization: Token {SECRET} {SECRET[:-2]}".encode())
    with http_receiver(said) as receiver:
        settings: dict[str, Any] = {"headers": {"X-Key": SECRET}}
        settings |= {"endpoint": receiver.url} if kind == "otlp" else {"url": receiver.url}
        if kind == "influxdb":
            settings |= {"bucket": "b", "token": SECRET}
        with of_settings(**{kind: settings}) as one, capture_logs() as logs:
            one.push(3 if code == 500 else 30)  # that one is tried again until then
        assert receiver.heard[0].headers["x-key"] == SECRET
    assert logs
    said_anywhere = str(logs) + caplog.text + "".join(capsys.readouterr())
    assert SECRET not in said_anywhere


def test_a_fault_of_ours_ends_no_pushes(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a fault")

    with (
        http_receiver() as receiver,
        of_settings(otlp={"endpoint": receiver.url}) as one,
        monkeypatch.context() as patched,
        capture_logs(),
        one_more("otlp", "failed"),
    ):
        patched.setattr(one._receiver, "send", broken)
        assert one.push(1) == "failed"


def test_each_receiver_has_its_own_thread_and_the_end_is_in_time() -> None:
    """One hangs; the other gets its pushes, and a last one when the service ends."""
    with deaf_receiver() as deaf, http_receiver() as receiver:
        api = api_with(
            otlp={"endpoint": f"http://{deaf}", "interval": 1},
            influxdb={"url": receiver.url, "interval": 1},
        )
        api.clock = SystemClock()  # type: ignore[assignment]  # deadlines are real here
        api.__post_init__()
        api.put("billing", total_lag=1)
        pushes = configured(api.context)
        pushes.start()
        eventually(lambda: len(receiver.heard) >= 2, message="pushes go on beside one that hangs")
        assert lag_of(receiver.heard[-1].body) == 1
        api.put("billing", total_lag=2)
        pushes.stop()
        assert lag_of(receiver.heard[-1].body) == 2, "what was last is told"
        eventually(
            lambda: not any(one._thread.is_alive() for one in pushes.pushers),
            message="all threads have ended",
        )


def lag_of(body: bytes) -> float:
    (line,) = [x for x in body.decode().split("\n") if x.startswith("warren_group_lag,")]
    return float(line.split(" ")[1].removeprefix("value="))


@pytest.mark.parametrize(
    ("extra", "library"), [("otlp", "opentelemetry.sdk"), ("influxdb", "influxdb_client")]
)
def test_a_missing_library_names_the_extra(
    extra: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith((library, f"warren_api.push.{extra}")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    setting = {"otlp": "endpoint", "influxdb": "url"}[extra]
    api: Api = api_with(**{extra: {setting: "http://127.0.0.1:1"}})
    with pytest.raises(SettingsError, match=rf"warren-api\[{extra}\]"):
        configured(api.context)
