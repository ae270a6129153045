"""Whether Warren is silent beside groups that are well.

By default 50 healthy groups of real clients are at work (fast, slow, batches, transactions), new
ones come every few seconds and old ones go; then Warren starts, with default settings. Each status
change and each notification of the next ten minutes is one too many. Prints one JSON line, and the
changes on standard error; exit 1 where something was told.
"""

import argparse
import json
import sys
import time
from contextlib import ExitStack
from typing import Any

from support.healthy_groups import HABITS, HealthyGroups
from support.measuring import kafka
from support.receivers import takes_all, webhook_receivers
from support.service_process import running_service
from support.topic_values import values

NEW_EVERY = 5.0  # seconds
MOST_NEW = 15  # at a time
SERVICES = ("collector", "evaluator", "notifier")
SHOWN = ("group", "previous", "status", "explanation")


def main() -> None:
    arguments = _arguments()
    result = quiet(arguments)
    print(json.dumps({"benchmark": "lives", **result}))
    sys.exit(1 if result["status_changes"] or result["notifications"] else 0)


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
        # Default settings but for that, and a webhook for whatever there is to tell.
        config = f"""
[home]
bootstrap = "{bootstrap}"
[clusters.lives]
bootstrap = "{bootstrap}"
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
        services = [closing.enter_context(running_service(name, config)) for name in SERVICES]
        watch(groups, arguments)
        for service in services:
            service.until(service.is_ready, "the services are ready")
        service.until(lambda: judged(bootstrap) >= arguments.groups, "each group is judged", 5)
        return {
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
    return parser.parse_args()


def watch(groups: HealthyGroups, arguments: argparse.Namespace) -> None:
    """Lets groups come and go for as long as is wanted."""
    new_at = time.monotonic()
    until = new_at + arguments.seconds
    while (now := time.monotonic()) < until:
        if now >= new_at:
            groups.start(HABITS[groups.started % len(HABITS)])
            new_at += NEW_EVERY
        if len(groups.names) > arguments.groups + MOST_NEW:
            groups.end(groups.names[arguments.groups])
        time.sleep(0.2)


def judged(bootstrap: str) -> int:
    """Groups of which `warren.lag` says something."""
    return len({record["group"] for record in values(bootstrap, "warren.lag")})


def told(bootstrap: str) -> dict[str, Any]:
    """What stands on Warren's topics."""
    notifications = values(bootstrap, "warren.notifications")
    # Last, so that it has what the notifications are about.
    changes = [record["data"] for record in values(bootstrap, "warren.lag-status")]
    for change in changes:
        print(*map(change.get, SHOWN), sep=" | ", file=sys.stderr)
    return {
        "status_changes": len(changes),
        "notifications": len(notifications),
    }


if __name__ == "__main__":
    main()
