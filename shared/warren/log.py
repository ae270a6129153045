"""Logs: structlog on standard error, JSON for machines or console lines for people."""

import logging
import os
import sys
from collections.abc import Iterable

import structlog
from structlog.typing import Processor

from warren.clock import Clock, SystemClock
from warren.redaction import Redaction
from warren.service_links import service_links
from warren.settings import LogSettings
from warren.words import visible

NOISY = ("aiokafka", "faust", "kafka", "kazoo", "mode", "httpx", "asyncio")

SELDOM = frozenset(
    (
        "a last figure cannot be read",
        "event refused",
        "event refused, dead-lettered",
        "record refused",
        "state refused",
        "token refused",
    )
)
"""Lines that a stranger can cause, as many as he likes."""
SELDOM_SECONDS = 60.0

OWN = frozenset(
    (
        "channel",
        "cluster",
        "delivery_id",
        "group",
        "kind",
        "level",
        "route",
        "service",
        "setting",
        "timestamp",
        "topic",
    )
)
"""Keys of names that Warren itself writes: a channel may be called as a part of its secret URL."""


def _shared_processors(service: str) -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        _name_service(service),
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _renderer(settings: LogSettings) -> list[Processor]:
    terminal = sys.stderr.isatty()
    if settings.format == "console" or (settings.format == "auto" and terminal):
        # Rich tracebacks would show local variables, and with them passwords.
        plain = structlog.dev.plain_traceback
        console = structlog.dev.ConsoleRenderer(colors=terminal, exception_formatter=plain)
        return [_made_visible, console]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]


def configure(
    settings: LogSettings,
    service: str = "",
    quiet: Iterable[str] = NOISY,
    redaction: Redaction | None = None,
    clock: Clock | None = None,
) -> logging.Handler:
    """Sends structlog's and the standard library's records to one handler on standard error.

    Libraries in `quiet` are heard from WARNING on, unless the level is debug. Every line passes
    `redaction`, those of libraries and tracebacks too, but for what OWN names. A service's
    first line names the variables that Kubernetes has put beside the settings, if any.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            Seldom(clock or SystemClock()),
            *_shared_processors(service),
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_shared_processors(service)],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *([structlog.processors.format_exc_info] if redaction else []),
                *([_redacted(redaction)] if redaction else []),
                *_renderer(settings),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    for name in quiet:
        level = logging.DEBUG if settings.level == "debug" else logging.WARNING
        logging.getLogger(name).setLevel(level)
    if settings.level == "debug":
        logging.getLogger("librdkafka").setLevel(logging.DEBUG)
    if service and (links := service_links(os.environ)):
        structlog.get_logger(__name__).info(
            "service links of Kubernetes ignored: they are no settings", variables=links
        )
    return handler


class Seldom:
    """Of each line in SELDOM one a minute passes, the first at once. `unlogged`, in the line: how
    many had none since the one before. Metrics count them all.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[float, int]] = {}  # when it passed, how many have not since

    def __call__(
        self, _: object, __: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        line = event["event"]
        if line not in SELDOM:
            return event
        now, (last, unlogged) = self._clock.monotonic(), self._seen.get(line, (-SELDOM_SECONDS, 0))
        if now - last < SELDOM_SECONDS:
            self._seen[line] = last, unlogged + 1
            raise structlog.DropEvent
        self._seen[line] = now, 0
        return {**event, "unlogged": unlogged}


def _redacted(redaction: Redaction) -> Processor:
    """Before a line is rendered: all of it but numbers and the names that Warren itself writes."""

    def clean(value: object) -> object:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, list | tuple | set | frozenset):
            return [clean(item) for item in value]
        if isinstance(value, dict):
            return {redaction(str(name)): clean(item) for name, item in value.items()}
        return redaction(value if isinstance(value, str) else repr(value))

    def redact(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        return {name: value if name in OWN else clean(value) for name, value in event.items()}

    return redact


def _made_visible(
    _: object, __: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """For terminals: names from outside do nothing there. JSON escapes them anyway."""
    for name, value in event.items():
        if isinstance(value, str) and name not in ("exception", "stack"):
            event[name] = visible(value)
        elif isinstance(value, list | tuple | dict):
            event[name] = visible(str(value))
    return event


def _name_service(service: str) -> Processor:
    """Every line says which service wrote it, whatever thread or library it comes from."""

    def add(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        if service:
            event.setdefault("service", service)
        return event

    return add
