"""Whether others are answered while somebody does their worst: clients that send half a request,
expressions that cost, thousands that follow events, thousands of headers, tabs by the hundred.

Prints a table and one JSON line: how long readiness took, asked every 50 ms over a new connection,
before and during each attack, how long a server took at most meanwhile that nobody attacks and that
does nothing else (what attackers and the machine take), and what became of the attackers' requests.
"""

from __future__ import annotations

import argparse
import json
import resource

from support.asked_all_the_time import AskedAllTheTime, bare_server
from support.attacks import ATTACKS
from support.served_groups import GroupLoad, served

READY = "/burrow/admin/ready"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=10, help="of each attack")
    parser.add_argument("--attacks", nargs="*", help="only these")
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    result: dict[str, object] = {"benchmark": "hostile", "groups": arguments.groups}
    print(f"{'':16}{'ready p50 ms':>14}{'worst ms':>10}{'bare worst ms':>15}  attackers")
    with served(GroupLoad(arguments.groups, 10, 30, 50)) as api, bare_server() as bare:
        for name in arguments.attacks or ATTACKS:
            with AskedAllTheTime(api.url + READY) as ready, AskedAllTheTime(bare) as beside:
                outcomes = ATTACKS[name](api, arguments.seconds)
            typical, worst, machine = (
                seconds * 1000
                for seconds in (
                    ready.waited[len(ready.waited) // 2],
                    ready.waited[-1],
                    beside.waited[-1],
                )
            )
            print(f"{name:16}{typical:>14.0f}{worst:>10.0f}{machine:>15.0f}  {dict(outcomes)}")
            result |= {
                f"{name}_worst_ms": round(worst),
                f"{name}_bare_worst_ms": round(machine),
                f"{name}_outcomes": dict(outcomes),
            }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
