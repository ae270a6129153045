"""Who is told, how often and how fast: the notifier beside receivers that fail.

`chaos`: incidents of groups with three conditions each open and close while notifiers are killed
and frozen, the broker is restarted, Valkey is killed, and receivers are dead for half of the time,
fail, or hang. Exit 1 when an incident whose opening was taken was left open or ended twice, an id
was given to two events, a condition was told out of order, something was given up or refused, or
more mails were doubled than notifiers fell over.
`throughput`: events a second to three channels; beside a channel that hangs, in turns; exit 1 when
that makes the others slower.
`storm`: messages by kind of channel when all groups are bad at once; exit 1 beyond five mails.
`memory`: RSS with open incidents. Each prints one JSON line.
"""

import argparse
import dataclasses
import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from support.loaded_notifier import Latencies, LoadedNotifier
from support.measuring import embedded_kafka, kafka, usage
from support.notified_home import (
    NotifiedHome,
    Notifiers,
    change,
    chat,
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
from warren.contracts import StatusChangeEvent
from warren_local.server import EmbeddedValkey, free_port

FULL = 600.0  # seconds that the defaults of grouping are meant for
MOST_MAILS = 5
ROUNDS = 5
MOST_RATIO = 1.2  # of latencies beside a hanging channel to those without


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    modes = parser.add_subparsers(dest="mode", required=True)
    chaos = modes.add_parser("chaos")
    chaos.add_argument("--incidents", type=int, default=2000)
    chaos.add_argument("--seconds", type=float, default=FULL)
    chaos.add_argument("--kills", type=int, default=10)
    chaos.add_argument("--freezes", type=int, default=2, help="SIGSTOP, and SIGCONT 15 s later")
    throughput = modes.add_parser("throughput")
    throughput.add_argument("--events", type=int, default=10_000)
    throughput.add_argument("--rate", type=float, default=25, help="events a second for latencies")
    storm = modes.add_parser("storm")
    storm.add_argument("--groups", type=int, default=2000)
    storm.add_argument("--seconds", type=float, default=FULL)
    storm.add_argument("--notifiers", type=int, default=1)
    memory = modes.add_parser("memory")
    memory.add_argument("--incidents", type=int, default=100_000)
    for mode in (throughput, storm, memory):
        mode.add_argument("--bootstrap", help="a running cluster; default: an embedded broker")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whatever was started ends with us
    run = {"chaos": in_chaos, "throughput": with_load, "storm": in_storm, "memory": with_incidents}
    result, is_good = run[arguments.mode](arguments)
    print(json.dumps({"mode": arguments.mode, **result}))
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
        valkey = closing.enter_context(_valkey())
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


def in_storm(arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
    seconds, scale = arguments.seconds, arguments.seconds / FULL
    with ExitStack() as closing:
        bootstrap = closing.enter_context(kafka(arguments.bootstrap))
        takers = {"hook": takes_all, "slack": takes_all, "teams": takes_all}
        hooks = closing.enter_context(webhook_receivers(**takers))
        mails = closing.enter_context(mail_receiver())
        home = NotifiedHome(bootstrap, f"storm-{int(time.time())}")
        waits = {"group_wait": 30 * scale, "group_interval": 300 * scale}
        people = ["mail", "slack", "teams"]
        routes = route("machines", ["hook"]) + route("people", people, **waits)
        channels = webhook("hook", hooks["hook"].url) + email("mail", mails.port)
        channels += "".join(chat(name, hooks[name].url) for name in ("slack", "teams"))
        notifiers = Notifiers(home.config(routes + channels), arguments.notifiers, closing)
        start = time.monotonic()
        names = [f"group-{number}" for number in range(arguments.groups)]
        opened = round(time.time() * 1000)
        _spread(home, [change(n, 1, "ERR", 0, opened) for n in names], 0.02 * seconds)
        time.sleep(max(start + 0.4 * seconds - time.monotonic(), 0))
        _spread(home, [change(n, 1, "OK", 1, opened) for n in names], 0.02 * seconds)
        time.sleep(max(start + seconds - time.monotonic(), 0))
        in_time = [one for one in mails.mails if one.at <= start + seconds]
        notifiers.until(lambda: not _pending(home, [*people, "hook"]), "all is told")
        told = told_by_audit(home.audit(), "mail")
        return {
            "seconds": seconds,
            "groups": arguments.groups,
            "notifiers": arguments.notifiers,
            "messages": {
                "email": len(in_time),
                "webhook": len(hooks["hook"].requests),
                **{name: len(hooks[name].requests) for name in ("slack", "teams")},
            },
            "emails_until_all_was_told": len(mails.mails),
            "subjects": [one.subject for one in mails.mails],
            "told_by_mail": told,
        }, len(in_time) <= MOST_MAILS and told["left_open"] == 0


def _spread(home: NotifiedHome, events: Sequence[StatusChangeEvent], seconds: float) -> None:
    parts = 10
    for part in range(parts):
        home.publish(events[part::parts])
        time.sleep(seconds / parts)


def with_load(arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
    """Two notifiers in turns, the same but for a fourth channel that hangs."""
    with ExitStack() as closing:
        bootstrap = closing.enter_context(kafka(arguments.bootstrap))
        plain = LoadedNotifier(bootstrap, "plain", closing)
        beside = LoadedNotifier(bootstrap, "beside", closing, hanging=True)
        burst = plain.burst(arguments.events)
        _say(f"{arguments.events} events at once took {burst:.1f} s")
        paced = max(int(arguments.events / ROUNDS / 4), 1)
        # A percentile of one round is made by a handful of requests: those of all are put together.
        alone = with_hanging = Latencies(())
        for number in range(ROUNDS):
            one = plain.paced(paced, arguments.rate)
            other = beside.paced(paced, arguments.rate)
            _say(f"round {number + 1}: {one}; beside one that hangs {other}")
            alone, with_hanging = alone + one, with_hanging + other
        ratio = with_hanging.p99 / alone.p99
        return {
            "events": arguments.events,
            "channels": 3,
            "events_per_s": round(arguments.events / burst, 1),
            "requests_per_s": round(3 * arguments.events / burst, 1),
            "rate": arguments.rate,
            "p50_ms": round(1000 * alone.p50, 1),
            "p99_ms": round(1000 * alone.p99, 1),
            "p50_ms_beside_a_hanging_channel": round(1000 * with_hanging.p50, 1),
            "p99_ms_beside_a_hanging_channel": round(1000 * with_hanging.p99, 1),
            "p99_ratio": round(ratio, 2),
            "peak_rss_mb": round(usage(plain.notifiers.running[0].pid).peak_rss_mb, 1),
        }, ratio <= MOST_RATIO


def _say(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def with_incidents(arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
    with ExitStack() as closing:
        bootstrap = closing.enter_context(kafka(arguments.bootstrap))
        (hook,) = closing.enter_context(webhook_receivers(hook=takes_all)).values()
        home = NotifiedHome(bootstrap, f"memory-{int(time.time())}")
        config = home.config(route("all", ["hook"]) + webhook("hook", hook.url, concurrency=16))
        notifiers = Notifiers(config, 1, closing)
        (one,) = notifiers.running
        before, start = usage(one.pid), time.monotonic()
        opened = round(time.time() * 1000)
        for at in range(0, arguments.incidents, 1000):
            numbers = range(at, min(at + 1000, arguments.incidents))
            home.publish(change(f"group-{n}", 1, "ERR", 0, opened) for n in numbers)
            # As fast as it goes, and no faster: what waits is not what is measured.
            notifiers.until(lambda: len(hook.requests) > at - 5000, "requests")  # noqa: B023  # called before the next turn
        notifiers.until(
            lambda: (
                one.total("warren_notifier_open_incidents") >= arguments.incidents
                and one.total("warren_notifier_pending") == 0
            ),
            "all are open and told",
        )
        took, after = time.monotonic() - start, usage(one.pid)
        return {
            "incidents": arguments.incidents,
            "seconds": round(took, 1),
            "events_per_s": round(arguments.incidents / took, 1),
            "cpu_s": round(after.cpu_s - before.cpu_s, 1),
            "peak_rss_mb_before": round(before.peak_rss_mb, 1),
            "peak_rss_mb": round(after.peak_rss_mb, 1),
            "kb_per_incident": round(
                1024 * (after.peak_rss_mb - before.peak_rss_mb) / arguments.incidents, 2
            ),
        }, True


@contextmanager
def _valkey() -> Iterator[EmbeddedValkey]:
    with tempfile.TemporaryDirectory(prefix="warren-bench-valkey-") as directory:
        data = Path(directory)
        with EmbeddedValkey(free_port(), data_dir=data, log=data / "valkey.log") as valkey:
            yield valkey


if __name__ == "__main__":
    main()
