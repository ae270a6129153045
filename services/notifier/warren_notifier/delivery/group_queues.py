"""The deliveries of one channel: in order within a group, groups independent of each other.

An opening that is being retried holds back its own group's news, so that no end overtakes its
beginning, and nobody else's. Channels share nothing, so a hanging one delays no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection

from warren_notifier.state.delivery import Delivery

Group = tuple[str, str]


class GroupQueue:
    """Pending deliveries of one group, the next one first."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.deliveries: deque[Delivery] = deque()
        self.busy = False
        """An attempt is under way, which should not be interrupted; waiting for one may be."""
        self.revoked = False

    @property
    def head(self) -> Delivery:
        return self.deliveries[0]


class GroupQueues:
    """One queue, and one task, per group with pending deliveries.

    `step` takes the first delivery of a queue one attempt further and says whether that was its
    end.
    """

    def __init__(
        self, tasks: asyncio.TaskGroup, step: Callable[[GroupQueue], Awaitable[bool]]
    ) -> None:
        self._tasks = tasks
        self._step = step
        self._queues: dict[Group, tuple[GroupQueue, asyncio.Task[None]]] = {}
        self._size = 0

    def __len__(self) -> int:
        """Pending deliveries."""
        return self._size

    def add(self, delivery: Delivery) -> None:
        group = _group(delivery)
        self._size += 1
        if group in self._queues:
            self._queues[group][0].deliveries.append(delivery)
            return
        queue = GroupQueue(delivery.partition)
        queue.deliveries.append(delivery)
        self._queues[group] = (queue, self._tasks.create_task(self._work_off(group, queue)))

    def shorten(self, delivery: Delivery, limit: int) -> Delivery | None:
        """Takes the oldest waiting delivery out of the queue of `delivery`, if that is too long.

        The newest news matter most; the first one may be under way.
        """
        queue, _ = self._queues[_group(delivery)]
        if len(queue.deliveries) <= limit:
            return None
        crowded_out = queue.deliveries[1]
        del queue.deliveries[1]
        self._size -= 1
        return crowded_out

    async def _work_off(self, group: Group, queue: GroupQueue) -> None:
        while queue.deliveries and not queue.revoked:
            if await self._step(queue):
                queue.deliveries.popleft()
                self._size -= 1
        if not queue.revoked:
            del self._queues[group]

    async def revoke(self, partitions: Collection[int], grace: float) -> None:
        """Ends the work on some partitions. Attempts under way have `grace` seconds to finish."""
        revoked = [
            (group, queue, task)
            for group, (queue, task) in self._queues.items()
            if queue.partition in partitions
        ]
        for group, queue, task in revoked:
            queue.revoked = True
            del self._queues[group]
            if not queue.busy:
                task.cancel()
        tasks = [task for _, _, task in revoked]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        self._size -= sum(len(queue.deliveries) for _, queue, _ in revoked)


def _group(delivery: Delivery) -> Group:
    return delivery.subject.cluster, delivery.subject.group
