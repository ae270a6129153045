"""The collector: one stack per monitored cluster, each in its own thread."""

import os
import socket
import threading
from collections.abc import Callable
from functools import partial

import structlog
from warren.clock import Clock
from warren.errors import SettingsError
from warren.kafka.producer import EventProducer
from warren.metrics import collector as metrics
from warren.settings import Settings
from warren.settings_file import SettingsWatch
from warren.standstill import Looking, in_parts, obstacle

from warren_collector.cluster.publisher import ClusterReports
from warren_collector.cluster.stack import ClusterStack

log = structlog.get_logger(__name__)

LOOK_EVERY = 1.0  # seconds between looks at warren.toml
REPORT_TIMEOUT = 5.0  # seconds for the home cluster to acknowledge how things stand


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
        self._home = settings.home
        name = f"{socket.gethostname()}-{os.getpid()}"
        self._reports = ClusterReports(
            [partial(stack.report, name) for stack in self._stacks],
            settings.home.topic_prefix,
            clock,
        )

    @property
    def is_ready(self) -> bool:
        return self.readiness() is True

    def readiness(self) -> bool | str:
        """True when every cluster that can be reached is rebuilt, and one can; else why not."""
        unready = [stack for stack in self._stacks if not stack.is_ready]
        waiting = [stack for stack in unready if not stack.is_away]
        if len(unready) < len(self._stacks) and not waiting:
            return True
        return "; ".join(
            f"cluster {stack.cluster}: {stack.state.now.state}"
            + (f", {why}" if (why := stack.state.now.problem or stack.state.now.obstacle) else "")
            for stack in waiting or unready
        )

    @property
    def works(self) -> dict[str, Looking]:
        """What must not stand still, by name. One cluster of which nothing is collected leaves the
        others alone.
        """
        return {
            **{f"cluster {stack.cluster}": stack.look for stack in self._stacks},
            "collecting": lambda: in_parts(obstacle(s.state.now.obstacle) for s in self._stacks),
            "reports": self._reports.trouble.look,
        }

    def stop(self) -> None:
        """Makes `run` return once the last events are published. Safe in a signal handler."""
        self._stop.set()

    def run(self) -> None:
        """Raises what a stack could not handle: SettingsError, or a fault of the program."""
        threads = [
            threading.Thread(target=self._run, args=(stack.run,), name=f"cluster {stack.cluster}")
            for stack in self._stacks
        ]
        threads.append(threading.Thread(target=self._run, args=(self._report,), name="reports"))
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

    def _report(self) -> None:
        def connect() -> EventProducer:
            return EventProducer(self._home, REPORT_TIMEOUT)

        def has_home() -> bool:
            return any(stack.has_home.is_set() for stack in self._stacks)

        self._reports.run(connect, has_home, self._stop)

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised again by `run`, in the main thread
            self._failures.append(error)
            self._stop.set()
