"""Pushes by OTLP: all that a scrape says, to a receiver that may be away, hang, refuse or lie."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from api.api_process import NOBODY, Start
from api.scraped import Labels, scrape
from api.served_api import NOW, Api, late, topic
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from structlog.testing import capture_logs
from support.push_receivers import HttpReceiver, Said, http_receiver, tcp_receiver
from support.waiting import eventually
from warren.errors import SettingsError
from warren.metrics import api as metrics
from warren_api.push import batches, otlp, pusher
from warren_api.push.otlp import unit
from warren_local.ports import free_port

Samples = dict[str, dict[Labels, float]]

SECRET = "let-me-in-9f3a"
SMALL = 3  # samples in a batch: families of groups are divided
NASTY = [
    'evil"\n# TYPE injected gauge\ninjected 1',
    "größe/ünïcode/\u2028日本",
    "t" * 249,
    "\x00\t\r",
]
NASTY_TOPIC = "o" * 249
PARTIAL = ExportMetricsServiceResponse(
    partial_success={"rejected_data_points": 4, "error_message": "no"}
)


@pytest.fixture(autouse=True)
def _no_variables_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)


@contextmanager
def pushing(monkeypatch: pytest.MonkeyPatch, api: Api, url: str) -> Iterator[pusher.Pusher]:
    """Pushes when it is told."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    one = pusher.configured(api.context)
    assert one is not None
    yield one
    one._receiver.close()


def filled() -> Api:
    """Groups of all the names, with incidents, members and freshness."""
    api = Api()
    for name in NASTY:
        api.put(name, status="WARN", total_lag=7, topics={NASTY_TOPIC: topic({}, {"lag": 7})})
        api.measure(name, late(1_500), late(0), topic=NASTY_TOPIC)
        api.describe(name)
    assert api.get("/api/v1/groups").status_code == 200
    return api


def counted(**labels: str) -> float:
    name = "warren_api_push_samples_total" if "outcome" in labels else "warren_api_pushes_total"
    return metrics.API.get_sample_value(name, {"receiver": "otlp", **labels}) or 0.0


def received(receiver: HttpReceiver) -> Samples:
    """Samples by name and sorted labels; histograms as Prometheus has them."""
    found: Samples = {}
    for heard in receiver.heard:
        for resource in ExportMetricsServiceRequest.FromString(heard.body).resource_metrics:
            for metric in (m for scope in resource.scope_metrics for m in scope.metrics):
                for name, labels, value in points(metric):
                    assert labels not in found.setdefault(name, {}), "one point per series"
                    found[name][labels] = value
    return without_pushes(found)


def points(metric: Any) -> Iterator[tuple[str, Labels, float]]:
    kind = metric.WhichOneof("data")
    for point in getattr(metric, kind).data_points:
        own = {each.key: each.value.string_value for each in point.attributes}
        if kind != "histogram":
            yield metric.name, ordered(own), point.as_double
            continue
        below = 0
        bounds = [*map(str, point.explicit_bounds), "+Inf"]
        for count, bound in zip(point.bucket_counts, bounds, strict=True):
            below += count
            yield f"{metric.name}_bucket", ordered({**own, "le": bound}), float(below)
        yield f"{metric.name}_count", ordered(own), float(point.count)
        yield f"{metric.name}_sum", ordered(own), point.sum


def ordered(labels: dict[str, str]) -> Labels:
    return tuple(sorted(labels.items()))


def without_pushes(samples: Samples) -> Samples:
    """Without what no push can say of itself."""
    return {
        name: series
        for name, series in samples.items()
        if not name.endswith("_created") and not name.startswith("warren_api_push")
    }


@pytest.mark.parametrize("size", [SMALL, 50_000])
def test_a_receiver_gets_all_of_a_scrape(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(batches.batches, "__defaults__", (size,))
    api = filled()
    with http_receiver() as receiver, pushing(monkeypatch, api, receiver.url) as one:
        assert one.push() == "ok"
        assert {heard.path for heard in receiver.heard} == {"/v1/metrics"}
        assert (len(receiver.heard) > 1) == (size == SMALL)
        assert received(receiver) == without_pushes(scrape(api))


def test_types_units_starts_and_the_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "site=north")
    api = filled()
    api.get("/metrics")
    with http_receiver() as receiver, pushing(monkeypatch, api, receiver.url) as one:
        assert one.push() == "ok"
    (heard,) = receiver.heard
    assert heard.headers["content-encoding"] == "gzip"
    (resource,) = ExportMetricsServiceRequest.FromString(heard.body).resource_metrics
    attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert (attributes["service.name"], attributes["site"]) == ("warren", "north")
    assert attributes["service.instance.id"]
    found = {metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics}
    requests = found["warren_api_requests_total"].sum
    assert requests.is_monotonic
    assert requests.aggregation_temporality == 2  # cumulative
    lag = found["warren_group_lag"].gauge.data_points[0]
    assert (lag.time_unix_nano, lag.start_time_unix_nano) == (NOW * 1_000_000, 0)
    assert found["warren_group_lag"].description
    duration = found["warren_api_request_seconds"]
    assert (duration.unit, duration.histogram.aggregation_temporality) == ("s", 2)
    for point in [*requests.data_points, *duration.histogram.data_points]:
        assert point.start_time_unix_nano > 0
    assert all(not point.HasField("max") for point in duration.histogram.data_points)
    assert (unit("warren_collector_published_bytes"), unit("warren_group_lag")) == ("By", "")


ANSWERS: list[tuple[list[Said], str, int]] = [
    ([Said(503, headers={"Retry-After": "0"}), Said()], "ok", 2),  # tried again
    ([Said(429, headers={"Retry-After": "3600"})], "failed", 1),  # longer than there is time
    ([Said(401, b"who are you")], "failed", 1),
    ([Said(500)], "failed", 1),
    ([Said(302, headers={"Location": "/elsewhere"})], "failed", 1),
    ([Said(200, b"<html>log in</html>", {"Content-Type": "text/html"})], "failed", 1),
    ([Said(200, PARTIAL.SerializeToString())], "partial", 1),
    ([Said(200, b"{}")], "ok", 1),  # no protobuf: it says nothing
]


@pytest.mark.parametrize(("answers", "result", "requests"), ANSWERS, ids=str)
def test_what_is_answered_is_counted_and_told(
    monkeypatch: pytest.MonkeyPatch, answers: list[Said], result: str, requests: int
) -> None:
    before, refused = counted(result=result), counted(outcome="refused")
    with (
        http_receiver(*answers) as receiver,
        pushing(monkeypatch, filled(), receiver.url) as one,
        capture_logs() as logs,
    ):
        assert one.push() == result
        assert [heard.path for heard in receiver.heard] == ["/v1/metrics"] * requests
    assert counted(result=result) == before + 1
    lost = counted(outcome="refused") - refused
    assert lost == {"ok": 0, "partial": 4}.get(result, lost or None)
    told = [(line["log_level"], line["result"]) for line in logs]
    assert told == ([] if result == "ok" else [("warning", result)])


def test_a_push_ends_at_the_first_request_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches.batches, "__defaults__", (SMALL,))
    with (
        http_receiver(Said(), Said(413), Said()) as receiver,
        pushing(monkeypatch, filled(), receiver.url) as one,
    ):
        assert one.push() == "partial"
        assert len(receiver.heard) == 2


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "drips", "reason"),
    [
        (b"", False, "TimeoutError"),
        (b"220 mail.example ESMTP\r\n", False, "BadStatusLine"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", False, "TimeoutError"),
        (HEAD + b"x", True, "RequestException"),
    ],
    ids=["silence", "no HTTP", "no body", "a body without an end"],
)
def test_a_receiver_that_hangs_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, drips: bool, reason: str
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.3")
    monkeypatch.setattr(otlp, "ANSWER_SECONDS", 0.3)
    with (
        tcp_receiver(answer, drips=drips) as receiver,
        pushing(monkeypatch, filled(), receiver.url) as one,
        capture_logs() as logs,
    ):
        assert one.push() == "failed"
    assert logs[0]["reason"].startswith(reason)


def test_trouble_is_told_every_few_minutes_and_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    api = filled()
    port = free_port()
    with pushing(monkeypatch, api, f"http://user:{SECRET}@127.0.0.1:{port}/{SECRET}") as one:
        monkeypatch.setattr(one._receiver._exporter._client, "_timeout", 0.1)  # type: ignore[attr-defined]
        with capture_logs() as logs:
            for _ in range(3):
                assert one.push() == "failed"
                api.clock.advance(pusher.TELL_EVERY / 2)
            monkeypatch.setattr(one._receiver, "send", lambda *_: 0)
            assert [one.push(), one.push()] == ["ok", "ok"]
    assert [line["log_level"] for line in logs] == ["warning", "warning", "info"]
    assert logs[0]["reason"] == "ConnectionRefusedError: Connection refused"
    assert logs[0]["address"] == f"127.0.0.1:{port}"
    assert SECRET not in str(logs)


@pytest.mark.parametrize("code", [200, 400, 403, 503])
def test_no_secret_is_logged(
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The receiver sends back what it was sent."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"Authorization=Token%20{SECRET},x-key=1")
    said = Said(code, f"Authorization: Token {SECRET} {SECRET[:-2]}".encode())
    refused = {"Retry-After": "3600", "Set-Cookie": f"a={SECRET}"}
    with (
        http_receiver(Said(code, said.body, refused)) as receiver,
        pushing(monkeypatch, filled(), receiver.url) as one,
        capture_logs() as logs,
    ):
        one.push()
    assert receiver.heard[0].headers["authorization"] == f"Token {SECRET}"
    assert bool(logs) == (code != 200)
    assert SECRET not in str(logs) + caplog.text + "".join(capsys.readouterr())


def test_a_fault_of_ours_ends_no_pushes(monkeypatch: pytest.MonkeyPatch) -> None:
    with http_receiver() as receiver, pushing(monkeypatch, filled(), receiver.url) as one:
        with monkeypatch.context() as patched, capture_logs() as logs:
            patched.setattr(one._receiver, "send", lambda *_: 1 / 0)
            assert one.push() == "failed"
        assert logs[0]["event"] == "a push failed"
        assert one.push() == "ok"


ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {**ENDPOINT, "OTEL_SDK_DISABLED": "true"},
        {**ENDPOINT, "OTEL_METRICS_EXPORTER": "none"},
    ],
    ids=str,
)
def test_nothing_is_pushed_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert pusher.configured(Api().context) is None


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables may be meant for other processes: the api starts all the same."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    monkeypatch.delitem(sys.modules, "warren_api.push.otlp")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with capture_logs() as logs:
        assert pusher.configured(Api().context) is None
    assert "warren-api[otlp]" in logs[0]["event"]


@pytest.mark.parametrize("written", ["1m", "-1", "0", "86400001", "٣"])
def test_an_interval_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", written)
    with pytest.raises(SettingsError, match="OTEL_METRIC_EXPORT_INTERVAL"):
        pusher.configured(Api().context)


def test_headers_that_cannot_be_read_are_refused_unseen(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f'a=b,x-key="{SECRET}"')
    with pytest.raises(SettingsError) as refused:
        pusher.configured(Api().context)
    assert refused.value.setting == "OTEL_EXPORTER_OTLP_HEADERS"
    assert SECRET not in str(refused.value) + caplog.text


def test_an_endpoint_turns_pushes_on_and_the_end_is_told(start: Start) -> None:
    with http_receiver() as collector:
        service = start(
            NOBODY,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_EXPORTER_OTLP_HEADERS=f"authorization=Bearer {SECRET}",
            OTEL_METRIC_EXPORT_INTERVAL="500",
        )
        eventually(lambda: len(collector.heard) >= 2, message="pushes at the interval")
        counts = 'warren_api_pushes_total{receiver="otlp",result="ok"}'
        assert counts in service.get("/metrics").text
        assert service.end() == 0
    assert received(HttpReceiver("", [], collector.heard[-1:]))["warren_api_ready"] == {(): 0.0}
    assert service.lines()[-1]["event"] == "stopped"
    assert SECRET not in service.log.read_text()


def test_a_receiver_that_hangs_does_not_hold_up_the_api(start: Start) -> None:
    with tcp_receiver() as hanging:  # it reads, and never answers
        service = start(
            NOBODY,
            OTEL_EXPORTER_OTLP_ENDPOINT=hanging.url,
            OTEL_EXPORTER_OTLP_TIMEOUT="300",
            OTEL_METRIC_EXPORT_INTERVAL="500",
        )
        eventually(lambda: hanging.received, message="a push hangs")
        assert service.get("/burrow/admin").text == "GOOD"
        assert service.end() == 0
    assert service.lines()[-1]["event"] == "stopped"
