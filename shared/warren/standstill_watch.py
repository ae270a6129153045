"""The watch that a service keeps on itself: looks at its work from a thread of its own.

Whatever hangs, an event loop or a library's thread, cannot tell that it does.
"""

import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import Self

import structlog
from confluent_kafka import KafkaException
from prometheus_client import Gauge

from warren.clock import Clock
from warren.errors import KafkaError, WarrenError
from warren.settings.services import StandstillSettings
from warren.standstill import Look, Standstill

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
    ) -> None:
        """`gauge` has one label, the work."""
        self._every = settings.not_ready_after / LOOKS_PER_LIMIT
        self._works = [
            (
                Standstill(
                    work,
                    clock,
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
                standstill.saw(looking())
            except KafkaException as error:
                standstill.excused(f"cluster does not answer: {error.args[0].str()}")
            except KafkaError as error:
                standstill.excused(str(error))
            except WarrenError as error:  # what cannot even be looked at does not move
                standstill.unseen()
                log.warning("no look at own work", work=standstill.work, error=str(error))
            except Exception as error:
                standstill.unseen()
                log.warning("no look at own work", work=standstill.work, exc_info=error)
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
