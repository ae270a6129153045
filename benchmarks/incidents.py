"""Whether incidents survive: 300 of three kinds, while evaluators are killed and the broker stops.

Two evaluators judge scripted events of 100 groups: each group stops once, is late once and comes
close to losing records, one after the other. Meanwhile evaluators are killed at work, amid recovery
and right after they were frozen and go on, and the broker hangs twice. Prints one JSON line; exit 1
unless every incident was opened and closed once, under one id, and no other was told.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from typing import Any, NamedTuple

from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Partition
from support.incident_script import CLUSTER, KINDS, LOOKS, STEP_MS, ScriptedTrouble
from support.measuring import embedded_kafka
from support.service_process import ServiceProcess, running_service
from support.topic_values import values
from warren.contracts import group_key
from warren_local.kafka import EmbeddedKafka

PARTITIONS = 8
WORKERS = 2
FROZEN = 20.0  # seconds: longer than the others wait for a member
WITHIN = 300.0  # seconds for what is left at the end
CONFIG = """
[home]
bootstrap = "{bootstrap}"
partitions = {partitions}

[[objectives]]
name = "on-time"
max_freshness = 300
"""


class Worker:
    """One of the evaluators: lives until it is killed, and then again."""

    def __init__(self, bootstrap: str) -> None:
        self._config = CONFIG.format(bootstrap=bootstrap, partitions=PARTITIONS)
        self._life = ExitStack()
        self.process = self._begin()

    def _begin(self) -> ServiceProcess:
        return self._life.enter_context(running_service("evaluator", self._config))

    def await_ready(self) -> None:
        self.process.until(self.process.is_ready, "the evaluator is ready")

    def kill(self) -> None:
        """And starts it again."""
        os.kill(self.process.pid, signal.SIGKILL)
        self._life.close()
        self.process = self._begin()

    def close(self) -> None:
        self._life.close()


class Kills:
    """One after the other: at work, amid recovery, and after it was frozen."""

    def __init__(self, workers: list[Worker], seed: int) -> None:
        self._workers = cycle(workers)
        self._kinds = cycle((self._at_work, self._amid_recovery, self._after_frost))
        self._random = random.Random(seed)
        self.done: defaultdict[str, int] = defaultdict(int)

    def one(self) -> None:
        next(self._kinds)(next(self._workers))

    def _at_work(self, worker: Worker) -> None:
        worker.kill()
        self.done["at_work"] += 1

    def _amid_recovery(self, worker: Worker) -> None:
        worker.kill()
        time.sleep(self._random.uniform(1, 5))  # it reads its tables, or is about to
        worker.kill()
        self.done["amid_recovery"] += 1

    def _after_frost(self, worker: Worker) -> None:
        os.kill(worker.process.pid, signal.SIGSTOP)
        time.sleep(FROZEN)
        os.kill(worker.process.pid, signal.SIGCONT)
        time.sleep(self._random.uniform(0, 0.2))
        worker.kill()
        self.done["after_frost"] += 1


class Told(NamedTuple):
    """What is on the topic, by kind and group: the incidents in the order of their events."""

    opened: dict[tuple[str, str], list[str]]
    closed: dict[tuple[str, str], list[str]]
    repeated: int  # events that came more than once, under the same id


def main() -> None:
    arguments = _arguments()
    with ExitStack() as closing:
        broker = closing.enter_context(embedded_kafka())
        workers = [Worker(broker.bootstrap) for _ in range(WORKERS)]
        for worker in workers:
            closing.callback(worker.close)
        for worker in workers:
            worker.await_ready()
        kills = Kills(workers, arguments.seed)
        started = time.monotonic()
        _play(broker, kills, arguments)
        for worker in workers:
            worker.await_ready()
        told = _at_last(broker.bootstrap, arguments.groups)
        result = _result(told, arguments.groups) | {
            "kills": dict(kills.done),
            "outages_s": [arguments.outage] * 2,
            "seconds": round(time.monotonic() - started),
        }
    print(json.dumps(result))
    sys.exit(1 if result["lost"] or result["invented"] or result["left_open"] else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=100, help="each has three incidents")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--outage", type=float, default=60, help="seconds, twice")
    parser.add_argument("--pace", type=float, default=1, help="seconds for five of the script's")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _play(broker: EmbeddedKafka, kills: Kills, arguments: argparse.Namespace) -> None:
    """All looks, at their pace; what happens between two of them delays those that follow."""
    start = int(time.time() * 1000) - 2 * LOOKS * STEP_MS
    troubles = [ScriptedTrouble(n, arguments.groups, start) for n in range(arguments.groups)]
    producer = Producer({"bootstrap.servers": broker.bootstrap, "partitioner": "murmur2_random"})
    killing = {LOOKS * (n + 1) // (arguments.kills + 1) for n in range(arguments.kills)}
    outages = {LOOKS // 3, 2 * LOOKS // 3}
    for look in range(LOOKS):
        begun = time.monotonic()
        for trouble in troubles:
            key = group_key(CLUSTER, trouble.name)
            producer.produce("warren.offsets", trouble.offsets(look).to_bytes(), key)
            producer.produce("warren.freshness", trouble.freshness(look).to_bytes(), key)
        assert producer.flush(120) == 0
        if look in killing:
            _say(f"look {look} of {LOOKS}: kill")
            kills.one()
        if look in outages:
            _say(f"look {look}: the broker hangs for {arguments.outage:g} s")
            with broker.suspended():
                time.sleep(arguments.outage)
        time.sleep(max(begun + arguments.pace - time.monotonic(), 0))


def _at_last(bootstrap: str, groups: int) -> Told:
    """When all that was published is judged, and all is closed or has had the time to be."""
    deadline = time.monotonic() + WITHIN
    while True:
        is_over = _is_judged(bootstrap)  # before what it led to is read
        told = _told(bootstrap)
        if is_over and sum(map(len, told.closed.values())) >= len(KINDS) * groups:
            return told
        if time.monotonic() > deadline:
            return told
        time.sleep(2)


def _is_judged(bootstrap: str) -> bool:
    options = {"bootstrap.servers": bootstrap, "group.id": "warren-evaluator"}
    consumer = Consumer({**options, "enable.auto.commit": False, "log_level": 0})
    topics = ("warren.offsets", "warren.freshness")
    places = [Partition(topic, number) for topic in topics for number in range(PARTITIONS)]
    committed = consumer.committed(places, timeout=30)
    ends = [consumer.get_watermark_offsets(place, timeout=30)[1] for place in places]
    consumer.close()
    return all(at.offset >= end or end == 0 for at, end in zip(committed, ends, strict=True))


def _told(bootstrap: str) -> Told:
    seen: set[str] = set()
    opened: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    closed: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    repeated = 0
    for event in values(bootstrap, "warren.lag-status"):
        if event["id"] in seen:
            repeated += 1
            continue
        seen.add(event["id"])
        data = event["data"]
        into = closed if data["status"] == "OK" else opened
        incidents = into[event["type"], data["group"]]
        if data["incident_id"] not in incidents:  # it may get worse while it is open
            incidents.append(data["incident_id"])
    return Told(opened, closed, repeated)


def _result(told: Told, groups: int) -> dict[str, Any]:
    expected = set(_expected(groups))
    opened = [(place, one) for place, ids in told.opened.items() for one in ids]
    closed = {(place, one) for place, ids in told.closed.items() for one in ids}
    return {
        "benchmark": "incidents",
        "incidents": {kind: sum(p[0] == kind for p, _ in opened) for kind in KINDS},
        "lost": len(expected - told.opened.keys()),
        "invented": len(opened) - len(expected & told.opened.keys()) + len(closed - set(opened)),
        "left_open": len(set(opened) - closed),
        "repeated_events": told.repeated,
    }


def _expected(groups: int) -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        for number in range(groups):
            yield kind, ScriptedTrouble(number, groups, 0).name


def _say(what: str) -> None:
    print(time.strftime("%H:%M:%S"), what, file=sys.stderr)


if __name__ == "__main__":
    main()
