"""The work of one channel: waits until an attempt is due, makes it, records what it led to.

In order within a group, groups independent of each other: an end that is being retried holds back
its own group's news, so that no opening overtakes it, and nobody else's. Channels share nothing, so
a hanging one delays no other.
"""

import asyncio
from collections.abc import Collection

from warren_notifier.channels.channel import Channel
from warren_notifier.delivery.attempts import Attempts, Shared
from warren_notifier.delivery.digests import Digests, GroupQueue
from warren_notifier.inputs import Attempted
from warren_notifier.owned import Line
from warren_notifier.routing.change import Subject

Group = tuple[str, str]


class Worker:
    """One queue, and one task, per group with work; groups beyond the size of the queue wait until
    one is done.
    """

    def __init__(self, name: str, channel: Channel, shared: Shared) -> None:
        self._shared = shared
        self._attempts = Attempts(name, channel, shared)
        self._slots = self._attempts.slots
        self._digests = Digests(self._attempts)
        self._active: dict[Group, tuple[GroupQueue, asyncio.Task[None]]] = {}
        self._waiting: dict[Group, GroupQueue] = {}

    @property
    def idle(self) -> bool:
        """Whether there is no work, not even to write down what was done."""
        return not self._active and not self._waiting

    def is_free_for(self, subject: Subject, before: int) -> bool:
        """Whether an attempt for a group follows when it is added after so many other groups."""
        group = subject.cluster, subject.group
        is_new = group not in self._active and group not in self._waiting
        return is_new and len(self._active) + len(self._waiting) + before < self._slots.at_once

    def add(self, line: Line) -> None:
        """Works on a line until it has no delivery any more; more than once does no harm."""
        group = line.owned.subject.cluster, line.owned.subject.group
        active = self._active.get(group)
        queue = active[0] if active else self._waiting.get(group)
        if queue is None:
            queue = self._waiting[group] = GroupQueue(line.owned.partition)
        if line not in queue.lines:
            queue.lines.append(line)
        self._start()

    async def revoke(self, partitions: Collection[int], grace: float) -> None:
        """Ends the work on some partitions. Attempts under way have `grace` seconds to finish."""
        for group, waiting in list(self._waiting.items()):
            if waiting.partition in partitions:
                del self._waiting[group]
        revoked = [
            (group, queue, task)
            for group, (queue, task) in self._active.items()
            if queue.partition in partitions
        ]
        for group, queue, task in revoked:
            queue.revoked = True
            del self._active[group]
            if not queue.busy:
                task.cancel()
        self._start()
        tasks = [task for _, _, task in revoked]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _start(self) -> None:
        while self._waiting and len(self._active) < self._shared.queue_size:
            group = next(iter(self._waiting))
            queue = self._waiting.pop(group)
            task = self._shared.tasks.create_task(self._work_off(group, queue))
            self._active[group] = (queue, task)

    async def _work_off(self, group: Group, queue: GroupQueue) -> None:
        while queue.lines and not queue.revoked:
            if queue.head.delivery is None:
                queue.lines.popleft()
            else:
                await self._step(queue)
                queue.busy = False
        if not queue.revoked:
            del self._active[group]
            self._start()

    async def _step(self, queue: GroupQueue) -> None:
        """Takes the head of a queue one attempt further."""
        await self._attempts.ready()
        line = queue.head
        telling = line.telling
        if telling is None or telling.delivery is None:
            return
        if telling.is_held:  # it comes back when it is let go
            queue.lines.remove(line)
            return
        if not line.is_written:
            line.owned.moved.clear()
            await line.owned.moved.wait()
            return
        needless = telling.needless()
        if needless is not None:
            await self._shared.outcomes.record(Attempted(needless.delivery, needless.step))
            return
        if telling.notified.digest is not None:
            # The digest says when, and what it led to.
            for attempted in await self._digests.join(queue):
                await self._shared.outcomes.record(attempted)
            return
        wait = line.wait(self._shared.outcomes.clock)
        if wait > 0:
            await self._shared.sleep(wait)
            return  # the clock decides again
        tried = telling.delivery.pending.attempts > 0
        async with self._slots.turn(lambda: line.can_be_sent, tried=tried) as wanted:
            if not wanted:
                return  # what it is to know has changed while it waited
            queue.busy = True
            made = await self._attempts.alone(line)
        if made is not None:
            await self._shared.outcomes.record(made)
