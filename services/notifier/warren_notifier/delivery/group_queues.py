"""The work of one channel: in order within a group, groups independent of each other.

An end that is being retried holds back its own group's news, so that no opening overtakes it, and
nobody else's. Channels share nothing, so a hanging one delays no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection

from warren_notifier.delivery.slots import Slots
from warren_notifier.routing.change import Subject
from warren_notifier.state.telling import Telling

Group = tuple[str, str]


class GroupQueue:
    """Tellings of one group that have work, the next one first."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.tellings: deque[Telling] = deque()
        self.busy = False
        """An attempt is under way, which should not be interrupted; waiting for one may be."""
        self.revoked = False

    @property
    def head(self) -> Telling:
        return self.tellings[0]


class GroupQueues:
    """One queue, and one task, per group with work; groups beyond `limit` wait until one is done.

    `step` takes the first telling of a queue one attempt further, in a turn of `slots`.
    """

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        step: Callable[[GroupQueue], Awaitable[None]],
        limit: int,
        slots: Slots,
    ) -> None:
        self._slots = slots
        self._tasks = tasks
        self._step = step
        self._limit = limit
        self._active: dict[Group, tuple[GroupQueue, asyncio.Task[None]]] = {}
        self._waiting: dict[Group, GroupQueue] = {}

    def __len__(self) -> int:
        """Pending deliveries."""
        queues = [queue for queue, _ in self._active.values()] + list(self._waiting.values())
        return sum(t.delivery is not None for queue in queues for t in queue.tellings)

    @property
    def idle(self) -> bool:
        """Whether there is no work, not even to write down what was done."""
        return not self._active and not self._waiting

    def is_free_for(self, subject: Subject, before: int) -> bool:
        """Whether an attempt for a group follows when it is added after so many other groups."""
        group = subject.cluster, subject.group
        is_new = group not in self._active and group not in self._waiting
        return is_new and len(self._active) + len(self._waiting) + before < self._slots.at_once

    def add(self, telling: Telling) -> None:
        """Works on a telling until it has no delivery any more; more than once does no harm."""
        group = telling.subject.cluster, telling.subject.group
        active = self._active.get(group)
        queue = active[0] if active else self._waiting.get(group)
        if queue is None:
            queue = self._waiting[group] = GroupQueue(telling.partition)
        if telling not in queue.tellings:
            queue.tellings.append(telling)
        self._start()

    def _start(self) -> None:
        while self._waiting and len(self._active) < self._limit:
            group = next(iter(self._waiting))
            queue = self._waiting.pop(group)
            self._active[group] = (queue, self._tasks.create_task(self._work_off(group, queue)))

    async def _work_off(self, group: Group, queue: GroupQueue) -> None:
        while queue.tellings and not queue.revoked:
            if queue.head.delivery is None:
                queue.tellings.popleft()
            else:
                await self._step(queue)
        if not queue.revoked:
            del self._active[group]
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
