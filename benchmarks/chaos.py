"""Whether Warren keeps its word while everything around it breaks: two Warrens on one cluster.

Healthy groups work, others stop and go on again; three times the broker is away for 30 s (hangs, or
is dead), each service of the first Warren is killed twice, and a transaction hangs. In the end all
groups are well again. Prints one JSON line; exit 1 when a service ended that nobody had killed, an
incident was left open, or a group was shown as OK while nobody could know it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer
from support.healthy_groups import HABITS, PREFIX, HealthyGroups
from support.measuring import embedded_kafka
from support.running_warren import RunningWarren, running_warren
from support.topic_values import values
from warren_local.kafka import EmbeddedKafka

OUTAGE = 30.0  # seconds
WORK = 90.0  # seconds between two rounds: windows fill again
WITHIN = 600.0  # seconds; a STOP after an outage takes as long as the window that spans it
KNOWN_FOR_MS = 40_000  # three heartbeats and two intervals of the default settings
SERVICES = ("collector", "evaluator", "freshness", "notifier", "api", "archiver")
STOPPERS = tuple(f"stopper-{number}" for number in range(4))
ENDED = ("OK", "NOTFOUND")
HANGING = """
import sys, time
from confluent_kafka import Consumer, Producer, TopicPartition
bootstrap, topic = sys.argv[1:]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "hanging"})
consumer.subscribe([topic])
consumer.poll(20)
producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "hanging",
                     "transaction.timeout.ms": 900000})
producer.init_transactions(60)
producer.begin_transaction()
producer.send_offsets_to_transaction(
    [TopicPartition(topic, 0, 1)], consumer.consumer_group_metadata(), 60)
print("open", flush=True)
time.sleep(3600)
"""


class Stoppers(threading.Thread):
    """Groups that commit every second, or stop, as they are told."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.works = True
        self._ended = threading.Event()
        options = {"bootstrap.servers": bootstrap, "auto.offset.reset": "latest", "log_level": 0}
        options |= {"enable.auto.commit": False}
        self._consumers = [Consumer({**options, "group.id": name}) for name in STOPPERS]
        for consumer in self._consumers:
            consumer.subscribe([f"{PREFIX}steady"])

    def run(self) -> None:
        while not self._ended.wait(1.0):
            for consumer in self._consumers:
                if not self.works:
                    consumer.poll(0)
                elif consumer.consume(1000, 0.1):
                    consumer.commit(asynchronous=True)

    def close(self) -> None:
        self._ended.set()
        self.join()
        for consumer in self._consumers:
            consumer.close()


class Witness(threading.Thread):
    """Looks at what a Warren shows, and keeps the groups that are green though nobody can know."""

    def __init__(self, warren: RunningWarren) -> None:
        super().__init__(daemon=True)
        self.green: set[str] = set()
        self.looks = 0
        self._warren = warren
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(1.0):
            shown = self._warren.groups()
            known_since = time.time() * 1000 - KNOWN_FOR_MS
            self.looks += bool(shown)
            for group in shown:
                if group["status"] == "OK" and group["evaluated_at"] < known_since:
                    self.green.add(group["group"])

    def close(self) -> None:
        self._ended.set()
        self.join()


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with ExitStack() as closing:
        directory = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="warren-chaos-")))
        broker = closing.enter_context(embedded_kafka())
        groups = HealthyGroups(broker.bootstrap)
        closing.callback(groups.close)
        # A client in a transaction waits for minutes where the broker was killed: it is not well.
        habits = [habit for habit in HABITS if not habit.is_transactional]
        for number in range(2 * len(habits)):
            groups.start(habits[number % len(habits)])
        stoppers = Stoppers(broker.bootstrap)
        stoppers.start()
        closing.callback(stoppers.close)
        warrens = []
        for name in ("first", "second"):
            warren = closing.enter_context(running_warren(directory / name, broker.bootstrap))
            _await(partial(_knows, warren), f"the {name} knows the groups")
            warrens.append(warren)
        witnesses = [Witness(warren) for warren in warrens]
        for witness in witnesses:
            witness.start()
            closing.callback(witness.close)
        _leave_a_transaction_open(broker.bootstrap)
        kills = _rounds(broker, warrens, stoppers)
        results = [
            _result(broker.bootstrap, warren, witness, killed)
            for warren, witness, killed in zip(warrens, witnesses, (kills, 0), strict=True)
        ]
    print(json.dumps({"benchmark": "chaos", "groups": groups.started, "warrens": results}))
    bad = any(r["left_open"] or r["own_crashes"] or r["green_but_unknown"] for r in results)
    sys.exit(1 if bad else 0)


def _rounds(broker: EmbeddedKafka, warrens: list[RunningWarren], stoppers: Stoppers) -> int:
    """Three times the groups stop, things break, and the groups go on. How many were killed."""
    killed = 0
    for number in range(3):
        _say(f"round {number + 1}: {len(STOPPERS)} groups stop")
        stoppers.works = False
        _await(lambda: all(_stoppers_are("ERR", w) for w in warrens), "both Warrens tell of it")
        for service in SERVICES if number < 2 else ():
            killed += _kill(warrens[0], service)
        with _away(broker, is_dead=number == 1):
            time.sleep(OUTAGE)
        stoppers.works = True
        _await(lambda: all(_stoppers_are("OK", w) for w in warrens), "both see them well again")
        time.sleep(WORK)
    _await(lambda: all(_all_are_well(w) for w in warrens), "all groups are well")
    return killed


@contextmanager
def _away(broker: EmbeddedKafka, *, is_dead: bool) -> Iterator[None]:
    _say(f"the broker {'is killed' if is_dead else 'hangs'} for {OUTAGE:g} s")
    if not is_dead:
        with broker.suspended():
            yield
        return
    broker.kill()
    yield
    broker.start()


def _kill(warren: RunningWarren, service: str) -> int:
    _say(f"kill {service}")
    pids = warren.pids(service)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it has just died by itself: that is told
            os.kill(pid, signal.SIGKILL)
    _await(lambda: warren.pids(service) not in ([], pids), f"the {service} runs again")
    return len(pids)


def _result(bootstrap: str, warren: RunningWarren, witness: Witness, killed: int) -> dict[str, Any]:
    changes = [value["data"] for value in values(bootstrap, f"{warren.topic_prefix}lag-status")]
    opened = {change["incident_id"] for change in changes if change["status"] not in ENDED}
    closed = {change["incident_id"] for change in changes if change["status"] in ENDED}
    for line in warren.restarts():
        print(line, file=sys.stderr)
    others = sorted({change["group"] for change in changes} - set(STOPPERS))
    return {
        "incidents": len(opened),
        "left_open": len(opened - closed),
        "kills": killed,
        "own_crashes": len(warren.restarts()) - killed,
        "looks": witness.looks,
        "green_but_unknown": len(witness.green),
        "others_told_of": others,
    }


def _stoppers_are(status: str, warren: RunningWarren) -> bool:
    statuses = warren.statuses()
    return all(statuses.get(name) == status for name in STOPPERS)


def _all_are_well(warren: RunningWarren) -> bool:
    statuses = set(warren.statuses().values())
    return "OK" in statuses and statuses <= {"OK", None}


def _leave_a_transaction_open(bootstrap: str) -> None:
    """Offsets were sent to it, then the client died."""
    command = [sys.executable, "-c", HANGING, bootstrap, f"{PREFIX}steady"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        assert client.stdout.readline().strip() == b"open"
        client.kill()


def _knows(warren: RunningWarren) -> bool:
    return STOPPERS[0] in warren.statuses()


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WITHIN
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"not within {WITHIN:g} s: {what}")
        time.sleep(1)
    _say(what)


def _say(what: str) -> None:
    print(time.strftime("%H:%M:%S"), what, file=sys.stderr)


if __name__ == "__main__":
    main()
