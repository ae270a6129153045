"""Who is told, and how often: the notifier beside receivers that fail.

Incidents of groups with three conditions each open and close while notifiers are killed
and frozen, the broker is restarted, Valkey is killed, and receivers are dead for half of the time,
fail, or hang. Exit 1 when an incident whose opening was taken was left open or ended twice, an id
was given to two events, a condition was told out of order, something was given up or refused, or
more mails were doubled than notifiers fell over.
Prints one JSON line.
"""

import argparse
import dataclasses
import json
import random
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from support.measuring import embedded_kafka, embedded_valkey
from support.notified_home import (
    NotifiedHome,
    Notifiers,
    change,
    condition,
    email,
    route,
    webhook,
)
from support.notifier_faults import Faults
from support.receivers import (
    fails,
    hangs,
    mail_receiver,
    takes_all,
    webhook_receivers,
)
from support.told import told_by_audit, told_by_requests

FULL = 600.0  # seconds that the defaults of grouping are meant for


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--incidents", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=FULL)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--freezes", type=int, default=2, help="SIGSTOP, and SIGCONT 15 s later")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whatever was started ends with us
    result, is_good = in_chaos(arguments)
    print(json.dumps(result))
    sys.exit(0 if is_good else 1)


def incidents(count: int, seconds: float, chance: random.Random) -> list[tuple[float, list[Any]]]:
    """(second, arguments of `change`), in order: each in a group of its own, some get worse."""
    planned: list[tuple[float, list[Any]]] = []
    for number in range(count):
        group, begin = f"group-{number}", chance.uniform(0, 0.7) * seconds
        end = chance.uniform(begin + 0.02 * seconds, 0.95 * seconds)
        planned.append((begin, [group, 1, chance.choice(["WARN", "ERR"]), 0]))
        if chance.random() < 0.3:
            planned.append((chance.uniform(begin, end), [group, 1, "ERR", 1]))
        planned.append((end, [group, 1, "OK", 2]))
    return sorted(planned, key=lambda one: one[0])


def in_chaos(arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
    seconds, chance = arguments.seconds, random.Random(1)
    scale = min(seconds / FULL, 1)
    answers = {
        "steady": takes_all,
        "dead": takes_all,
        "errors": fails(0.1, chance),
        "hanging": hangs,
    }
    with ExitStack() as closing:
        broker = closing.enter_context(embedded_kafka())
        valkey = closing.enter_context(embedded_valkey())
        hooks = closing.enter_context(webhook_receivers(**answers))
        mails = closing.enter_context(mail_receiver())
        home = NotifiedHome(broker.bootstrap, "chaos")
        channels = [webhook(n, h.url, timeout=2) for n, h in hooks.items() if n != "steady"]
        channels.append(webhook("steady", hooks["steady"].url, rate=60_000))
        routes = route("machines", hooks)
        waits = {"group_wait": 30 * scale, "group_interval": 300 * scale}
        routes += route("people", ["mail"], **waits)
        config = home.config(routes + "".join(channels) + email("mail", mails.port))
        config += f'\n[redis]\nurl = "{valkey.url}"\n'
        notifiers = Notifiers(config, 2, closing)
        planned = incidents(arguments.incidents, seconds, chance)
        faults = Faults(
            notifiers, broker, valkey, hooks["dead"], seconds, arguments.kills, arguments.freezes
        )
        order = _play(home, planned, faults)
        faults.end()
        reached = ("steady", "dead", "errors", "mail")
        notifiers.until(lambda: not _pending(home, reached), "all but the hanging one are told")
        told = {n: told_by_requests(h.requests, order) for n, h in hooks.items()}
        audit = home.audit()
        by_mail = {**told_by_audit(audit, "mail"), "mails": len(mails.mails)}
        by_mail["doubled_ids"] = len(mails.mails) - len({one.message_id for one in mails.mails})
        faulty = sum(
            one.left_open + one.ids_of_two_events + one.events_with_two_ids + one.out_of_order
            for one in told.values()
        )
        lost = sum(one.outcome in ("given_up", "refused") for one in audit)
        # Who is killed or frozen between a mail and its record sends it again, with the same id.
        too_often = by_mail["doubled_ids"] > notifiers.kills + notifiers.freezes
        ends = by_mail["left_open"] + by_mail["ended_twice"]
        is_good = faulty + ends + lost == 0 and not too_often
        return {
            "seconds": seconds,
            "incidents": arguments.incidents,
            "kills": notifiers.kills,
            "freezes": notifiers.freezes,
            "channels": {n: dataclasses.asdict(one) for n, one in told.items()},
            "mail": by_mail,
            "refused_or_given_up": lost,
        }, is_good


def _play(
    home: NotifiedHome, planned: Sequence[tuple[float, list[Any]]], faults: Faults
) -> dict[str, int]:
    """Publishes what is planned in its time; the place of each event."""
    start, waiting, order = time.monotonic(), list(planned), dict[str, int]()
    opened: dict[str, int] = {}
    while waiting:
        second = time.monotonic() - start
        faults.at(second)
        due = [one for at, one in waiting if at <= second]
        waiting = waiting[len(due) :]
        events = []
        for group, incident, status, number in due:
            opened.setdefault(group, round(time.time() * 1000))
            events.append(condition(change(group, incident, status, number, opened[group])))
            order[events[-1].id] = len(order)
        home.publish(events)
        time.sleep(0.2)
    return order


def _pending(home: NotifiedHome, channels: Sequence[str]) -> int:
    """Deliveries to some channels that have not come to their end."""
    return sum(one.channel in channels for state in home.states() for one in state.deliveries)


def _say(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
