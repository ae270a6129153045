"""The processes of a run, as the supervisor starts them."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from warren_local.plan import DEMO_WEBHOOK_SECRET, SERVICES, Plan
from warren_local.server import HOST, ProcessServer
from warren_local.supervisor import Service

# Stages: what others need stops last.
_SERVERS, _RECEIVERS, _WARREN, _WORKLOAD = range(4)
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
