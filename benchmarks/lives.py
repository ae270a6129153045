"""Whether Warren is silent beside groups that are well.

By default 50 healthy groups of real clients are at work (fast, slow, batches, transactions), new
ones come every few seconds and old ones go; then Warren starts, with default settings. Each status
change and each notification of the next ten minutes is one too many. With --kill, collector,
evaluator and notifier are killed now and then. Prints one JSON line, and the changes on standard
error; exit 1 where something was told.
"""

import argparse
import json
import os
import signal
import sys
import time
from contextlib import ExitStack
from typing import Any

from support.healthy_groups import HABITS, HealthyGroups
from support.measuring import kafka
from support.receivers import takes_all, webhook_receivers
from support.service_process import ServiceProcess, running_service
from support.topic_values import values
from warren_core.evaluation import POLICIES

NEW_EVERY = 5.0  # seconds
MOST_NEW = 15  # at a time
SERVICES = ("collector", "evaluator", "notifier")
WRONG = ("status_changes", "notifications")


def main() -> None:
    arguments = _arguments()
    result = quiet(arguments)
    print(json.dumps({"benchmark": "lives", **result}))
    sys.exit(1 if any(result.get(name) for name in WRONG) else 0)


def quiet(arguments: argparse.Namespace) -> dict[str, Any]:
    """Healthy groups: nothing may be told."""
    with kafka(arguments.bootstrap) as bootstrap, ExitStack() as closing:
        groups = HealthyGroups(bootstrap)
        closing.callback(groups.close)
        for number in range(arguments.groups):
            groups.start(HABITS[number % len(HABITS)])
        print(f"{arguments.groups} groups work for {arguments.before:g} s", file=sys.stderr)
        time.sleep(arguments.before)
        url = closing.enter_context(webhook_receivers(hook=takes_all))["hook"].url
        services = Services(settings(bootstrap, arguments.policy, url), closing)
        watch(groups, services, arguments)
        return {
            "seconds": round(arguments.seconds),
            "groups": groups.started,
            "kills": services.kills,
            "restarts": groups.restarts,
            "longest_commit_s": round(groups.longest_commit_s, 1),
            **told(bootstrap),
        }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", help="a running, empty cluster; default: an embedded broker")
    parser.add_argument("--groups", type=int, default=50, help="that are there before Warren")
    parser.add_argument("--before", type=float, default=30, help="seconds before Warren starts")
    parser.add_argument("--seconds", type=float, default=600, help="how long to listen")
    parser.add_argument("--policy", choices=list(POLICIES), default="progress")
    parser.add_argument("--kill", type=float, help="seconds after which a service is killed")
    return parser.parse_args()


class Services:
    """Collector, evaluator and notifier with default settings."""

    def __init__(self, config: str, closing: ExitStack) -> None:
        self.kills = 0
        self._config = config
        self._closing = closing
        self._running: dict[str, ServiceProcess] = {name: self._start(name) for name in SERVICES}

    def kill(self) -> None:
        """The next one in turn; another one takes its place."""
        name = SERVICES[self.kills % len(SERVICES)]
        os.kill(self._running[name].pid, signal.SIGKILL)
        self._running[name] = self._start(name)
        self.kills += 1

    def check(self) -> None:
        for name, service in self._running.items():
            service.until(service.is_ready, f"the {name} is ready")

    def _start(self, name: str) -> ServiceProcess:
        return self._closing.enter_context(running_service(name, self._config))


def watch(groups: HealthyGroups, services: Services, arguments: argparse.Namespace) -> None:
    """Lets groups come and go, and services die, for as long as is wanted."""
    start = time.monotonic()
    until, new_at = start + arguments.seconds, start
    kill_at = start + arguments.kill if arguments.kill else until
    while (now := time.monotonic()) < until:
        if now >= new_at:
            groups.start(HABITS[groups.started % len(HABITS)])
            new_at += NEW_EVERY
        if len(groups.names) > arguments.groups + MOST_NEW:
            groups.end(groups.names[arguments.groups])
        if now >= kill_at:
            services.kill()
            kill_at += arguments.kill
        time.sleep(0.2)
    services.check()


def told(bootstrap: str) -> dict[str, Any]:
    """What stands on Warren's topics."""
    judged = {record["group"] for record in values(bootstrap, "warren.lag")}
    notifications = values(bootstrap, "warren.notifications")
    # Last, so that it has what the notifications are about.
    changes = [record["data"] for record in values(bootstrap, "warren.lag-status")]
    for change in changes:
        said = [change[name] for name in ("group", "previous", "status", "explanation")]
        print(*said, sep=" | ", file=sys.stderr)
    return {
        "judged": len(judged),
        "status_changes": len(changes),
        "in_trouble": len({change["group"] for change in changes}),
        "notifications": len(notifications),
    }


def settings(bootstrap: str, policy: str, url: str) -> str:
    """Default settings but for that, and a webhook for whatever there is to tell."""
    return f"""
[home]
bootstrap = "{bootstrap}"
[clusters.lives]
bootstrap = "{bootstrap}"
[evaluation]
policy = "{policy}"
[evaluator]
data_dir = "evaluator"
[[notifier.routes]]
name = "all"
channels = ["hook"]
[notifier.channels.hook]
type = "webhook"
url = "{url}"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""


if __name__ == "__main__":
    main()
