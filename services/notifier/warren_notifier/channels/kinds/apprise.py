"""Everything else: the services that the library Apprise knows, by their URLs there.

https://github.com/caronc/apprise. It blocks, so each attempt has a thread; one that does not come
back in time is left alone, and counts until it does. It connects by itself, so its threads are held
to the egress guard. It does not tell whether another attempt makes sense, so what it could not
deliver is tried again, unless the guard was the reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import html
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from pydantic import Field, SecretStr
from warren.clock import Clock
from warren.contracts import ChannelIdentity
from warren.redaction import Redaction
from warren.settings.notifier import ChannelSettings
from warren.words import shortened

from warren_notifier.channels.channel import (
    Channel,
    ChannelUnusable,
    Delivered,
    Kind,
    Refused,
    Result,
    Retry,
)
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.channels.note import fitting
from warren_notifier.state.telling import Delivery

if TYPE_CHECKING:
    import requests
    from apprise import NotifyBase

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


def _guarding() -> GuardedAttempt | None:
    """Of this thread."""
    return _guarded.get(threading.current_thread())


@cache
def _watch() -> None:
    """Once for the process; threads that are not guarded notice nothing."""
    import requests  # comes with the library that needs all this

    start, send = threading.Thread.start, requests.Session.send

    def start_guarded(self: threading.Thread) -> None:
        if (attempt := _guarding()) is not None:
            _guarded[self] = attempt
        start(self)

    def send_guarded(
        self: requests.Session, request: requests.PreparedRequest, **options: Any
    ) -> requests.Response:
        attempt = _guarding()
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
        if address is not None and (attempt := _guarding()) is not None:
            attempt.connecting(address)
    elif event in _RUNNING and (attempt := _guarding()) is not None:
        attempt.refuse(f"{event}: a program connects wherever it likes")


SEVERITIES = {"ERR": "failure", "WARN": "warning", "OK": "success", "NOTFOUND": "info"}
TITLE, BODY = 250, 4_000  # characters where a service takes more
TITLE_SHARE = 0.75  # of what a service takes that has no titles: an SMS has 160 characters
SECRET = 6  # characters; shorter parts of a URL are words
LEAST = 3  # abandoned attempts that a channel may have beside those that are under way
# What calls everybody in one chat or another, in the middle of a name.
_CALL = re.compile(r"@(?=everyone|here|channel|all|room)|<(?=[!@#&])", re.IGNORECASE)
_MARKS = re.compile(r"[\\`*_\[\]<>~|#]")
_PARTS = re.compile(r"[/:@?&=]+")
_WORD_JOINER = "\u2060"  # no width, and no call any more


class AppriseSettings(ChannelSettings):
    """What the library Apprise knows (extra `apprise`)."""

    type: Literal["apprise"] = Field(description="Kind of channel")
    url: SecretStr = Field(description="Apprise's URL of the service, such as `ntfys://topic`")


class AppriseChannel(Channel):
    """One URL. Raises ChannelUnusable where Apprise is missing, or does not know it."""

    tells_people = True

    def __init__(
        self, settings: AppriseSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        self.timeout = settings.timeout
        self.concurrency = settings.concurrency
        self._link_base = link_base
        self._guard = guard
        self._clock = clock
        url = settings.url.get_secret_value()
        self._service = _service(url)
        digest = hashlib.sha256(url.encode()).hexdigest()
        self.identity = ChannelIdentity(
            kind="apprise", place=url.partition("://")[0], digest=digest
        )
        # Apprise's URLs may have a token anywhere, also where others have a host.
        self._redact = Redaction(part for part in _PARTS.split(url) if len(part) >= SECRET)
        self._threads: set[threading.Thread] = set()

    async def send(self, delivery: Delivery) -> Result:
        self._threads = {thread for thread in self._threads if thread.is_alive()}
        if len(self._threads) >= self.concurrency + LEAST:
            return Retry(f"{len(self._threads)} attempts hang")
        text = incident_text(delivery, self._link_base, self._clock.now_ms())
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()

        def settle(result: Result) -> None:
            if not done.done():
                done.set_result(result)

        guarded = GuardedAttempt(self._guard)

        def attempt() -> None:
            result: Result = _attempt(self._service, text)
            result = replace(result, detail=self._redact(result.detail))
            if not isinstance(result, Delivered) and guarded.refused:
                result = Refused(guarded.refused)
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, result)

        thread = guarded.thread(attempt, "apprise")
        self._threads.add(thread)
        thread.start()
        return await done  # the worker's deadline ends the wait


def _service(url: str) -> NotifyBase:
    try:
        import apprise  # an extra, which few need
    except ModuleNotFoundError:
        raise ChannelUnusable(
            "type", "the library Apprise is missing: install warren-kafka[apprise]"
        ) from None
    asset = apprise.AppriseAsset(app_id="Warren", app_desc="Warren", async_mode=False)
    service = apprise.Apprise.instantiate(url, asset=asset)
    if service is None:
        raise ChannelUnusable("url", "Apprise knows no such URL")
    return service


def _attempt(service: NotifyBase, text: IncidentText) -> Result:
    said = _Said()
    with said.listening():
        try:
            taken = _notify(service, text)
        except Exception as error:  # noqa: BLE001  # of a hundred services' making
            return Retry(f"{type(error).__name__}: {error}", uncertain=True)
    return Delivered("taken") if taken else Retry(said.text or "not taken")


def _notify(service: NotifyBase, text: IncidentText) -> bool:
    """Calls the service itself: Apprise's own calls share threads, where one that hangs would hold
    up other channels.
    """
    from apprise import NotifyType

    shown = service.resolve_format("text").value  # what its URL asks for, or text if it shows that
    escape, titles = _ESCAPES.get(shown, str), service.title_maxlen
    title = _uncalled(text.title)
    if titles > 0:
        title = shortened(title, min(titles, TITLE))
    else:  # Apprise puts it before the body, with a line's end between
        most = int(service.body_maxlen * TITLE_SHARE)
        title = fitting(lambda long: escape(shortened(title, long)).encode(), most, TITLE).decode()
    acknowledge = f"Acknowledge: {text.acknowledge}" if text.acknowledge else ""
    whole = _uncalled("\n".join(filter(None, [text.sentences, acknowledge, text.link])))
    room = service.body_maxlen - len(title.encode()) - 2
    body = fitting(lambda longest: escape(shortened(whole, longest)).encode(), room, BODY)
    return service.notify(
        body=body.decode(),
        title=title,
        notify_type=NotifyType(SEVERITIES.get(text.status, "info")),
        body_format=shown,
    )


def _uncalled(text: str) -> str:
    return _CALL.sub(lambda call: call[0] + _WORD_JOINER, text)


# By Apprise's name for what a service shows; plain text is shown as it is.
_ESCAPES: dict[str, Callable[[str], str]] = {
    "html": lambda text: html.escape(text).replace("\n", "<br>\n"),
    "markdown": lambda text: _MARKS.sub(r"\\\g<0>", text),
}


class _Said(logging.Handler):
    """What Apprise logs of this thread's attempt."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread = threading.get_ident()
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        return "; ".join(self._lines)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        logger = logging.getLogger("apprise")
        logger.addHandler(self)
        try:
            yield
        finally:
            logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self._lines.append(record.getMessage())


KIND = Kind(AppriseSettings, AppriseChannel)
