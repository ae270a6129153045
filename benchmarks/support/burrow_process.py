"""LinkedIn's Burrow on the same topic, for comparison: a binary that the user has."""

import json
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.commit_load import CommitLoad
from support.measuring import Usage, usage

NAME = "bench"
# Burrow shows its own reading of the offsets topic as a group of this name.
OWN_GROUP = f"burrow-{NAME}"
TIMEOUT = 900.0  # seconds
OFFSET_REFRESH = 10  # seconds; Burrow's own default
EXPIRE_CACHE = 10  # seconds that it keeps a status; likewise


@dataclass(frozen=True, slots=True)
class BurrowRun:
    """Seconds until everything was read and what that took.

    `stale_positions` do not hold their newest commit: Burrow drops what its storage cannot take
    within a second.
    """

    elapsed_s: float
    usage: Usage
    stale_positions: int


def run_burrow(
    binary: Path, bootstrap: str, load: CommitLoad, ends: list[int], port: int
) -> BurrowRun:
    """Runs Burrow until it has read all of the topic. Raises SystemExit when it does not."""
    started = time.monotonic()
    with running_burrow(binary, bootstrap, load.topic, port, from_beginning=True) as pid:
        while not _has_read(port, load.topic, ends):
            if time.monotonic() - started > TIMEOUT:
                raise SystemExit(f"Burrow did not finish within {TIMEOUT:g} s")
            time.sleep(0.1)
        elapsed, used = time.monotonic() - started, usage(pid)
        return BurrowRun(elapsed, used, _settled_stale_positions(port, load))


@contextmanager
def running_burrow(
    binary: Path,
    bootstrap: str,
    topic: str,
    port: int,
    *,
    from_beginning: bool = False,
    offset_refresh: int = 600,
    expire_cache: int = EXPIRE_CACHE,
    min_distance: int = 0,
) -> Iterator[int]:
    """Its process id. Raises SystemExit when it has ended by itself meanwhile."""
    with tempfile.TemporaryDirectory(prefix="warren-bench-burrow-") as directory:
        config = _config(
            *(bootstrap, topic, directory, port, from_beginning, offset_refresh),
            *(expire_cache, min_distance),
        )
        (Path(directory) / "burrow.toml").write_text(config)
        output = Path(directory) / "output"
        with output.open("wb") as log:
            burrow = subprocess.Popen(
                [str(binary), "--config-dir", directory], stdout=log, stderr=subprocess.STDOUT
            )
            try:
                yield burrow.pid
                if burrow.poll() is not None:
                    raise SystemExit(f"Burrow ended:\n{output.read_text()[-2000:]}")
            finally:
                burrow.send_signal(signal.SIGTERM)
                burrow.wait()


def _config(
    bootstrap: str,
    topic: str,
    directory: str,
    port: int,
    from_beginning: bool,
    offset_refresh: int,
    expire_cache: int,
    min_distance: int,
) -> str:
    servers = json.dumps(bootstrap.split(","))
    return f"""
[general]
pidfile = "{directory}/burrow.pid"
[logging]
filename = "{directory}/burrow.log"
level = "error"
[client-profile.bench]
client-id = "burrow-bench"
kafka-version = "2.0.0"
[cluster.{NAME}]
class-name = "kafka"
servers = {servers}
client-profile = "bench"
topic-refresh = 600
offset-refresh = {offset_refresh}
[consumer.{NAME}]
class-name = "kafka"
cluster = "{NAME}"
servers = {servers}
client-profile = "bench"
offsets-topic = "{topic}"
start-latest = {str(not from_beginning).lower()}
[httpserver.default]
address = "127.0.0.1:{port}"
[evaluator.default]
class-name = "caching"
expire-cache = {expire_cache}
[storage.default]
class-name = "inmemory"
workers = 20
intervals = 10
min-distance = {min_distance}
"""


def _settled_stale_positions(port: int, load: CommitLoad) -> int:
    """Once they do not get fewer any more."""
    stale, before = _stale_positions(port, load), -1
    while stale and stale != before:
        time.sleep(1)
        stale, before = _stale_positions(port, load), stale
    return stale


def _stale_positions(port: int, load: CommitLoad) -> int:
    stale = 0
    for group, newest in load.newest().items():
        read = _newest_offsets(port, group)
        stale += sum(read.get(partition) != offset for partition, offset in newest.items())
    return stale


def _has_read(port: int, topic: str, ends: list[int]) -> bool:
    read = _newest_offsets(port, OWN_GROUP, topic)
    return all(read.get(partition) == end for partition, end in enumerate(ends) if end)


def _newest_offsets(port: int, group: str, topic: str | None = None) -> dict[int, int]:
    """By partition; of a group that has one topic, or of the one named."""
    answer = _get(f"http://127.0.0.1:{port}/v3/kafka/{NAME}/consumer/{group}/lag")
    partitions = [] if answer is None else answer["status"]["partitions"]
    return {
        entry["partition"]: (entry.get("end") or {}).get("offset", -1)
        for entry in partitions
        if topic in (None, entry["topic"])
    }


def _get(url: str) -> dict[str, Any] | None:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except (OSError, urllib.error.URLError):
        return None
