"""What arrived at the embedded mailbox and webhook receiver: kept, written as JSON Lines, shown."""

import json
import os
import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from warren.files import append_private
from warren.service import stop_by_signal

from warren_local.server import HOST, StartRefused

Arrival = Mapping[str, Any]


class Arrivals:
    """Notes arrivals from any thread: in memory, at the end of `file`, and to `tell`."""

    def __init__(
        self, file: Path | None = None, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        self._file = file
        self._tell = tell
        self._lock = threading.Lock()
        self._arrivals: list[Arrival] = []

    def note(self, arrival: Arrival) -> None:
        """On disk when this returns: a receiver acknowledges afterwards."""
        with self._lock:
            if self._file is not None:
                with os.fdopen(append_private(self._file), "a", encoding="utf-8") as lines:
                    lines.write(json.dumps(arrival, ensure_ascii=False) + "\n")
            self._arrivals.append(arrival)
        self._tell(headline(arrival))

    @property
    def all(self) -> list[Arrival]:
        """Oldest first."""
        with self._lock:
            return list(self._arrivals)


class ArrivalsFollower:
    """Reads what another process's `Arrivals` wrote, once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0

    def new_headlines(self) -> list[str]:
        """One line for people for each arrival since the last call; none before the file exists."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._position)
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]  # a line that is being written comes next time
        self._position += len(whole)
        return [headline(json.loads(line)) for line in whole.splitlines()]


def headline(arrival: Arrival) -> str:
    """One line for people."""
    if "subject" in arrival:
        return f"mail to {arrival['to']}: {arrival['subject']}"
    event = arrival.get("event")
    data = event.get("data", {}) if isinstance(event, Mapping) else {}
    seal = "signature verified" if arrival["verified"] else f"refused: {arrival['problem']}"
    if not data:
        return f"webhook, {seal}"
    change = f"{data['previous']} to {data['status']}"
    return f"webhook, {seal}: {data['group']} on {data['cluster']} went from {change}"


def serve(
    parser: ArgumentParser,
    port: int,
    server: Callable[[Namespace, Arrivals], AbstractContextManager[object]],
) -> None:
    """Run a receiver as a program until a signal ends it; exit code 1 when its port is taken.

    `parser` knows what is the receiver's own, `port` is its usual one.
    """
    parser.add_argument("--port", type=int, default=port)
    parser.add_argument("--host", default=HOST, help="address to listen on")
    parser.add_argument("--out", type=Path, metavar="FILE", help="append what comes as JSON Lines")
    options = parser.parse_args()
    stop = threading.Event()
    stop_by_signal(stop.set)
    arrivals = Arrivals(options.out, lambda line: print(line, flush=True))
    try:
        with server(options, arrivals):
            stop.wait()
    except StartRefused as problem:
        sys.exit(str(problem))


def taken(what: str, host: str, port: int, error: OSError) -> StartRefused:
    """What a receiver says that cannot listen."""
    return StartRefused(
        f"the {what} cannot listen on {host}:{port}: {error.strerror}; "
        "choose another port with --port"
    )
