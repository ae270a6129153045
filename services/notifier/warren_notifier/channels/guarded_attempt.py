"""A call of a library that connects by itself, in threads that are held to the egress guard.

The interpreter tells an audit hook of each connection before it is made, whatever library makes it,
with the address itself: nothing is looked up again. What it does not tell the address of, a host
that C resolves or another program, is refused.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from warren_notifier.channels.egress import EgressGuard

if TYPE_CHECKING:
    import requests

# Events of https://docs.python.org/3/library/audit_events.html
_CONNECTING = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg"))
_RUNNING = frozenset(
    (
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    )
)


class GuardedAttempt:
    """One call. Its threads, and those that they start, are guarded."""

    def __init__(self, guard: EgressGuard) -> None:
        self._guard = guard
        self._problems: dict[str, None] = {}
        self._was_redirected = False
        self._has_connected = False

    @property
    def refused(self) -> str:
        """Why another attempt would end in the same way; empty where it may not."""
        if self._has_connected and not self._was_redirected:
            return ""
        return "; ".join(self._problems)

    def thread(self, target: Callable[[], None], name: str) -> threading.Thread:
        """A daemon, not started yet."""
        _watch()
        made = threading.Thread(target=target, name=name, daemon=True)
        _guarded[made] = self
        return made

    def connecting(self, address: object) -> None:
        """Raises PermissionError, which libraries take for a connection that failed."""
        host = str(address[0]) if isinstance(address, tuple) and address else str(address)
        try:
            permitted = self._guard.permits(ip_address(host))
        except ValueError:
            self.refuse(f"{host} is no IP address, and what it leads to cannot be checked")
        if not permitted:
            self.refuse(f"{host} is not public and not in notifier.allow_networks")
        self._has_connected = True

    def refuse(self, problem: str) -> None:
        """Raises PermissionError."""
        self._problems[problem] = None
        raise PermissionError(problem)

    def answered(self, response: requests.Response) -> None:
        """Notes a redirect: it would be the same the next time."""
        if response.is_redirect:
            self._was_redirected = True
            self._problems[f"HTTP {response.status_code}: redirects are not followed"] = None


_guarded: WeakKeyDictionary[threading.Thread, GuardedAttempt] = WeakKeyDictionary()


def _attempt() -> GuardedAttempt | None:
    """Of this thread."""
    return _guarded.get(threading.current_thread())


@cache
def _watch() -> None:
    """Once for the process; threads that are not guarded notice nothing."""
    import requests  # comes with the library that needs all this

    start, send = threading.Thread.start, requests.Session.send

    def start_guarded(self: threading.Thread) -> None:
        if (attempt := _attempt()) is not None:
            _guarded[self] = attempt
        start(self)

    def send_guarded(
        self: requests.Session, request: requests.PreparedRequest, **options: Any
    ) -> requests.Response:
        attempt = _attempt()
        if attempt is None:
            return send(self, request, **options)
        # A proxy would look the host up itself, and connect to whatever it finds.
        response = send(self, request, **{**options, "allow_redirects": False, "proxies": {}})
        attempt.answered(response)
        return response

    threading.Thread.start = start_guarded  # type: ignore[method-assign]
    requests.Session.send = send_guarded  # type: ignore[method-assign]
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _CONNECTING:
        address = arguments[1]
        if address is not None and (attempt := _attempt()) is not None:
            attempt.connecting(address)
    elif event in _RUNNING and (attempt := _attempt()) is not None:
        attempt.refuse(f"{event}: a program connects wherever it likes")
