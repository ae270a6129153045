"""Standstill: work waits, and none of it is done; and the watch that a service keeps on itself: it
looks from a thread of its own.

Whatever hangs, an event loop or a library's thread, cannot tell that it does.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import structlog
from confluent_kafka import KafkaException

from warren.clock import Clock
from warren.errors import KafkaError, WarrenError
from warren.settings.services import StandstillSettings
from warren.words import duration

if TYPE_CHECKING:
    from prometheus_client import Gauge

# What counts of the time between two looks, seconds: a process that was stopped, or a machine that
# slept, could do nothing meanwhile.
LONGEST_STEP = 15.0


@dataclass(frozen=True, slots=True)
class Look:
    """How it stands with some work at one moment.

    `waiting`: what there is to do, 0 when idle; `unit` says what is counted. `mark` is another one
    whenever something was done. No unit: nothing is counted, work is under way or not.
    `obstacle`: why nothing can be done, where a new process could do no more: a cluster that does
    not answer, a right that was taken away. Empty: there is none.
    """

    waiting: int
    mark: Hashable
    unit: str = "events"
    obstacle: str = ""


def obstacle(why: object) -> Look:
    """Look at work that only an obstacle can keep from being done; falsy: there is none now."""
    return Look(0, None, obstacle=str(why) if why else "")


def in_parts(parts: Iterable[Look]) -> Look:
    """Look at work whose parts go on without each other: an obstacle is in the way of all of it
    only where one is in the way of each part.
    """
    obstacles = [part.obstacle for part in parts]
    return obstacle("; ".join(dict.fromkeys(obstacles)) if all(obstacles) else "")


class Turns:
    """A loop whose turns must end: one that is under way waits to be finished.

    Written by the loop's thread, read by any.
    """

    def __init__(self) -> None:
        self._count = 0
        self._under_way = False

    def begin(self) -> None:
        """A turn begins, and the one before it, if any, is over."""
        self._count += 1
        self._under_way = True

    def end(self) -> None:
        """No turn is under way until the next one begins."""
        self._count += 1
        self._under_way = False

    def look(self) -> Look:
        return Look(int(self._under_way), self._count, unit="")


SLOWEST = 10.0
"""So much longer than on an idle machine may work take where the CPU is short."""


def waited_for_cpu() -> dict[str, int]:
    """How long each thread of this process was ready to run and did not, nanoseconds; empty where
    the kernel does not say. Source: proc(5), /proc/pid/schedstat.
    """
    found = {}
    for stat in Path("/proc/self/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError):  # a thread may end meanwhile
            found[str(stat)] = int(stat.read_text().split()[1])
    return found


class GrantedTime:
    """A clock that stands while the process wants a CPU and gets none, and is at least a SLOWEST
    part as fast as another: work that is starved does not stand still, work that hangs does.
    """

    def __init__(self, clock: Clock, waited: Callable[[], Mapping[str, int]]) -> None:
        self._clock, self._waited = clock, waited
        self._at, self._waits, self._seconds = clock.monotonic(), waited(), 0.0

    def monotonic(self) -> float:
        """Seconds from the start."""
        now, waits = self._clock.monotonic(), self._waited()
        starved = max((ns - self._waits.get(of, ns) for of, ns in waits.items()), default=0) / 1e9
        elapsed = now - self._at
        self._seconds += max(elapsed - starved, elapsed / SLOWEST)
        self._at, self._waits = now, waits
        return self._seconds


class Standstill:
    """For how long one kind of work has waited without progress, and what follows."""

    def __init__(
        self, work: str, clock: Clock | GrantedTime, *, not_ready_after: float, exit_after: float
    ) -> None:
        """`work` names it in what is said; limits in seconds."""
        self.work = work
        self._clock = clock
        self._not_ready_after = not_ready_after
        self._exit_after = exit_after
        self.last: Look | None = None
        self._at = clock.monotonic()
        self.stalled_seconds = self._unmoved = 0.0  # without what is excused, and with it
        self._excuse = ""

    def saw(self, look: Look) -> None:
        """Count the time since the look before, unless something was done meanwhile.

        While there is an obstacle, a new process could do no more: once it is gone, work that stood
        still before has the whole time again until the process ends. It is not ready before it
        moves.
        """
        now = self._clock.monotonic()
        step, self._at = min(now - self._at, LONGEST_STEP), now
        if look.obstacle:
            moved = not (self._excuse or self._unmoved)
        else:
            moved = self.last is None or look.waiting == 0 or look.mark != self.last.mark
            self.last = look
        self._unmoved = 0.0 if moved else self._unmoved + step
        self.stalled_seconds = 0.0 if moved or look.obstacle else self.stalled_seconds + step
        self._excuse = look.obstacle

    @property
    def reason(self) -> str | None:
        """Why the service is not ready; None while nothing is wrong."""
        if self._unmoved < self._not_ready_after:
            return None
        if self._excuse:
            return f"{self.work}: {self._excuse}"
        since = duration(round(self._unmoved * 1000))
        if self.last is None or not self.last.unit:
            return f"{self.work}: nothing done for {since}"
        return f"{self.work}: {self.last.waiting} {self.last.unit} waiting, none done for {since}"

    @property
    def must_end(self) -> bool:
        """Whether only a new process helps."""
        return self.stalled_seconds >= self._exit_after


log = structlog.get_logger(__name__)

LOOKS_PER_LIMIT = 12
FAILED = 1  # what supervisors restart

Looking = Callable[[], Look]
"""How some work stands. Raises KafkaException or KafkaError when a cluster does not answer,
another WarrenError where nobody can look and it is known why."""


def end_process() -> None:
    """At once: what hangs would not take part in an orderly end, and any service may be killed."""
    logging.shutdown()
    os._exit(FAILED)


class StandstillWatch:
    """Looks at each work, sets its gauge, and ends the process when one stands still for good."""

    def __init__(
        self,
        settings: StandstillSettings,
        works: Mapping[str, Looking],
        gauge: Gauge,
        clock: Clock,
        end: Callable[[], None] = end_process,
        waited: Callable[[], Mapping[str, int]] = waited_for_cpu,
    ) -> None:
        """`gauge` has one label, the work."""
        self._every = settings.not_ready_after / LOOKS_PER_LIMIT
        granted = GrantedTime(clock, waited)
        self._works = [
            (
                Standstill(
                    work,
                    granted,
                    not_ready_after=settings.not_ready_after,
                    exit_after=settings.exit_after,
                ),
                looking,
            )
            for work, looking in works.items()
        ]
        self._gauge = gauge
        self._end = end
        self._told: dict[str, str | None] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="standstill", daemon=True)

    @property
    def reason(self) -> str | None:
        """Why the service is not ready; None while nothing is wrong."""
        reasons = [standstill.reason for standstill, _ in self._works]
        return "; ".join(reason for reason in reasons if reason) or None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the watch, without waiting for a look that is under way: it tells no more."""
        self._stop.set()

    def look(self) -> None:
        """Once at every work."""
        for standstill, looking in self._works:
            try:
                look = looking()
            except KafkaException as error:
                look = obstacle(f"cluster does not answer: {error.args[0].str()}")
            except KafkaError as error:
                look = obstacle(error)
            except Exception as error:  # what nobody can look at does not move
                look = Look(1, standstill.last and standstill.last.mark, unit="")
                fault = None if isinstance(error, WarrenError) else error
                log.warning(
                    "no look at own work", work=standstill.work, why=str(error), exc_info=fault
                )
            standstill.saw(look)
            if self._stop.is_set():
                return
            self._gauge.labels(standstill.work).set(standstill.stalled_seconds)
            # One line when it begins, one when it is over.
            reason, told = standstill.reason, self._told.get(standstill.work)
            if reason and not told:
                log.warning("standing still, not ready", reason=reason)
            elif told and not reason:
                log.info("moving again", work=standstill.work)
            self._told[standstill.work] = reason
            if standstill.must_end:
                log.error("standing still for too long, ending", reason=standstill.reason)
                self._end()

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            self.look()
