"""The collector: one stack per monitored cluster, each in its own thread."""

from __future__ import annotations

import threading

import structlog
from warren.clock import Clock
from warren.errors import SettingsError
from warren.metrics import collector as metrics
from warren.settings import Settings
from warren.settings_watch import SettingsWatch

from warren_collector.stack import ClusterStack

log = structlog.get_logger(__name__)

LOOK_EVERY = 1.0  # seconds between looks at warren.toml


class Collector:
    """Runs until stopped. What a stack cannot handle ends all of them, so that it is noticed."""

    def __init__(
        self, settings: Settings, clock: Clock, watch: SettingsWatch | None = None
    ) -> None:
        """`watch` tells of other filters. Raises SettingsError."""
        if not settings.clusters:
            raise SettingsError("clusters", "no cluster to monitor: add [clusters.<name>]")
        self._watch = watch
        self._stop = threading.Event()
        self._failures: list[BaseException] = []
        self._stacks = [
            ClusterStack(name, settings, clock, self._stop) for name in settings.clusters
        ]

    @property
    def is_ready(self) -> bool:
        """Every cluster's state is rebuilt."""
        return all(stack.is_ready for stack in self._stacks)

    def stop(self) -> None:
        """Makes `run` return once the last events are published. Safe in a signal handler."""
        self._stop.set()

    def run(self) -> None:
        """Raises what a stack could not handle: SettingsError, or a fault of the program."""
        threads = [
            threading.Thread(target=self._run, args=(stack,), name=f"cluster {stack.cluster}")
            for stack in self._stacks
        ]
        for thread in threads:
            thread.start()
        log.info("collecting", clusters=[stack.cluster for stack in self._stacks])
        for thread in threads:  # none ends before all are told to
            while thread.is_alive():
                thread.join(LOOK_EVERY)
                self._look()
        if self._failures:
            raise self._failures[0]
        log.info("stopped")

    def _look(self) -> None:
        if self._watch is None:
            return
        changed = self._watch.look()
        metrics.COLLECTOR_SETTINGS_REFUSED.set(self._watch.is_refused)
        if changed is not None:
            for stack in self._stacks:
                stack.filter_by(changed)

    def _run(self, stack: ClusterStack) -> None:
        try:
            stack.run()
        except BaseException as error:  # noqa: BLE001  # raised again by `run`, in the main thread
            self._failures.append(error)
            self._stop.set()
