"""What the time makes due: each second the subjects are looked at of which something may be."""

import asyncio
import heapq
from itertools import count

import structlog
from warren.clock import Clock
from warren.contracts import TEST_CLUSTER

from warren_notifier.inputs import Input, TimePassed
from warren_notifier.outbox import Outbox
from warren_notifier.owned import Owned
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.flapping import Damping
from warren_notifier.state.subject_state import SubjectState

log = structlog.get_logger(__name__)

AT_ONCE = 200  # subjects between two turns of everything else
LEAST_MS = 1_000  # by which a clock is set back; less is one that is being corrected


class Due:
    """A few subjects at a time: everything else gets its turn in between."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox, self._outcomes = outbox, outbox.outcomes
        self._owned, self._router = self._outcomes.owned, self._outcomes.router
        self._set_back = SetBack(self._outcomes.clock)
        self._timetable = Timetable()
        self._tests: dict[Owned, None] = {}
        self._open: dict[Owned, None] = {}
        outbox.on_change = self.note

    def note(self, owned: Owned) -> None:
        """Something has changed: when it is to be looked at from now on."""
        state = owned.state
        self._owned.note(owned)
        if state.subject.cluster == TEST_CLUSTER:
            self._tests[owned] = None
        if self._router.acknowledging and state.incident is not None:
            self._open[owned] = None
        self._timetable.put(owned, due_at(state, self._router))

    async def tick(self) -> None:
        """Decides what the time that has passed leads to."""
        await self._follow_clock()
        await self._each(self._due(), TimePassed())
        await self.forget_settled()

    async def forget_settled(self) -> None:
        """Forgets what was kept only to recognise replays that cannot come any more."""
        self._owned.pending()
        await self._outbox.forget(self._owned.settling())

    def _due(self) -> list[Owned]:
        """Each once. Those with deliveries may be silenced, or no longer so."""
        over = [one for one in self._tests if one.state.change is None or not self._owned.has(one)]
        for owned in over:
            del self._tests[owned]
        due = [*self._owned.pending(), *self._timetable.take(self._outcomes.clock.now_ms())]
        return list(dict.fromkeys([*due, *self._acknowledged(), *self._tests]))

    def _acknowledged(self) -> list[Owned]:
        """Those of which somebody may have to be told that, where anybody is."""
        rules, found = self._outcomes.rules(), []
        for owned in list(self._open):
            incident = owned.state.incident
            if incident is None or not self._owned.has(owned):
                del self._open[owned]
            elif rules.holds.acknowledgement(incident, owned.state.change) is not None:
                found.append(owned)
        return found

    async def _each(self, subjects: list[Owned], given: Input) -> None:
        """What an input makes of the subjects of a part is written together."""
        for at in range(0, len(subjects), AT_ONCE):
            batch = self._outbox.batch()
            for owned in subjects[at : at + AT_ONCE]:
                if self._owned.has(owned):  # its partition may have gone
                    batch.decide(owned, given)
                    self.note(owned)
            await self._outbox.write(batch)
            await asyncio.sleep(0)

    async def _follow_clock(self) -> None:
        """What is due stays as far away as it was when the clock is set back."""
        set_back = self._set_back.look()
        if not set_back:
            return
        log.warning("the clock was set back", seconds=set_back / 1000)
        for number, owned in enumerate(self._owned.all(), 1):
            owned.put(owned.state.set_back(set_back))
            self.note(owned)
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)


def due_at(subject: SubjectState, router: Router) -> int | None:
    """When time alone may lead to something, Unix milliseconds; None: it will not."""
    times = [subject.repeat_at]
    if subject.flaps is not None:
        times.append(Damping(router).calm_at(subject.flaps))
    return min((at for at in times if at is not None), default=None)


class Timetable:
    """One time per subject, Unix milliseconds: nobody looks at all of them each second."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Owned]] = []
        self._at: dict[Owned, int] = {}
        self._numbers = count()

    def put(self, owned: Owned, at: int | None) -> None:
        """Instead of the time before; None: nothing will be due."""
        if at is None:
            self._at.pop(owned, None)
        elif self._at.get(owned) != at:
            self._at[owned] = at
            heapq.heappush(self._heap, (at, next(self._numbers), owned))

    def take(self, now: int) -> list[Owned]:
        """What is due by now, the longest due first; it is in the table no more."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            at, _, owned = heapq.heappop(self._heap)
            if self._at.get(owned) == at:
                del self._at[owned]
                due.append(owned)
        return due


class SetBack:
    """A wall clock that is set back: what was to be done at a time would be done that much later.

    Compares the wall clock with the monotonic one.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at = clock.now_ms(), clock.monotonic()

    def look(self) -> int:
        """Milliseconds by which it was set back since the last look; 0 for none."""
        (wall, monotonic), self._at = self._at, (self._clock.now_ms(), self._clock.monotonic())
        expected = wall + round(1000 * (self._at[1] - monotonic))
        return expected - self._at[0] if expected - self._at[0] > LEAST_MS else 0
