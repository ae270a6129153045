"""What an idle demo takes: `warren up` for ten minutes, and in it the archiver.

Every 30 s CPU seconds, resident memory and files of the lake are read: of the archiver's JVM, of
the Python beside it, of the other services. CPU is what processes took, whoever else is at work.
Prints one JSON line with minutes 5 and 10, and on standard error each sample. Exit 1 beyond the
goals: the JVM's cores from minute 5 to 10, its memory, and how many files there are by then.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from support.measuring import family, reaped_cpu_s, rss_mb, usage
from support.running_warren import RunningWarren, running_demo

MOST_CORES = 0.10
MOST_RSS_MB = 900
MOST_GROWTH = 1.3
"""Files at the end, by those at half time."""
START_TIMEOUT = 180.0  # seconds


@dataclass(frozen=True, slots=True)
class Sample:
    """CPU in seconds since the processes began, memory in MB."""

    minute: float
    jvm_cpu_s: float
    jvm_rss_mb: float
    python_cpu_s: float
    """Of the archiver itself and of the workers of Spark."""
    python_rss_mb: float
    others_cpu_s: float
    """All else that `warren up` runs, brokers and demo included."""
    files: int
    parquet_files: int


def main() -> None:
    arguments = _arguments()
    with (
        tempfile.TemporaryDirectory(prefix="warren-idle-") as directory,
        running_demo(Path(directory) / "state") as warren,
    ):
        _await_archiver(warren)
        samples = _samples(warren, arguments.minutes * 60, arguments.every)
    half, last = _at(samples, arguments.minutes / 2), samples[-1]
    seconds = (last.minute - half.minute) * 60
    cores = (last.jvm_cpu_s - half.jvm_cpu_s) / seconds
    all_cores = cores + (last.python_cpu_s - half.python_cpu_s) / seconds
    growth = last.files / half.files
    jvm_rss_mb = max(sample.jvm_rss_mb for sample in samples)
    result = {
        "benchmark": "idle",
        "half": _rounded(half),
        "end": _rounded(last),
        "jvm_cores": round(cores, 3),
        "jvm_and_python_cores": round(all_cores, 3),
        "jvm_rss_mb": round(jvm_rss_mb),
        "files_growth": round(growth, 2),
    }
    print(json.dumps(result))
    beyond = cores > MOST_CORES or jvm_rss_mb > MOST_RSS_MB or growth > MOST_GROWTH
    sys.exit(1 if beyond else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="after the archiver has begun")
    parser.add_argument("--every", type=float, default=30, help="seconds between samples")
    return parser.parse_args()


def _await_archiver(warren: RunningWarren) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while not warren.pids("archiver"):
        if time.monotonic() > deadline:
            sys.exit(f"no archiver: {(warren.state / 'output.txt').read_text()[-2000:]}")
        time.sleep(0.5)


def _samples(warren: RunningWarren, seconds: float, every: float) -> list[Sample]:
    start, found = time.monotonic(), []
    python_cpu_s: dict[int, float] = {}
    for number in range(round(seconds / every) + 1):
        time.sleep(max(0.0, start + number * every - time.monotonic()))
        found.append(_sample(warren, (time.monotonic() - start) / 60, python_cpu_s))
        print(json.dumps(_rounded(found[-1])), file=sys.stderr, flush=True)
    return found


def _sample(warren: RunningWarren, minute: float, python_cpu_s: dict[int, float]) -> Sample:
    """`python_cpu_s`: by process, also of those that have ended: Spark's workers come and go."""
    (archiver, *_) = warren.pids("archiver")
    own = family(archiver)
    jvms = {pid for pid in own if _is_java(pid)}
    others = family(warren.pid) - own
    for pid in own - jvms:
        python_cpu_s[pid] = max(_cpu_s(pid), python_cpu_s.get(pid, 0.0))
    lake = [path for path in (warren.state / "lake").rglob("*") if path.is_file()]
    return Sample(
        minute,
        sum(map(_cpu_s, jvms)),
        sum(map(rss_mb, jvms)),
        sum(python_cpu_s.values()),
        sum(map(rss_mb, own - jvms)),
        sum(_cpu_s(pid) + reaped_cpu_s(pid) for pid in others),
        len(lake),
        sum(path.suffix == ".parquet" for path in lake),
    )


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


def _at(samples: list[Sample], minute: float) -> Sample:
    return min(samples, key=lambda sample: abs(sample.minute - minute))


def _rounded(sample: Sample) -> dict[str, float]:
    return {name: round(value, 1) for name, value in asdict(sample).items()}


if __name__ == "__main__":
    main()
