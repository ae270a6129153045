"""The processes of a run, as the supervisor starts them.

The reports that pages link, written from the archive again and again while `warren up` runs.
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from warren.clock import Clock
from warren.lake_path import local_path

from warren_local.child import STOP_GRACE, Child
from warren_local.plan import DEMO_WEBHOOK_SECRET, SERVICES, Plan
from warren_local.server import HOST, ProcessServer
from warren_local.supervisor import Service

# Stages: what others need stops last.
_SERVERS, _RECEIVERS, _WARREN, _WORKLOAD = range(4)
SPARK_GRACE = 180.0
"""Seconds from SIGTERM to SIGKILL: Spark finishes the batch that has begun, and ends its JVM. That
takes up to 70 where 20 other processes share 2 cores.
"""
ARRIVALS = MAILS, WEBHOOKS = "mails.jsonl", "webhooks.jsonl"


def server_service(name: str, server: ProcessServer) -> Service:
    server.prepare()
    return Service(name, server.command(), _SERVERS)


def warren_services(plan: Plan, config: Path) -> list[Service]:
    """Warren's own services, and the demo workload where it is wanted."""
    environ = child_environ(os.environ)
    services = [
        Service(
            name,
            [sys.executable, "-m", f"warren_{name}", "--config", str(config)],
            _WARREN,
            grace=SPARK_GRACE if name == "archiver" else STOP_GRACE,
            environ=environ,
        )
        for name in SERVICES
        if name not in plan.without
    ]
    if plan.demo:
        if "notifier" not in plan.without:
            services = [*_receivers(plan, environ), *services]
        command = [sys.executable, "-m", "warren_local.demo", "--config", str(config)]
        command += ["--cluster", plan.cluster]
        command += ["--after", f"http://{HOST}:{plan.settings.collector.metrics_port}/ready"]
        services.append(Service("demo", command, _WORKLOAD, environ=environ))
    return services


def _receivers(plan: Plan, environ: Mapping[str, str]) -> list[Service]:
    """Where the demo's notifications arrive."""
    ports, state = plan.demo_ports, plan.state_dir
    mailbox = ["warren_local.mailbox", "--port", str(ports.mailbox), "--out", str(state / MAILS)]
    receiver = ["warren_local.webhook_receiver", "--port", str(ports.webhooks)]
    receiver += ["--secret", DEMO_WEBHOOK_SECRET, "--out", str(state / WEBHOOKS)]
    return [
        Service(name, [sys.executable, "-m", *arguments], _RECEIVERS, environ=environ)
        for name, arguments in (("mailbox", mailbox), ("webhooks", receiver))
    ]


def child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without Warren's variables: they are in the effective warren.toml already,
    where flags of `warren up` have overruled them.
    """
    kept = {name: value for name, value in environ.items() if not name.startswith("WARREN_")}
    return {**kept, "PYTHONUNBUFFERED": "1"}


FIRST_AFTER = 60.0
"""Seconds; before that there is hardly anything archived. As often it looks whether there is more.
"""
NOTHING_YET = 3  # the exit code that says so
REPORTS_GRACE = 2.0  # files are replaced as a whole


class Reports:
    """Starts a process for them every `interval` seconds, and waits for none. It starts none where
    nothing has been archived since the one before.

    One that is not done by then is ended: the next one has more to tell. `say` gets a line when
    writing fails, and no other until it went well again.
    """

    def __init__(
        self,
        config: Path,
        folder: Path,
        lake: str,
        *,
        log: Path,
        clock: Clock,
        interval: float,
        say: Callable[[str], None],
    ) -> None:
        into = ["--config", str(config), "--into", str(folder)]
        self._command = [sys.executable, "-m", "warren_archiver.report", *into]
        self._lake = local_path(lake)
        self._archived = self._written = 0.0
        """When a table of the lake was last written, as a process began and as one had ended."""
        self._log = log
        self._clock = clock
        self._interval = interval
        self._say = say
        self._due_in(FIRST_AFTER)
        self._child: Child | None = None
        self._failed = False

    @property
    def writing(self) -> bool:
        return self._child is not None

    def look(self) -> None:
        """Again and again, in the thread that also made it."""
        if self._child is not None and (code := self._child.exit_code()) is not None:
            self._child = None
            if code in (0, NOTHING_YET):
                self._written = self._archived
            if code == NOTHING_YET:
                self._due_in(FIRST_AFTER)
            else:
                self._tell(f"exit code {code}" if code else None)
        if self._clock.monotonic() < self._due_at:
            return
        if self._child is not None:
            self.stop()
            self._tell(f"not done after {self._interval:g}s")
        self._archived = self._last_change()
        if self._archived == self._written:
            self._due_in(FIRST_AFTER)
            return
        self._due_in(self._interval)
        self._log.unlink(missing_ok=True)
        self._child = Child(self._command, log=self._log, environ=child_environ(os.environ))

    def stop(self) -> None:
        """What is being written is given up."""
        if self._child is not None:
            self._child.stop(REPORTS_GRACE)
            self._child = None

    def _last_change(self) -> float:
        """Of the logs of all tables; always another one where that cannot be seen."""
        if self._lake is None:
            return self._clock.monotonic()
        logs = self._lake.glob("*/*/_delta_log")
        return max((log.stat().st_mtime for log in logs), default=-1)

    def _due_in(self, seconds: float) -> None:
        self._due_at = self._clock.monotonic() + min(seconds, self._interval)

    def _tell(self, problem: str | None) -> None:
        if problem is not None and not self._failed:
            self._say(f"reports are not written: {problem}, see {self._log}")
        self._failed = problem is not None
