"""The deliveries of one channel: in order within a group, groups independent of each other.

An opening that is being retried holds back its own group's news, so that no end overtakes its
beginning, and nobody else's. Channels share nothing, so a hanging one delays no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection

from warren_notifier.state.subject_state import Entry

Group = tuple[str, str]


class Lane:
    """Pending deliveries of one group, the next one first."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.entries: deque[Entry] = deque()
        self.busy = False
        """An attempt is under way, which should not be interrupted; waiting for one may be."""
        self.leaving = False

    @property
    def head(self) -> Entry:
        return self.entries[0]


class Lanes:
    """One lane, and one task, per group with pending deliveries.

    `step` takes the first delivery of a lane one attempt further and says whether that was its end.
    """

    def __init__(self, tasks: asyncio.TaskGroup, step: Callable[[Lane], Awaitable[bool]]) -> None:
        self._tasks = tasks
        self._step = step
        self._lanes: dict[Group, tuple[Lane, asyncio.Task[None]]] = {}
        self._size = 0

    def __len__(self) -> int:
        """Pending deliveries."""
        return self._size

    def add(self, entry: Entry) -> None:
        group = _group(entry)
        self._size += 1
        if group in self._lanes:
            self._lanes[group][0].entries.append(entry)
            return
        lane = Lane(entry.partition)
        lane.entries.append(entry)
        self._lanes[group] = (lane, self._tasks.create_task(self._follow(group, lane)))

    def shorten(self, entry: Entry, limit: int) -> Entry | None:
        """Takes the oldest waiting delivery out of the lane that `entry` is in, if it is too long.

        The newest news matter most; the first one may be under way.
        """
        lane, _ = self._lanes[_group(entry)]
        if len(lane.entries) <= limit:
            return None
        crowded_out = lane.entries[1]
        del lane.entries[1]
        self._size -= 1
        return crowded_out

    async def _follow(self, group: Group, lane: Lane) -> None:
        while lane.entries and not lane.leaving:
            if await self._step(lane):
                lane.entries.popleft()
                self._size -= 1
        if not lane.leaving:
            del self._lanes[group]

    async def leave(self, partitions: Collection[int], grace: float) -> None:
        """Ends the work on some partitions. Attempts under way have `grace` seconds to finish."""
        left = [
            (group, lane, task)
            for group, (lane, task) in self._lanes.items()
            if lane.partition in partitions
        ]
        for group, lane, task in left:
            lane.leaving = True
            del self._lanes[group]
            if not lane.busy:
                task.cancel()
        tasks = [task for _, _, task in left]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        self._size -= sum(len(lane.entries) for _, lane, _ in left)


def _group(entry: Entry) -> Group:
    return entry.subject.cluster, entry.subject.group
