"""Processes of an earlier run that was killed before it could stop them.

On Linux the kernel ends them together with their parent; elsewhere this has to.
"""

from __future__ import annotations

import psutil

from warren_local.run_file import RunFile, RunState

GRACE = 5.0  # seconds between SIGTERM and SIGKILL
SAME_BIRTH = 2.0  # seconds by which a start time may move when the clock is corrected


def stop_leftovers(file: RunFile) -> list[str]:
    """Stop what the run file names and still lives; returns the names of those services.

    A process is ours only when id and start time are those that were written down: the id alone
    may meanwhile belong to anybody.
    """
    state = file.read()
    if state is None:
        return []
    alive = _alive(state)
    processes = [process for _, process in alive]
    for process in processes:
        process.terminate()
    _, stubborn = psutil.wait_procs(processes, timeout=GRACE)
    for process in stubborn:
        process.kill()
    psutil.wait_procs(stubborn, timeout=GRACE)
    file.remove()
    return [name for name, _ in alive]


def _alive(state: RunState) -> list[tuple[str, psutil.Process]]:
    return [
        (name, process)
        for name, pids in state.pids.items()
        for pid in pids
        if (process := _ours(pid, state.born.get(str(pid)))) is not None
    ]


def _ours(pid: int, born: float | None) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        runs = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    same = born is not None and abs(process.create_time() - born) < SAME_BIRTH
    return process if runs and same else None
