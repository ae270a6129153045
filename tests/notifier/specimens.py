"""A specimen of each kind of channel, for the tests that hold for all: `test_<kind>.py` has one."""

import asyncio
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from notifier.builders import MINUTE, OPENED_AT
from notifier.http_receiver import Answer, Request
from support.manual_clock import ManualClock
from warren.clock import Clock
from warren.settings.notifier import NotifierSettings
from warren_notifier.channels.channel import Channel, Result
from warren_notifier.channels.configured import configured_channels, kinds
from warren_notifier.state.telling import Delivery

BASE = "https://warren.example.org"
CLOCK = ManualClock(OPENED_AT + MINUTE)
LOOPBACK = ("127.0.0.0/8", "::1")


@dataclass(frozen=True, slots=True)
class Specimen:
    """A table that works, and what its receiver demands."""

    table: Callable[[str], str]
    """Its lines in warren.toml, for a channel that asks `host:port`."""
    elsewhere: tuple[str, str]
    """What to replace by what there, and it leads elsewhere."""
    refusals: Sequence[tuple[str, str, str, str]] = ()
    """What to replace by what, the setting that is refused then, and a word of why."""
    receiver: Callable[[Request], Answer] = lambda _: Answer(200)
    """Refuses what the service's documentation forbids."""
    is_url: bool = True
    """Whether it is told by requests to a URL, whose answers Warren judges."""
    is_guarded: bool = True
    """Whether the egress guard is asked."""
    is_service: bool = True
    """Whether its answers are those of a known service: a page is none."""


def specimen(kind: str) -> Specimen:
    found = import_module(f"notifier.test_{kind.replace('-', '_')}").SPECIMEN
    assert isinstance(found, Specimen)
    return found


def settings(kind: str, at: str, *, allow: Sequence[str] = LOOPBACK, **fields: Any) -> Any:
    """`[notifier]` with the specimen as channel `it`; `fields` are more of its settings."""
    return of_table(f'type = "{kind}"\n{specimen(kind).table(at)}', allow=allow, **fields)


def of_table(lines: str, *, allow: Sequence[str] = LOOPBACK, **fields: Any) -> NotifierSettings:
    table = tomllib.loads(lines) | fields
    return NotifierSettings.model_validate(
        {"link_base": BASE, "allow_networks": list(allow), "channels": {"it": table}}
    )


def made(kind: str, at: str, **fields: Any) -> Any:
    """The specimen as it is made of its settings."""
    return channel(settings(kind, at, **fields))


def channel(of: NotifierSettings, clock: Clock = CLOCK) -> Channel:
    return configured_channels(of, clock)["it"]


def send(channel: Channel, *deliveries: Delivery) -> list[Result]:
    async def run() -> list[Result]:
        try:
            return [await channel.send(each) for each in deliveries]
        finally:
            await channel.close()

    return asyncio.run(run())


KINDS = list(kinds())
