"""A notifier with channels that take everything, and how long an event is on its way."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass

from support.notified_home import NotifiedHome, Notifiers, change, route, webhook
from support.receivers import hangs, takes_all, webhook_receivers
from warren.contracts import GroupIncidentEvent, StatusChangeEvent

AT_ONCE = 500  # events that are published together


@dataclass(frozen=True, slots=True)
class Latencies:
    """Seconds from an event to its request, of each request."""

    seconds: tuple[float, ...]

    @property
    def p50(self) -> float:
        return self._quantile(0.5)

    @property
    def p99(self) -> float:
        return self._quantile(0.99)

    def __add__(self, other: Latencies) -> Latencies:
        return Latencies(self.seconds + other.seconds)

    def __str__(self) -> str:
        return f"p50 {1000 * self.p50:.1f} ms, p99 {1000 * self.p99:.1f} ms"

    def _quantile(self, part: float) -> float:
        return sorted(self.seconds)[int(len(self.seconds) * part)]


class LoadedNotifier:
    """A notifier with three channels that take everything, and maybe one that hangs."""

    def __init__(
        self, bootstrap: str, name: str, closing: ExitStack, *, hanging: bool = False
    ) -> None:
        names = {"one": takes_all, "two": takes_all, "three": takes_all}
        self._hooks = closing.enter_context(webhook_receivers(**names))
        urls = {name: hook.url for name, hook in self._hooks.items()}
        if hanging:
            (hook,) = closing.enter_context(webhook_receivers(hanging=hangs)).values()
            urls["hanging"] = hook.url
        self._home = NotifiedHome(bootstrap, f"{name}-{int(time.time())}")
        channels = "".join(webhook(name, url, timeout=5) for name, url in urls.items())
        self.notifiers = Notifiers(self._home.config(route("all", urls) + channels), 1, closing)
        self._number = 0

    def burst(self, count: int) -> float:
        """Seconds until all events, published as fast as can be, are at all channels."""
        events, before = self._new(count), self._arrived()
        start = time.monotonic()
        for at in range(0, count, AT_ONCE):
            self._home.publish(events[at : at + AT_ONCE])
        self.notifiers.until(lambda: self._arrived() >= before + 3 * count, "all has arrived")
        return time.monotonic() - start

    def paced(self, count: int, rate: float) -> Latencies:
        before = {name: len(hook.requests) for name, hook in self._hooks.items()}
        events, start = self._new(count), time.monotonic()
        step = max(int(rate / 10), 1)
        for at in range(0, count, step):
            time.sleep(max(start + at / rate - time.monotonic(), 0))
            self._home.publish(events[at : at + step])
        expected = sum(before.values()) + 3 * count
        self.notifiers.until(lambda: self._arrived() >= expected, "all has arrived")
        published = self._home.published
        return Latencies(
            tuple(
                one.at - published[GroupIncidentEvent.from_bytes(one.body).id]
                for name, hook in self._hooks.items()
                for one in hook.requests[before[name] :]
            )
        )

    def _arrived(self) -> int:
        return sum(len(hook.requests) for hook in self._hooks.values())

    def _new(self, count: int) -> list[StatusChangeEvent]:
        self._number += count
        numbers = range(self._number - count, self._number)
        return [change(f"group-{n}", 1, "ERR", 0, round(time.time() * 1000)) for n in numbers]
