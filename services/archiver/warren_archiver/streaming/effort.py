"""How much Spark's processes have worked: a plan that takes minutes on a slow machine ends no task,
and is no standstill.
"""

from __future__ import annotations

import os
from pathlib import Path

from warren_archiver.submitted import is_submitted

STEP_S = 3.0
"""So many CPU seconds are some work: a JVM that waits takes one in a minute or two, for itself."""
_PROC = Path("/proc")


def effort() -> int:
    """Another number whenever Spark's JVM, or Python's workers, have worked; always 0 where a
    system does not say it (no /proc)."""
    # Under spark-submit the JVM has started this process.
    roots = {os.getppid()} if is_submitted(os.environ) else _children(os.getpid())
    return int(sum(map(cpu_seconds, roots)) / STEP_S)


def cpu_seconds(pid: int) -> float:
    """Of a process and all that it has started; 0 when it has ended."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        own = sum(map(int, fields[11:15]))  # its own, and of those that have ended
    except OSError:
        return 0.0
    others = sum(map(cpu_seconds, _children(pid) - {os.getpid()}))
    return own / os.sysconf("SC_CLK_TCK") + others


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for thread in (_PROC / str(pid) / "task").glob("*/children"):
        try:
            found.update(map(int, thread.read_text().split()))
        except OSError:  # the thread has ended
            continue
    return found
