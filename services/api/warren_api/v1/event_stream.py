"""Status changes as Server-Sent Events.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html. The id of each event is
where the client then stands on `warren.lag-status`: `<partition>:<next offset>` for every partition
that has had a change, separated by commas, or `-` while none has. It means the same to every copy
of the API and after a restart, unlike a counter or an order of arrival.

Thousands of changes may have to be matched and written at once. A thread does it for all streams,
a turn of each after the other, so that neither the event loop nor another stream waits for one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from warren.patterns import PatternTooCostly

from warren_api.http.errors import TOO_COSTLY
from warren_api.http.problem import ProblemKind, problem
from warren_api.model.status_history import Positions, RecordedChange, Resumption, StatusHistory

HEARTBEAT_SECONDS = 15.0  # below the idle timeouts of usual proxies
RETRY_MS = 2000
TURN_SECONDS = 0.02  # that a stream keeps the thread, and the change that it is at
_GAP = "event: warren.gap\ndata: {}\n\n"
"""Changes were missed and are no longer remembered: the client should load the lists."""
_NOWHERE = "-"  # an empty id would mean that there is none

Wanted = Callable[[RecordedChange], bool]
"""Raises PatternTooCostly."""
Judged = tuple[RecordedChange, bool]
"""A change, and whether the client wants it."""
Item = TypeVar("Item")

_thread = ThreadPoolExecutor(1, thread_name_prefix="events")


def positions_of(event_id: str) -> dict[int, int] | None:
    """What an id says; None when it is none of ours."""
    positions: dict[int, int] = {}
    if event_id == _NOWHERE:
        return positions
    for part in event_id.split(","):
        partition, _, offset = part.partition(":")
        if not (partition.isascii() and partition.isdigit() and offset.isascii()):
            return None
        if not offset.isdigit() or len(part) > 40:
            return None
        positions[int(partition)] = int(offset)
    return positions


def id_of(positions: Positions) -> str:
    named = (f"{partition}:{positions[partition]}" for partition in sorted(positions))
    return ",".join(named) or _NOWHERE


@dataclass
class EventStream:
    """One client's stream. `last_event_id`: None begins with what comes from now on."""

    history: StatusHistory
    wanted: Wanted
    last_event_id: str | None = None
    heartbeat: float = HEARTBEAT_SECONDS
    _positions: dict[int, int] = field(default_factory=dict)
    _resumed: Resumption | None = None
    _missed: list[Judged] = field(default_factory=list)

    async def begin(self) -> None:
        """Finds what the client has missed. Raises PatternTooCostly."""
        asked = positions_of(self.last_event_id) if self.last_event_id else None
        self._resumed = self.history.resume(asked)
        self._missed = await self._judged(self._resumed.missed)
        self._positions = {
            partition: min(offset, self._resumed.positions.get(partition, 0))
            for partition, offset in (asked or {}).items()
        }

    async def text(self) -> AsyncIterator[str]:
        """Pieces of the stream, until the service ends, nobody takes them any more, or what the
        client wants takes too long to find, which is said.
        """
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def notify() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(news.set)

        stop_listening = self.history.listen(notify)
        try:
            if self._resumed is None:
                await self.begin()
            resumed = self._resumed
            assert resumed is not None
            is_gap = self.last_event_id and not resumed.is_complete
            beginning = f"retry: {RETRY_MS}\n{_GAP if is_gap else ''}"
            async for piece in self._told(self._missed):
                yield beginning + piece
                beginning = ""
            self._missed, self._positions, seen = [], resumed.positions, resumed.sequence
            yield f"{beginning}id: {id_of(self._positions)}\n\n"
            while not self.history.is_closed:
                news.clear()
                changes = self.history.after(seen)
                if changes:
                    if changes[0].sequence > seen + 1:  # forgotten before this client took it
                        yield _GAP
                    async for piece in self._told(await self._judged(changes)):
                        yield piece
                    seen = changes[-1].sequence
                    continue
                try:
                    await asyncio.wait_for(news.wait(), self.heartbeat)
                except TimeoutError:
                    # With the position: changes that this client did not want count as seen.
                    yield f": still here\nid: {id_of(self._positions)}\n\n"
        except PatternTooCostly:
            yield _too_costly()
        finally:
            stop_listening()

    async def _judged(self, changes: tuple[RecordedChange, ...]) -> list[Judged]:
        """Raises PatternTooCostly."""
        judged = ((recorded, self.wanted(recorded)) for recorded in changes)
        return [each async for turn in _in_turns(judged) for each in turn]

    async def _told(self, judged: list[Judged]) -> AsyncIterator[str]:
        """Those that are wanted, some at a time; all of them count as seen."""
        async for turn in _in_turns(self._written(judged)):
            if piece := "".join(turn):
                yield piece

    def _written(self, judged: list[Judged]) -> Iterator[str]:
        for recorded, is_wanted in judged:
            self._positions[recorded.partition] = recorded.offset + 1
            yield self._event(recorded) if is_wanted else ""

    def _event(self, recorded: RecordedChange) -> str:
        lines = "".join(f"data: {line}\n" for line in recorded.value.decode().splitlines())
        return f"id: {id_of(self._positions)}\nevent: {recorded.type}\n{lines}\n"


async def _in_turns(items: Iterator[Item]) -> AsyncIterator[list[Item]]:
    """What `items` makes in the thread, a turn's worth at a time."""
    loop = asyncio.get_running_loop()
    while turn := await loop.run_in_executor(_thread, _turn, items):
        yield turn


def _turn(items: Iterator[Item]) -> list[Item]:
    """Empty when there are no more."""
    ends, made = time.monotonic() + TURN_SECONDS, []
    for item in items:
        made.append(item)
        if time.monotonic() >= ends:
            break
    return made


def _too_costly() -> str:
    """The end of the stream: the id stays, so the client may come back with another expression."""
    body = bytes(problem(ProblemKind.PATTERN_TOO_COSTLY, TOO_COSTLY).body).decode()
    return f"event: warren.problem\ndata: {body}\n\n"
