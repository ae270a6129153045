"""What an idle demo takes: `warren up`, and in it passes of the archiver with nothing between them.

The first pass begins with the demo, the second one so many minutes later and has all that came
meanwhile. Each second CPU seconds and resident memory are read of the archiver's own process and of
those that it starts; CPU is what processes took, whoever else is at work. Prints one JSON line, and
on standard error each pass and each pause. Exit 1 beyond the goals: cores and memory of a JVM
between passes, CPU of a pass.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
from support.measuring import family, rss_mb, usage
from support.running_warren import RunningWarren, running_demo

MOST_CORES = 0.05
MOST_PASS_CPU_S = 60.0
LOOK_EVERY = 1.0
START_TIMEOUT = 180.0  # seconds


@dataclass(slots=True)
class Stretch:
    """A pass, or the time between two. CPU in seconds, memory in MB at most."""

    is_pass: bool
    seconds: float = 0.0
    jvm_cpu_s: float = 0.0
    python_cpu_s: float = 0.0
    jvm_rss_mb: float = 0.0
    python_rss_mb: float = 0.0

    @property
    def cpu_s(self) -> float:
        return self.jvm_cpu_s + self.python_cpu_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=6, help="between two passes")
    arguments = parser.parse_args()
    every = arguments.minutes * 60
    with (
        tempfile.TemporaryDirectory(prefix="warren-idle-") as directory,
        running_demo(Path(directory) / "state", archiver_every=every) as warren,
    ):
        _await_archiver(warren)
        stretches = []
        for stretch in _stretches(warren):
            stretches.append(stretch)
            print(json.dumps(_rounded(stretch)), file=sys.stderr, flush=True)
            if sum(each.is_pass for each in stretches) == 2:
                break
        lake = [path for path in (warren.state / "lake").rglob("*") if path.is_file()]
        log = (warren.state / "logs" / "archiver.log").read_text()
    between = max((s for s in stretches if not s.is_pass), key=lambda s: s.seconds)
    first, last = (s for s in stretches if s.is_pass)
    cores = between.cpu_s / between.seconds
    result = {
        "benchmark": "idle",
        "minutes": arguments.minutes,
        "first_pass": _rounded(first),
        "between": _rounded(between),
        "pass": _rounded(last),
        "cores_between": round(cores, 4),
        "jvm_mb_between": round(between.jvm_rss_mb),
        "pass_cpu_s": round(last.cpu_s, 1),
        "failed": log.count("a pass failed"),
        "files": len(lake),
    }
    print(json.dumps(result))
    beyond = cores > MOST_CORES or between.jvm_rss_mb > 0 or last.cpu_s > MOST_PASS_CPU_S
    sys.exit(1 if beyond or result["failed"] else 0)


def _await_archiver(warren: RunningWarren) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while not warren.pids("archiver"):
        if time.monotonic() > deadline:
            sys.exit(f"no archiver: {(warren.state / 'output.txt').read_text()[-2000:]}")
        time.sleep(0.5)


def _stretches(warren: RunningWarren) -> Iterator[Stretch]:
    """Each when it is over."""
    (archiver, *_) = warren.pids("archiver")
    taken: dict[int, float] = {}
    now, then = Stretch(is_pass=False), time.monotonic()
    running: list[int] = []
    while True:
        time.sleep(LOOK_EVERY)
        own = family(archiver)
        children = [child.pid for child in psutil.Process(archiver).children()]
        if children != running:  # on a slow machine the next pass follows at once
            yield now
            now, running = Stretch(bool(children)), children
        jvms = {pid for pid in own if _is_java(pid)}
        for pid in own:
            cpu_s = _cpu_s(pid)
            more = max(cpu_s - taken.get(pid, 0.0), 0.0)
            taken[pid] = max(cpu_s, taken.get(pid, 0.0))
            if pid in jvms:
                now.jvm_cpu_s += more
            else:
                now.python_cpu_s += more
        now.seconds += time.monotonic() - then
        then = time.monotonic()
        now.jvm_rss_mb = max(now.jvm_rss_mb, sum(map(rss_mb, jvms)))
        now.python_rss_mb = max(now.python_rss_mb, sum(map(rss_mb, own - jvms)))


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "java"
    except OSError:
        return False


def _cpu_s(pid: int) -> float:
    try:
        return usage(pid).cpu_s
    except (OSError, StopIteration):  # it has just ended
        return 0.0


def _rounded(stretch: Stretch) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(stretch).items()}


if __name__ == "__main__":
    main()
