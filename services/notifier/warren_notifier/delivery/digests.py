"""The digests of one channel: who is told in one message, and when.

Each group's queue goes on being worked off by its own task; where its next delivery is told with
others, that task joins the digest and is handed what the message led to. When a message is due
follows from what is stored with each telling, so that a kill neither hurries nor forgets one.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from uuid import UUID, uuid5

from warren.clock import Clock
from warren.contracts import DigestKey
from warren_core.standing.standing import Standing

from warren_notifier.channels.digest_groups import Digest
from warren_notifier.delivery.attempts import Attempts
from warren_notifier.inputs import Attempted, Begun
from warren_notifier.owned import Line

LOOK_SECONDS = 1.0  # between two looks at who waits
FEW = 3  # messages in two intervals; after so many, what cannot wait does
_DIGESTS = UUID("5a3f0f43-8e5e-4c0a-8f0e-2f1f6c7f5b2d")  # namespace of digest ids


class GroupQueue:
    """Lines of one group that have work, the next one first."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.lines: deque[Line] = deque()
        self.busy = False
        """An attempt is under way, which should not be interrupted; waiting for one may be."""
        self.revoked = False

    @property
    def head(self) -> Line:
        return self.lines[0]


@dataclass(slots=True, eq=False)
class _Member:
    queue: GroupQueue
    notified: asyncio.Future[list[Attempted]]

    @property
    def can_be_sent(self) -> bool:
        return self.queue.head.can_be_sent

    def lines(self, key: DigestKey, within: float, clock: Clock) -> list[Line]:
        """The first one, and those behind it that are due within so many seconds."""
        found = []
        for line in self.queue.lines:
            if line.delivery is None:
                continue
            if line.digest != key or not line.can_be_sent or line.wait(clock) > within:
                break
            found.append(line)
        return found


@dataclass(slots=True)
class _Waiting:
    """Of one key: who waits, and what was last sent."""

    key: DigestKey
    members: dict[_Member, None] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None
    sent_at: int = 0
    sent: list[int] = field(default_factory=list)
    """When the newest messages went out, as far as that counts."""
    recalled_at: int = 0
    """By the clock of whoever sent it: `sent_at` is no later than now."""
    thread: str | None = None
    not_before: float = 0
    """By the monotonic clock: the receiver has failed."""

    @property
    def can_be_sent(self) -> bool:
        """Whether there is anything left to tell."""
        return any(member.can_be_sent for member in self.members)

    @property
    def was_tried(self) -> bool:
        """Whether nobody waits for a first attempt."""
        waiting = (member.queue.head.delivery for member in self.members)
        return all(delivery is None or delivery.pending.attempts > 0 for delivery in waiting)


class Digests:
    """Of one channel."""

    def __init__(
        self,
        attempts: Attempts,
    ) -> None:
        self._attempts, self._slots = attempts, attempts.slots
        self._shared = attempts.shared
        outcomes = attempts.shared.outcomes
        self._owned, self._clock = outcomes.owned, outcomes.clock
        self._grouping = outcomes.router.grouping
        self._waiting: dict[DigestKey, _Waiting] = {}

    async def join(self, queue: GroupQueue) -> list[Attempted]:
        """Waits for the message about the queue's first telling. Nothing attempted: look again."""
        key = queue.head.digest
        if key is None:
            return []
        self._owned.note_digest(queue.head)
        now = self._clock.now_ms()
        for other, idle in list(self._waiting.items()):
            over = idle.sent_at + 2 * self._grouping.interval_ms(other) <= now
            if over and other != key and not idle.members and idle.task is None:
                del self._waiting[other]
        waiting = self._waiting.setdefault(key, _Waiting(key))
        member = _Member(queue, asyncio.get_running_loop().create_future())
        waiting.members[member] = None
        if waiting.task is None:
            waiting.task = self._shared.tasks.create_task(self._work_off(waiting))
        try:
            return await member.notified
        finally:
            waiting.members.pop(member, None)
            if not waiting.members and waiting.task is not None:
                waiting.task.cancel()
                waiting.task = None

    async def _work_off(self, waiting: _Waiting) -> None:
        self._recall(waiting)
        while waiting.members:
            for member in [m for m in waiting.members if not m.can_be_sent]:
                self._release(waiting, member, [])
            if not waiting.members:
                break
            wait = self._wait(waiting)
            if wait <= 0:  # partitions may have come since
                self._recall(waiting)
                wait = self._wait(waiting)
            if wait > 0:
                await self._shared.sleep(min(wait, LOOK_SECONDS))
                continue
            await self._attempts.ready()
            tried = waiting.was_tried
            async with self._slots.turn(lambda: waiting.can_be_sent, tried=tried) as wanted:
                if wanted:
                    await self._send(waiting)
        waiting.task = None

    def _release(self, waiting: _Waiting, member: _Member, attempted: list[Attempted]) -> None:
        waiting.members.pop(member, None)
        if not member.notified.done():  # its partition may have gone
            member.notified.set_result(attempted)

    def _recall(self, waiting: _Waiting) -> None:
        """What tellings remember of the newest message: this notifier may not have sent it."""
        lines = self._owned.digest(self._attempts.name, waiting.key)
        notified = [line.telling.notified for line in lines if line.telling is not None]
        newest = max(notified, key=lambda one: one.notified_at or 0, default=None)
        if newest is not None and (newest.notified_at or 0) > max(
            waiting.sent_at, waiting.recalled_at
        ):
            waiting.recalled_at = newest.notified_at or 0
            waiting.sent_at, waiting.thread = waiting.recalled_at, newest.thread
            waiting.sent = waiting.sent or [waiting.sent_at]

    def _wait(self, waiting: _Waiting) -> float:
        """Seconds until the next message."""
        # Nobody waits for a time to come again: of a clock that was set back, or of another one.
        now = self._clock.now_ms()
        waiting.sent_at = min(waiting.sent_at, now)
        interval = self._grouping.interval_ms(waiting.key)
        after = waiting.sent_at + interval if waiting.sent_at else 0
        are_few = sum(now - 2 * interval < at <= now for at in waiting.sent) < FEW
        ready = []
        for member in waiting.members:
            wait = 0.0
            for line in member.lines(waiting.key, inf, self._clock):
                wait = max(wait, line.wait(self._clock))  # none goes before those ahead of it
                delivery = line.delivery
                if delivery is not None:
                    goes_ahead = delivery.pending.cannot_wait and are_few
                    is_free = goes_ahead or delivery.pending.attempts > 0
                    ready.append(wait if is_free else max(wait, (after - now) / 1000))
        soonest = min(ready, default=LOOK_SECONDS)
        return max(waiting.not_before - self._clock.monotonic(), soonest)

    async def _send(self, waiting: _Waiting) -> None:
        """One message about all who wait, but for those that are put off for longer."""
        taking = self._taking(waiting)
        for member in taking:
            member.queue.busy = True
        lines = [line for found in taking.values() for line in found]
        prepared = await asyncio.gather(*(self._shared.outcomes.begin(line) for line in lines))
        ready = {line: one for line, one in zip(lines, prepared, strict=True) if one is not None}
        made: dict[Line, Attempted] = {}
        if ready:
            news = list(ready.values())
            attempted = await self._attempts.together(self._digest(waiting, ready), news)
            self._note(waiting, attempted)
            made = dict(zip(ready, attempted, strict=True))
        for member, found in taking.items():
            self._release(waiting, member, [made[line] for line in found if line in made])

    def _taking(self, waiting: _Waiting) -> dict[_Member, list[Line]]:
        """As many as the receiver may take in one message."""
        within = self._grouping.wait_ms("", waiting.key, "changed") / 1000
        taking: dict[_Member, list[Line]] = {}
        count, most = 0, sys.maxsize
        for member in waiting.members:
            for line in member.lines(waiting.key, within, self._clock):
                at_most = line.delivery.at_most if line.delivery is not None else None
                most = min(most, at_most or most)
                if count >= most:
                    return taking
                taking.setdefault(member, []).append(line)
                count += 1
        return taking

    def _digest(self, waiting: _Waiting, news: Mapping[Line, Begun]) -> Digest:
        lasting = []
        until = waiting.sent_at + self._grouping.interval_ms(waiting.key)
        goes_on = self._clock.now_ms() < until
        for line in self._owned.digest(self._attempts.name, waiting.key):
            telling, state = line.telling, line.owned.state
            if telling is None:
                continue
            goes_on |= telling.notified.thread is not None
            incident = state.incident.incident_id if state.incident is not None else None
            is_open = telling.notified.opened and incident == telling.notified.incident_id
            if line in news or not is_open or state.change is None:
                continue
            if state.open_now is not None:  # a group that flaps may be well now
                lasting.append(Standing.of(state.open_now.event.data))
        deliveries = [one.delivery for one in news.values()]
        ids = sorted(one.pending.delivery_id for one in deliveries)
        return Digest(
            digest_id=str(uuid5(_DIGESTS, "|".join(ids))),
            key=waiting.key,
            news=deliveries,
            lasting=lasting,
            thread=waiting.thread if goes_on else None,
        )

    def _note(self, waiting: _Waiting, attempted: list[Attempted]) -> None:
        now = self._clock.now_ms()
        failed = [one.step.pending for one in attempted if one.step.outcome == "failed"]
        again = [one.next_attempt_at for one in failed if one.deadline_at > now]
        wait = (min(again, default=now) - now) / 1000
        waiting.not_before = self._clock.monotonic() + wait
        if any(one.step.outcome == "delivered" for one in attempted):
            waiting.sent_at, waiting.thread = now, attempted[0].thread
            waiting.sent = [*waiting.sent[1 - FEW :], now]
