"""Statuses beside LinkedIn's Burrow: real consumers in many lives, both asked each second.

Warren judges by policy `burrow`, one with `evaluation.doubt` beside one without. New groups begin
in every round, so that most of what happens does so while windows fill. A poll is equal within so
many seconds where Warren said the same of that partition at a poll no further away (and half a
second, as nobody is asked more often than each second). Prints one JSON line, and on standard error
what was not equal within `--heartbeat`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread

import httpx
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from support.burrow_process import NAME, running_burrow
from support.consumer_lives import LIVES, PARTITIONS, RATE, Life, live
from support.measuring import kafka
from support.service_process import running_service
from warren_local.ports import free_port

TOPIC = "lives"
ROUND = 110.0  # seconds: the longest life, and some silence after it
SERVICES = ("collector", "evaluator", "api")
OK, UNKNOWN = "OK", "NOTFOUND"
Statuses = dict[tuple[str, int], str]  # of (group, partition)
Polls = list[tuple[float, Statuses]]


def main() -> None:
    arguments = _arguments()
    with kafka(arguments.bootstrap) as bootstrap, ExitStack() as closing:
        wanted = NewTopic(TOPIC, PARTITIONS, 1)
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([wanted])[TOPIC].result()
        closing.enter_context(_produced(bootstrap))
        # Burrow ends where there is no offsets topic yet.
        live(bootstrap, TOPIC, "first", Life((("reads", 1),)))
        port = free_port()
        refresh = max(round(arguments.heartbeat), 1)
        closing.enter_context(
            running_burrow(
                *(arguments.burrow, bootstrap, "__consumer_offsets", port),
                offset_refresh=refresh,
                expire_cache=1,
                min_distance=1,
            )
        )
        ports = {"burrow": port}
        for doubt in arguments.doubt:
            config = _settings(bootstrap, doubt, arguments)
            for name in SERVICES:
                service = closing.enter_context(running_service(name, config))
                path = "/burrow/admin/ready" if name == "api" else "/ready"
                service.until(partial(service.is_ready, path), f"the {name} is ready")
            ports[f"doubt = {doubt}"] = service.port
        polls: dict[str, Polls] = {name: [] for name in ports}
        for number in range(arguments.rounds):
            _play(bootstrap, number, ports, polls)
    said = {name: _compared(polls["burrow"], polls[name], arguments) for name in list(ports)[1:]}
    kinds = Counter(status for _, statuses in polls["burrow"] for status in statuses.values())
    result = {"benchmark": "burrow_statuses", "rounds": arguments.rounds, "statuses": kinds}
    print(json.dumps(result | said))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--burrow", type=Path, required=True, help="binary of LinkedIn's Burrow")
    parser.add_argument("--bootstrap", help="a running, empty cluster; default: an embedded broker")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--doubt", nargs="+", choices=["true", "false"], default=["true", "false"])
    parser.add_argument("--interval", type=float, default=1, help="collector.interval")
    parser.add_argument(
        "--heartbeat", type=float, default=1, help="collector.heartbeat, and offset-refresh"
    )
    return parser.parse_args()


def _settings(bootstrap: str, doubt: str, arguments: argparse.Namespace) -> str:
    return f"""
[home]
bootstrap = "{bootstrap}"
instance = "doubt-{doubt}"
[clusters.{NAME}]
bootstrap = "{bootstrap}"
[collector]
interval = {arguments.interval}
heartbeat = {arguments.heartbeat}
[evaluation]
policy = "burrow"
doubt = {doubt}
[evaluator]
data_dir = "evaluator"
"""


@contextmanager
def _produced(bootstrap: str) -> Iterator[None]:
    """`RATE` records a second in each partition, for as long as it is open."""
    producer, over = Producer({"bootstrap.servers": bootstrap}), Event()

    def produce() -> None:
        while not over.wait(0.25):
            for partition in range(PARTITIONS):
                for _ in range(RATE // 4):
                    producer.produce(TOPIC, b"x", partition=partition)
            producer.flush()

    thread = Thread(target=produce)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _play(
    bootstrap: str, number: int, ports: Mapping[str, int], polls: Mapping[str, Polls]
) -> None:
    groups = {f"{name}-{number}": life for name, life in LIVES.items()}
    print(f"round {number}", file=sys.stderr)
    until = time.monotonic() + ROUND
    with ThreadPoolExecutor(len(groups) + len(ports)) as pool:
        working = [pool.submit(live, bootstrap, TOPIC, *each) for each in groups.items()]
        asking = [
            pool.submit(_poll, port, list(groups), until, polls[name])
            for name, port in ports.items()
        ]
        for each in [*asking, *working]:
            each.result()


def _poll(port: int, groups: Sequence[str], until: float, polls: Polls) -> None:
    """Each second, until then."""
    base = f"http://127.0.0.1:{port}/v3/kafka/{NAME}/consumer"
    with httpx.Client(timeout=10) as client:
        while (started := time.monotonic()) < until:
            found: Statuses = {}
            for group in groups:
                found |= _statuses(group, client.get(f"{base}/{group}/lag"))
            polls.append(((started + time.monotonic()) / 2, found))
            time.sleep(max(started + 1 - time.monotonic(), 0))


def _statuses(group: str, answer: httpx.Response) -> Statuses:
    if answer.status_code == httpx.codes.NOT_FOUND:
        return dict.fromkeys(((group, partition) for partition in range(PARTITIONS)), UNKNOWN)
    listed = answer.json()["status"]["partitions"]
    judged = {(group, each["partition"]): each["status"] for each in listed}
    rest = dict.fromkeys(((group, partition) for partition in range(PARTITIONS)), OK)
    return rest | judged


def _compared(burrow: Polls, warren: Polls, arguments: argparse.Namespace) -> dict[str, object]:
    """Shares of polls that are equal, in percent, by seconds; polls of groups unknown to both are
    none.
    """
    spans = sorted({0.0, 1.0, arguments.heartbeat, 2 * arguments.heartbeat, 10.0})
    equal: Counter[float] = Counter()
    different: Counter[str] = Counter()
    count = 0
    for at, statuses in burrow:
        near = [(abs(at - then), said) for then, said in warren if abs(at - then) <= 11]
        if not near:
            continue
        nearest = min(distance for distance, _ in near)
        for key, status in statuses.items():
            same = min((far for far, said in near if said.get(key) == status), default=99.0)
            if status == UNKNOWN and same == nearest:
                continue
            count += 1
            for span in spans:
                equal[span] += same <= max(span + 0.5, nearest)
            if same > max(arguments.heartbeat + 0.5, nearest):
                said = min(near, key=lambda each: each[0])[1].get(key, UNKNOWN)
                different[f"{key[0].rpartition('-')[0]}/{key[1]}: {status}, Warren {said}"] += 1
    for what, times in different.most_common():
        print(f"{times:5} {what}", file=sys.stderr)
    shares = {f"{span:g} s": round(100 * equal[span] / max(count, 1), 2) for span in spans}
    return {"polls": count, "equal_within": shares}


if __name__ == "__main__":
    main()
