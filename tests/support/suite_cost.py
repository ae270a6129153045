"""A plugin of pytest: what the suite costs, as CPU seconds of each file and real things started.

Each process adds up `getrusage` of itself and of its ended children, and what the processes that
still run below it have used. The controller of the workers adopts orphans and counts them, too.
`make test` writes the sums to .warren/suite.json, which `make check` holds against the budgets.
"""

import contextlib
import ctypes
import json
import os
import resource
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import psutil
import pytest
from support.real_things import things_started

PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>: orphans below become children of this process
DEAREST = 10  # files that the summary names
SHARED = "support.shared_kafka"
REST = "collection, shared servers, orphans"


def used(*, shared: bool = False) -> float:
    """Return the CPU seconds of this process, of its ended children and of all that run below,
    without brokers that other workers use too where `shared` says that there are others.
    """
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    total = sum(usage.ru_utime + usage.ru_stime for usage in ended)
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if not shared or SHARED not in process.cmdline():
                below = process.children(recursive=True)
                # Of each, and of its ended children.
                total += sum(sum(each.cpu_times()[:4]) for each in (process, *below))
    return total


class SuiteCost:
    """`seconds`: CPU by file. `started`: processes by kind."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.started: Counter[str] = Counter()
        self._file = REST
        self._workers: set[int] = set()
        self._is_worker = hasattr(config, "workerinput")
        self._at = used(shared=self._is_worker)
        self._has_workers = not self._is_worker and bool(config.getoption("numprocesses", None))
        if self._has_workers:
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if (file := item.nodeid.partition("::")[0]) != self._file:
            self._charge(file)
        return (yield)

    def pytest_sessionfinish(self) -> None:
        if not self._has_workers:
            self._charge(REST)
            self.started += things_started()
        if self._is_worker:
            cost = {"seconds": dict(self.seconds), "started": dict(self.started)}
            self._config.workeroutput["cost"] = cost  # type: ignore[attr-defined]  # of xdist

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self) -> None:
        """Know the workers, who are execnet's to wait for, before a test leaves orphans."""
        if not self._workers:
            threading.Thread(target=self._wait_for_orphans, daemon=True).start()
        self._workers |= {process.pid for process in psutil.Process().children()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        cost = getattr(node, "workeroutput", {}).get("cost", {})
        for file, spent in cost.get("seconds", {}).items():
            self.seconds[file] += spent
        self.started.update(cost.get("started", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._has_workers:
            self.seconds[REST] += max(0.0, used() - sum(self.seconds.values()))
        dearest_first = sorted(self.seconds.items(), key=itemgetter(1), reverse=True)
        seconds = {name: round(spent, 1) for name, spent in dearest_first}
        total = round(sum(self.seconds.values()))
        if tier := os.environ.get("WARREN_TEST_TIER"):
            file = self._config.rootpath / ".warren/suite.json"
            file.parent.mkdir(exist_ok=True)
            suite = json.loads(file.read_text()) if file.exists() else {}
            suite[tier] = {"CPU seconds": total, "started": self.started, "files": seconds}
            file.write_text(json.dumps(suite, indent=1) + "\n")
        terminalreporter.section(f"{total} CPU seconds; the dearest files")
        for name, spent in list(seconds.items())[:DEAREST]:
            terminalreporter.line(f"{spent:8.1f}  {name}")
        started = ", ".join(f"{number} {kind}" for kind, number in sorted(self.started.items()))
        terminalreporter.line(f"started: {started or 'nothing'}")

    def _charge(self, file: str) -> None:
        now = used(shared=self._is_worker)
        self.seconds[self._file] += max(0.0, now - self._at)
        self._at, self._file = now, file

    def _wait_for_orphans(self) -> None:
        """An orphan that nobody waits for would stay a zombie, and tests would see it run."""
        with contextlib.suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT):
                if ended.si_pid in self._workers:
                    return  # the suite ends
                os.waitpid(ended.si_pid, 0)
