"""Whether two releases work beside each other: upgrade under load, back, and upgrade again.

Groups commit all the time; one after the other stops for a while, so that incidents open and end
at known times. Collector, two evaluators, freshness, notifier and api run from wheels. Each pass
restarts them one by one as the other release, in another order each time.

The old release is the newest tag. Where that is today's version, or no tag exists, today's code is
the old release; the new one is a copy with another version, one more field in every object of every
contract, and more at the end of every state of the evaluator.
Prints one JSON line; exit 1 if an incident was lost, invented or told twice.
"""

import argparse
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from confluent_kafka import Producer
from support.commit_load import VALUE, group_name
from support.measuring import embedded_kafka, embedded_valkey
from support.receivers import Request, takes_all, webhook_receivers
from support.service_process import ServiceProcess, running_service
from support.steady_load import RECORDS, SteadyLoad
from support.topic_values import values
from warren.contracts import GroupIncidentEvent

ROOT = Path(__file__).parents[1]
SERVICES = ("collector", "evaluator", "evaluator 2", "freshness", "notifier", "api")
NEXT = "1.1.0"
BUMPS = (
    ("pyproject.toml", r'^version = ".*"', f'version = "{NEXT}"'),
    (
        "shared/warren/contracts/*.py",
        r"^    model_config = .*",
        r'\g<0>\n    new: str | None = "1"',
    ),
    ("shared/warren_core/*/*.py", r'"v": VERSION,', r'\g<0> "new": 1,'),
    (
        "shared/warren_core/judgement/state_codec.py",
        r"^        \*\(each.astype.*",
        r'\g<0> b"new",',
    ),
)
WARM_UP = 60.0  # seconds before the first group stops
LATEST = 30_000  # milliseconds after its end by which an incident may still be a stop's
WITHIN = 180.0  # seconds from the last stop's end to the last notification
WRONG = ("lost", "invented", "told_twice")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--pause", type=float, default=15, help="seconds between two restarts")
    parser.add_argument("--stop-every", type=float, default=10, help="seconds between two stops")
    parser.add_argument("--stopped", type=float, default=100, help="seconds that each stop lasts")
    parser.add_argument("--seed", type=int, default=1, help="of the orders of restarts")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whatever was started ends with us
    result = upgrade(arguments)
    print(json.dumps({"benchmark": "upgrade", **result}))
    sys.exit(1 if any(result[name] for name in WRONG) else 0)


def upgrade(arguments: argparse.Namespace) -> dict[str, Any]:
    chance = random.Random(arguments.seed)
    with ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="warren-bench-")))
        old, new = releases(folder)
        bootstrap = closing.enter_context(embedded_kafka()).bootstrap
        valkey = closing.enter_context(embedded_valkey())
        hook = closing.enter_context(webhook_receivers(hook=takes_all))["hook"]
        load = SteadyLoad(arguments.groups, topics=4, partitions=5, every=2)
        load.ensure(bootstrap)
        groups = InterruptedGroups(bootstrap, load, arguments.stop_every, arguments.stopped)
        closing.callback(groups.close)
        config = f"""
[home]
bootstrap = "{bootstrap}"
[clusters.bench]
bootstrap = "{bootstrap}"
offsets_topic = "{load.offsets_topic}"
[evaluator]
data_dir = "evaluator"
[redis]
url = "{valkey.url}"
[notifier]
allow_networks = ["127.0.0.0/8"]
[[notifier.routes]]
name = "all"
channels = ["hook"]
[notifier.channels.hook]
type = "webhook"
url = "{hook.url}"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""
        running = Services(config, closing)
        for name in SERVICES:
            running.restart(name, old)
        time.sleep(WARM_UP)
        groups.may_stop.set()
        for release in (new, old, new):
            for name in chance.sample(SERVICES, len(SERVICES)):
                running.restart(name, release)
                print(f"{name} is {release.version}, {len(groups.stops)} stops", file=sys.stderr)
                time.sleep(arguments.pause)
        groups.may_stop.clear()
        time.sleep(arguments.stopped)
        deadline = time.monotonic() + WITHIN
        while True:
            found = faults(groups.stops, values(bootstrap, "warren.incidents"), hook.requests)
            if not any(found[name] for name in WRONG) or time.monotonic() > deadline:
                break
            time.sleep(5)
        letters = Counter(one["reason"] for one in values(bootstrap, "warren.dead-letters"))
        return {
            "versions": [old.version, new.version],
            "restarts": running.restarts,
            "longest_restart_s": round(running.longest_s, 1),
            "stops": len(groups.stops),
            **found,
            "dead_letters": dict(letters.most_common(3)),
        }


class Release(NamedTuple):
    version: str
    path: Path


def releases(folder: Path) -> tuple[Release, Release]:
    """The old one and the new one, unpacked."""
    today = built(ROOT, folder)
    tags = _git("tag", "--list", "v*", "--sort=-v:refname").split()
    source = folder / "source"
    if tags and tags[0] != f"v{today.version}":
        _export(tags[0], source)
        return built(source, folder), today
    _export("HEAD", source)
    for pattern, old, new in BUMPS:
        for file in source.glob(pattern):
            file.write_text(re.sub(old, new, file.read_text(), flags=re.M))
    return today, built(source, folder)


def built(source: Path, folder: Path) -> Release:
    uv = Path(sys.executable).with_name("uv")
    options = ["--wheel", "--quiet", "--no-build-isolation", "--out-dir"]
    subprocess.run([uv, "build", *options, folder, source], check=True, stdout=sys.stderr)
    (wheel,) = (each for each in folder.glob("*.whl"))
    path = folder / wheel.stem
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(path)
    wheel.unlink()
    return Release(wheel.name.split("-")[1], path)


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def _export(revision: str, into: Path) -> None:
    file = into.with_suffix(".zip")
    _git("archive", f"--output={file}", revision)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(into)


class Services:
    """Each with the same settings, of one release or the other."""

    def __init__(self, config: str, closing: ExitStack) -> None:
        self.restarts = 0
        self.longest_s = 0.0
        self._config = config
        self._running = {name: closing.enter_context(ExitStack()) for name in SERVICES}

    def restart(self, name: str, release: Release) -> None:
        """Ends it as an operator does, starts the release, and waits until it is ready."""
        started = time.monotonic()
        self._running[name].close()
        service = self._running[name].enter_context(
            running_service(name.split()[0], self._config, release.path)
        )
        service.until(service.is_ready, f"the {name} is ready")
        _require(service, release)
        self.restarts += 1
        self.longest_s = max(self.longest_s, time.monotonic() - started)


def _require(service: ServiceProcess, release: Release) -> None:
    metrics = httpx.get(f"http://127.0.0.1:{service.port}/metrics", timeout=30).text
    if f'version="{release.version}"' not in metrics:
        sys.exit(f"this is not {release.version}:\n{service.log.read_text()[-2000:]}")


class Stop(NamedTuple):
    """Unix milliseconds."""

    group: str
    begin: int
    end: int


class InterruptedGroups:
    """Groups that commit all that is produced. While `may_stop` is set, the next one stops now and
    then, for `lasts` seconds.
    """

    def __init__(self, bootstrap: str, load: SteadyLoad, every: float, lasts: float) -> None:
        self.stops: list[Stop] = []
        self.may_stop = threading.Event()
        self._load = load
        self._every = every
        self._lasts = lasts
        options = {"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0}
        self._producer = Producer(options)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def close(self) -> None:
        self._end.set()
        self._thread.join()

    def _work(self) -> None:
        keys, each = self._load.keys(), self._load.partitions
        offset, stop_at = RECORDS, 0.0
        while not self._end.wait(self._load.every):
            for topic in self._load.data_topics:
                for partition in range(each):
                    self._producer.produce(topic, b"", partition=partition)
            self._producer.flush()
            offset += 1
            now = time.time()
            if self.may_stop.is_set() and now >= stop_at:
                stop_at = now + self._every
                group = group_name(len(self.stops) % self._load.groups)
                begin = round(now * 1000)
                self.stops.append(Stop(group, begin, begin + round(self._lasts * 1000)))
            value = VALUE.pack(3, offset, -1, 0, round(now * 1000))
            stopped = {one.group for one in self.stops if one.end > now * 1000}
            for number in range(self._load.groups):
                if group_name(number) not in stopped:
                    for partition, key in keys[number * each : (number + 1) * each]:
                        self._producer.produce(
                            self._load.offsets_topic, value, key, partition=partition
                        )
            self._producer.flush()


def faults(
    stops: Sequence[Stop], published: Sequence[dict[str, Any]], requests: Sequence[Request]
) -> dict[str, Any]:
    """Compares stops, incidents on the topic, and what the receiver got of them."""
    changes = defaultdict[str, dict[str, dict[str, Any]]](dict)
    for one in published:
        changes[one["data"]["incident_id"]][one["id"]] = one["data"]
    sent = [GroupIncidentEvent.from_bytes(one.body) for one in requests]
    counts = Counter(one.id for one in sent)
    openings = Counter(
        one.data.incident_id for one in sent if one.data.is_open and one.data.previous == "OK"
    )
    ends = Counter(one.data.incident_id for one in sent if not one.data.is_open)
    lost, invented, twice = [], [], [id_ for id_, times in counts.items() if times > 1]
    unexplained = dict(changes)
    for stop in stops:
        own = [i for i, each in unexplained.items() if _is_of(stop, next(iter(each.values())))]
        if not own:
            lost.append(f"{stop.group} has no incident")
            continue
        id_ = own[0]
        newest = max(unexplained.pop(id_).values(), key=lambda data: int(data["revision"]))
        if newest.get("closed_at") is None:
            lost.append(f"the end of {id_} of {stop.group}")
        for what, counted in (("opening", openings), ("end", ends)):
            if counted[id_] != 1:
                (twice if counted[id_] else lost).append(f"notified {what} of {id_}: {stop.group}")
    invented += [f"{id_} of {_group(each)}" for id_, each in unexplained.items()]
    invented += [f"{id_} notified" for id_ in openings if id_ not in changes]
    for name, found in zip(WRONG, (lost, invented, twice), strict=True):
        print(name, *found, sep="\n  ", file=sys.stderr)
    return {
        "incidents": len(changes),
        "notifications": len(sent),
        **dict(zip(WRONG, map(len, (lost, invented, twice)), strict=True)),
    }


def _group(changes: dict[str, dict[str, Any]]) -> str:
    return next(f"{each['group']} {each['opened_at']}" for each in changes.values())


def _is_of(stop: Stop, incident: dict[str, Any]) -> bool:
    opened = int(incident["opened_at"])
    return incident["group"] == stop.group and stop.begin - LATEST < opened < stop.end + LATEST


if __name__ == "__main__":
    main()
