"""Pushes: a thread of their own, whose receiver holds nobody else up."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Literal, Protocol
from urllib.parse import urlsplit

import structlog
from prometheus_client.core import Metric
from warren.clock import Clock
from warren.errors import SettingsError
from warren.metrics import api as metrics

from warren_api.context import ApiContext
from warren_api.metrics.scrape import Extents
from warren_api.push.batches import Batch, batches, measured

log = structlog.get_logger(__name__)

RECEIVER = "otlp"  # the label `receiver` of the metrics
INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"  # milliseconds; OpenTelemetry's default is 60,000
ENDPOINTS = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
FLUSH = 5.0  # seconds for the last push, and for one that is under way when the service ends
TELL_EVERY = 300.0  # seconds between two lines about trouble

Result = Literal["ok", "partial", "failed"]


class Receiver(Protocol):
    """`warren_api.push.otlp` has the one that there is; it needs the extra `otlp`."""

    @property
    def problem(self) -> str: ...
    def send(self, batch: list[Metric], at: int) -> int | None: ...
    def close(self) -> None: ...


class Pusher:
    """Pushes at each interval, and once more at the end."""

    def __init__(
        self,
        receiver: Receiver,
        address: str,
        interval: float,
        collect: Callable[[], Iterator[Batch]],
        clock: Clock,
    ) -> None:
        """`address`: what the log may say of where the receiver is."""
        self._receiver = receiver
        self._address = address
        self._interval = interval
        self._collect = collect
        self._clock = clock
        self._stopping = threading.Event()
        self._is_told = False
        self._told_at = float("-inf")
        self._thread = threading.Thread(target=self._run, name="push", daemon=True)
        metrics.API_PUSH_SUCCESS.labels(RECEIVER).set(clock.now_ms() / 1000)

    def start(self) -> None:
        """The first push is an interval away."""
        self._thread.start()

    def stop(self) -> None:
        """Push once more, within some seconds. Blocks."""
        self._stopping.set()
        self._thread.join(FLUSH)
        self._receiver.close()

    def push(self) -> Result:
        """Send all there is now. It never raises."""
        began, at = self._clock.monotonic(), self._clock.now_ms()
        taken = refused = 0
        problem = ""
        try:
            for batch in self._collect():
                size = sum(len(measured(metric)) for metric in batch)
                rejected = self._receiver.send(batch, at)
                refused += size if rejected is None else rejected
                taken += 0 if rejected is None else size - rejected
                problem = self._receiver.problem if rejected != 0 else problem
                if rejected is None:
                    break  # the next batch would meet the same
        except Exception:  # a fault of ours, which must not end the pushes
            log.exception("a push failed")
            problem = "fault"
        result: Result = "ok" if not problem else "partial" if taken else "failed"
        metrics.API_PUSH_SECONDS.labels(RECEIVER).set(self._clock.monotonic() - began)
        metrics.API_PUSHES.labels(RECEIVER, result).inc()
        metrics.API_PUSH_SAMPLES.labels(RECEIVER, "taken").inc(taken)
        metrics.API_PUSH_SAMPLES.labels(RECEIVER, "refused").inc(refused)
        if result == "ok":
            metrics.API_PUSH_SUCCESS.labels(RECEIVER).set(self._clock.now_ms() / 1000)
        self._tell(result, problem)
        return result

    def _run(self) -> None:
        while not self._stopping.wait(self._interval):
            self.push()
        self.push()

    def _tell(self, result: Result, problem: str) -> None:
        """Trouble every few minutes, and its end."""
        place = {"receiver": RECEIVER, "address": self._address}
        if result == "ok":
            if self._is_told:
                log.info("the receiver takes what is pushed again", **place)
            self._is_told = False
        elif self._clock.monotonic() - self._told_at >= TELL_EVERY:
            self._is_told, self._told_at = True, self._clock.monotonic()
            log.warning(
                "the receiver does not take what is pushed", result=result, reason=problem, **place
            )


def configured(context: ApiContext) -> Pusher | None:
    """The pushes that OpenTelemetry's environment variables ask for, if they do.

    The variables may be meant for other processes: without the library nothing is pushed, and the
    log says so. Raises SettingsError for an interval or headers that are none.
    """
    endpoint = next(filter(None, map(os.environ.get, ENDPOINTS)), None)
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if endpoint is None or is_off or os.environ.get("OTEL_METRICS_EXPORTER", "otlp") != "otlp":
        return None
    try:
        from warren_api.push.otlp import OtlpReceiver  # an extra, which few need
    except ModuleNotFoundError as error:
        log.warning(
            "nothing is pushed: install warren-api[otlp], or set OTEL_SDK_DISABLED=true",
            missing=error.name,
        )
        return None
    extents = Extents(context.settings.api, is_told=False)

    def collect() -> Iterator[Batch]:
        return batches(context, extents.of(context.model.size().partitions))

    receiver = OtlpReceiver(context.clock.now_ms())
    host = urlsplit(endpoint).netloc.rpartition("@")[2]
    return Pusher(receiver, host, _interval(), collect, context.clock)


def _interval() -> float:
    """Seconds between pushes."""
    written = os.environ.get(INTERVAL) or "60000"
    if not written.isascii() or not written.isdigit() or not 1 <= int(written) <= 86_400_000:
        raise SettingsError(INTERVAL, f"{written!r} is no number of milliseconds up to a day")
    return int(written) / 1000
