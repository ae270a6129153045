"""Status changes as Server-Sent Events.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html. The id of each event is
where the client then stands on `warren.lag-status`: `<partition>:<next offset>` for every partition
that has had a change, separated by commas, or `-` while none has. It means the same to every copy
of the API and after a restart, unlike a counter or an order of arrival.

Thousands of changes may have to be matched and written at once: a thread does it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from warren_api.model.status_history import Positions, RecordedChange, StatusHistory

HEARTBEAT_SECONDS = 15.0  # below the idle timeouts of usual proxies
RETRY_MS = 2000
_GAP = "event: warren.gap\ndata: {}\n\n"
"""Changes were missed and are no longer remembered: the client should load the lists."""
_NOWHERE = "-"  # an empty id would mean that there is none

Wanted = Callable[[RecordedChange], bool]


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


@dataclass(eq=False)
class EventStream:
    """One client's stream. `last_event_id`: None begins with what comes from now on."""

    history: StatusHistory
    wanted: Wanted
    last_event_id: str | None = None
    heartbeat: float = HEARTBEAT_SECONDS
    _positions: dict[int, int] = field(default_factory=dict)

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
            asked = positions_of(self.last_event_id) if self.last_event_id else None
            resumed = self.history.resume(asked)
            self._positions = {
                partition: min(offset, resumed.positions.get(partition, 0))
                for partition, offset in (asked or {}).items()
            }
            gap = _GAP if self.last_event_id and not resumed.is_complete else ""
            told = await asyncio.to_thread(self._told, resumed.missed)
            self._positions, seen = resumed.positions, resumed.sequence
            yield f"retry: {RETRY_MS}\n{gap}{told}id: {id_of(self._positions)}\n\n"
            while not self.history.is_closed:
                news.clear()
                if changes := self.history.after(seen):
                    if changes[0].sequence > seen + 1:  # forgotten before this client took it
                        yield _GAP
                    if told := await asyncio.to_thread(self._told, changes):
                        yield told
                    seen = changes[-1].sequence
                    continue
                try:
                    await asyncio.wait_for(news.wait(), self.heartbeat)
                except TimeoutError:
                    # With the position: changes that this client did not want count as seen.
                    yield f": still here\nid: {id_of(self._positions)}\n\n"
        finally:
            stop_listening()

    def _told(self, changes: Iterable[RecordedChange]) -> str:
        """Those that are wanted; all of them count as seen."""
        pieces = []
        for recorded in changes:
            self._positions[recorded.partition] = recorded.offset + 1
            if self.wanted(recorded):
                lines = "".join(f"data: {line}\n" for line in recorded.value.decode().splitlines())
                pieces.append(f"id: {id_of(self._positions)}\nevent: {recorded.type}\n{lines}\n")
        return "".join(pieces)
