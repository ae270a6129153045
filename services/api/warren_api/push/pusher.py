"""One receiver's pushes: a thread of their own, each over before the next is due."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import structlog
from prometheus_client.core import Metric
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    wait_exponential_jitter,
)
from warren.clock import Clock
from warren.metrics import api as metrics
from warren.redaction import Redaction
from warren.settings.push import ReceiverSettings

from warren_api.push.batches import Batch, measured
from warren_api.push.receiver import (
    BatchRefused,
    NoTimeLeft,
    PushError,
    Receiver,
    Refused,
    Unanswered,
)
from warren_api.push.result import Result, Tally

log = structlog.get_logger(__name__)

FLUSH = 5.0  # seconds for the last push, and for one that is under way when it is to end
_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=10, jitter=0.5)


class Pusher:
    """Whatever a receiver does costs nobody else anything."""

    def __init__(
        self,
        name: str,
        address: str,
        receiver: Receiver,
        settings: ReceiverSettings,
        collect: Callable[[], Iterator[Batch]],
        clock: Clock,
        redaction: Redaction,
    ) -> None:
        """`name` is the receiver's kind, `address` what the log may say of where it is."""
        self._name = name
        self._address = address
        self._receiver = receiver
        self._settings = settings
        self._collect = collect
        self._clock = clock
        self._redaction = redaction
        self._stopping = threading.Event()
        self._flush_until = float("inf")
        self._deadline = 0.0
        self._told: tuple[Result, str] | None = None
        self._thread = threading.Thread(target=self._run, name=f"push-{name}", daemon=True)
        metrics.API_PUSH_SUCCESS.labels(name).set(clock.now_ms() / 1000)

    def start(self) -> None:
        """The first push is an interval away."""
        self._thread.start()

    def stop(self) -> None:
        """Pushes once more, soon; `join` waits for it."""
        self._flush_until = self._clock.monotonic() + FLUSH
        self._stopping.set()

    def join(self) -> None:
        """Waits no longer than a push may take from `stop` on."""
        self._thread.join(max(self._flush_until - self._clock.monotonic(), 0.0) + 1.0)

    def push(self, within: float) -> Result:
        """All there is now, within so many seconds. It never raises."""
        began, at = self._clock.monotonic(), self._clock.now_ms()
        self._deadline = began + within
        tally = Tally()
        try:
            for batch in self._collect():
                self._send(batch, at, tally)
        except PushError as error:
            tally.fail(error)
        except Exception:  # a fault of ours, which must not end the pushes
            log.exception("a push failed", receiver=self._name)
            tally.fail(Unanswered("fault"))
        metrics.API_PUSH_SECONDS.labels(self._name).set(self._clock.monotonic() - began)
        self._count(tally)
        self._tell(tally)
        return tally.result

    def close(self) -> None:
        """Ends connections; its own thread does that by itself."""
        self._receiver.close()

    def _run(self) -> None:
        interval = self._settings.interval
        due = self._clock.monotonic() + interval
        while not self._stopping.wait(max(due - self._clock.monotonic(), 0.0)):
            self.push(interval)
            # One that took all its time is followed by the next at once, none is caught up with.
            due = max(due + interval, self._clock.monotonic())
        self.push(FLUSH)
        self.close()

    def _send(self, batch: Batch, at: int, tally: Tally) -> None:
        size = sum(1 for metric in batch for _ in measured(metric))
        try:
            tally.take(size, self._tried(batch, at))
        except BatchRefused as error:
            tally.refuse(size, error)
        except Refused as error:
            tally.refuse(size, error)
            raise

    def _tried(self, batch: list[Metric], at: int) -> int:
        """Sent until it is taken or time is over; how many of its samples were refused."""
        retrying = Retrying(
            retry=retry_if_exception_type(Unanswered),
            wait=_wait,
            stop=self._is_over,
            sleep=sleep_using_event(self._stopping),
            reraise=True,
        )
        known: Unanswered | None = None

        def attempt() -> int:
            nonlocal known
            left = self._left()
            if left <= 0:
                raise known or NoTimeLeft
            try:
                return self._receiver.send(batch, at, min(left, self._settings.timeout))
            except Unanswered as error:
                known = error
                raise

        return retrying(attempt)

    def _is_over(self, state: RetryCallState) -> bool:
        """No second attempt while the service ends."""
        return self._stopping.is_set() or state.upcoming_sleep >= self._left()

    def _left(self) -> float:
        return min(self._deadline, self._flush_until) - self._clock.monotonic()

    def _count(self, tally: Tally) -> None:
        metrics.API_PUSHES.labels(self._name, tally.result).inc()
        metrics.API_PUSH_SAMPLES.labels(self._name, "taken").inc(tally.taken)
        metrics.API_PUSH_SAMPLES.labels(self._name, "refused").inc(tally.refused)
        if tally.result == "ok":
            metrics.API_PUSH_SUCCESS.labels(self._name).set(self._clock.now_ms() / 1000)

    def _tell(self, tally: Tally) -> None:
        """Once for each change: other words for the same trouble are none."""
        if isinstance(tally.error, NoTimeLeft) and self._told and self._told[0] != "ok":
            return  # why it takes nothing is told already
        state = tally.result, tally.error.kind if tally.error else ""
        if state == self._told:
            return
        self._told = state
        place = {"receiver": self._name, "address": self._address}
        if tally.result == "ok":
            log.info("a receiver takes what is pushed", samples=tally.taken, **place)
            return
        log.warning(
            "a receiver does not take what is pushed",
            result=tally.result,
            reason=self._redaction(str(tally.error or "it refused some samples"), cut=True),
            refused=tally.refused,
            **place,
        )


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.after if isinstance(error, Unanswered) else 0.0
    return max(asked, _BACKOFF(state))
