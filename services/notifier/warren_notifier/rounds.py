"""What the time alone makes due, and what else changes without an event: looked at each second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import structlog
from warren.clock import Clock

from warren_notifier.agenda import Agenda
from warren_notifier.batch import Batch
from warren_notifier.outbox import Outbox
from warren_notifier.review import Review
from warren_notifier.routing import trial
from warren_notifier.routing.acknowledging import on_acknowledged
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.escalation import on_escalate
from warren_notifier.routing.repeats import on_repeat
from warren_notifier.routing.start import on_start
from warren_notifier.state.set_back import SetBack
from warren_notifier.state.subject_state import SubjectState

log = structlog.get_logger(__name__)


class Rounds:
    """Over the states of `agenda`, a few at a time: everything else gets its turn in between."""

    def __init__(
        self,
        router: Router,
        review: Review,
        agenda: Agenda,
        outbox: Outbox,
        clock: Clock,
    ) -> None:
        self._router = router
        self._review = review
        self._agenda = agenda
        self._outbox = outbox
        self._clock = clock
        self._set_back = SetBack(clock)

    async def follow_clock(self) -> None:
        """What is due stays as far away as it was when the clock is set back."""
        set_back = self._set_back.look()
        if not set_back:
            return
        log.warning("the clock was set back", seconds=set_back / 1000)
        for states in self._agenda.all():
            for state in states:
                state.set_back(set_back)
                self._agenda.note(state)
            await asyncio.sleep(0)

    async def tell_again(self) -> None:
        """Tells what is so now where it was refused before: what was wrong has been mended."""
        await self._each(self._agenda.all(), self.tell_added)

    def tell_added(self, state: SubjectState, batch: Batch) -> None:
        """What is so now, where routes and channels were added meanwhile or others have failed."""
        if state.incident is None or state.change is None or state.flapping is not None:
            return
        known = (state.told(), self._clock.now_ms(), state.under_way())
        decision = on_start(self._router, state.change, state.incident, *known)
        if decision is not None:
            self._outbox.note(state, state.change, decision, batch)

    async def put_off(self) -> None:
        """Puts off what is silenced now, and goes on with what is no longer."""

        def look(state: SubjectState, batch: Batch) -> None:
            self._review.look(state, state.tellings, batch)

        await self._each(self._agenda.pending(), look)

    async def repeat(self) -> None:
        """Sends again what is due again, and tells of groups that flapped and are quiet now."""
        now = self._clock.now_ms()

        def look(state: SubjectState, batch: Batch) -> None:
            if state.flaps is not None:
                self._outbox.calm(state, now, batch)
            self._repeat(state, now, batch)
            self._agenda.note(state)

        await self._each(self._agenda.repeats(now), look)

    def _repeat(self, state: SubjectState, now: int, batch: Batch) -> None:
        if state.incident is None or state.change is None:
            return
        known = (state.change, state.incident, state.told(), state.under_way(), now)
        # Nobody is reminded of what flaps; what must hear of an incident again still does.
        quiet = state.flapping is not None
        quiet |= self._review.acknowledgement(state.incident) is not None
        decision = on_repeat(self._router, *known, is_looked_after=quiet)
        if decision is not None:
            self._outbox.note(state, state.change, decision, batch)

    async def escalate(self) -> None:
        """Tells further channels of what has been bad for long, and nobody looks after."""
        now = self._clock.now_ms()

        def look(state: SubjectState, batch: Batch) -> None:
            self._escalate(state, now, batch)
            self._agenda.note(state)

        await self._each(self._agenda.escalations(now), look)

    def _escalate(self, state: SubjectState, now: int, batch: Batch) -> None:
        if state.incident is None or state.change is None or state.is_over_for_now:
            return
        if self._review.acknowledgement(state.incident) is not None:
            return
        # The time of a route begins when what it has to tell is no longer put off.
        held = {telling.told.route for telling in state.tellings if telling.is_held}
        known = (state.change, state.incident, state.told(), now, held, state.under_way())
        decision = on_escalate(self._router, *known)
        if decision is not None:
            self._outbox.note(state, state.change, decision, batch)

    async def acknowledge(self) -> None:
        """Tells who knows acknowledgements that somebody looks after an incident."""
        await self._each(self._agenda.open(), self._acknowledge)

    def _acknowledge(self, state: SubjectState, batch: Batch) -> None:
        if state.incident is None or state.change is None or state.is_over_for_now:
            return
        acknowledgement = self._review.acknowledgement(state.incident)
        if acknowledgement is None:
            return
        known = (state.change, state.incident, state.told(), state.under_way())
        decision = on_acknowledged(self._router, *known, acknowledgement, self._clock.now_ms())
        if decision is not None:
            self._outbox.note(state, state.change, decision, batch)

    async def end_tests(self) -> None:
        """Tells the end of tests whose opening has come to its end on all channels."""
        batch, now = Batch(), self._clock.now_ms()
        for state in self._agenda.tests():
            if state.change is None or state.under_way():
                continue
            end = trial.closing(state.change, now)
            decision = self._router.on_change(end, 0, state.incident, state.told(), now)
            self._outbox.note(state, end, decision, batch)
        await self._outbox.write(batch)

    async def forget_settled(self) -> None:
        """Forgets what was kept only to recognise replays that cannot come any more."""
        for _ in self._agenda.pending():
            await asyncio.sleep(0)
        await self._outbox.forget_settled()

    async def _each(
        self,
        parts: Iterable[list[SubjectState]],
        look: Callable[[SubjectState, Batch], None],
    ) -> None:
        """What `look` makes of the states of a part is written together."""
        for states in parts:
            batch = Batch()
            for state in states:
                look(state, batch)
            await self._outbox.write(batch)
            await asyncio.sleep(0)
