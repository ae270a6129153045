"""What policy `progress` says of real clients in trouble, and of habits that are none.

Nine groups on a real broker (support/troubled_groups.py), for 20 minutes by default: periodic
pauses, a crash, a poison record, a slow consumer, a backlog that stays, a replay, a batch,
rebalances without end, and some without end or progress. Collector and evaluator run with default
settings but for the policy. Prints one JSON line, and the status changes on standard error; exit 1
when one is not as it should.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack
from datetime import datetime
from typing import Any

from support.measuring import kafka
from support.service_process import running_service
from support.topic_values import values
from support.troubled_groups import PREFIX, TROUBLES, Trouble, TroubledGroups

SETTINGS = """
[home]
bootstrap = "{bootstrap}"
[clusters.troubled]
bootstrap = "{bootstrap}"
[evaluation]
policy = "{policy}"
[evaluator]
data_dir = "evaluator"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--policy", default="progress")
    arguments = parser.parse_args()
    with kafka(None) as bootstrap, ExitStack() as closing:
        groups = TroubledGroups(bootstrap)
        closing.callback(groups.close)
        began = time.time()
        config = SETTINGS.format(bootstrap=bootstrap, policy=arguments.policy)
        for name in ("collector", "evaluator"):
            service = closing.enter_context(running_service(name, config))
            service.until(service.is_ready, f"the {name} is ready")
        time.sleep(max(began + arguments.seconds - time.time(), 0))
        changes = [
            record["data"] | {"at": datetime.fromisoformat(record["time"]).timestamp()}
            for record in values(bootstrap, "warren.lag-status")
        ]
    wrong = {}
    for name, trouble in TROUBLES.items():
        told = [change for change in changes if change["group"] == PREFIX + name]
        for change in told:
            seconds = round(change["at"] - began)
            print(
                name, seconds, change["status"], change["explanation"], sep=" | ", file=sys.stderr
            )
        if not _is_right(trouble, told):
            wrong[name] = [change["status"] for change in told]
    print(json.dumps({"benchmark": "troubles", "groups": len(TROUBLES), "wrong": wrong}))
    sys.exit(1 if wrong else 0)


def _is_right(trouble: Trouble, told: list[dict[str, Any]]) -> bool:
    """What must be told, in that order; beside it only what may be, and its end."""
    wanted = list(trouble.told)
    for change in told:
        sentence = change["explanation"] or "OK"
        if wanted and wanted[0] in sentence:
            wanted.pop(0)
        elif sentence != "OK" and not any(one in sentence for one in trouble.may):
            return False
    return not wanted


if __name__ == "__main__":
    main()
