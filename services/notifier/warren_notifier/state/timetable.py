"""Which states something is due of, and when: nobody looks at all of them each second."""

from __future__ import annotations

import heapq
from itertools import count

from warren_notifier.state.subject_state import SubjectState


class Timetable:
    """One time per state, Unix milliseconds."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, SubjectState]] = []
        self._at: dict[SubjectState, int] = {}
        self._numbers = count()

    def put(self, state: SubjectState, at: int | None) -> None:
        """Instead of the time before; None: nothing will be due."""
        if at is None:
            self._at.pop(state, None)
        elif self._at.get(state) != at:
            self._at[state] = at
            heapq.heappush(self._heap, (at, next(self._numbers), state))

    def take(self, now: int) -> list[SubjectState]:
        """States of which something is due by now, the longest first; they are in it no more."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            at, _, state = heapq.heappop(self._heap)
            if self._at.get(state) == at:
                del self._at[state]
                due.append(state)
        return due
