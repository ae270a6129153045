"""What the time alone makes due, and of which states: a second looks at those and no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warren.contracts import TEST_CLUSTER

from warren_notifier.routing.decisions import Router
from warren_notifier.routing.escalation import escalate_at
from warren_notifier.routing.flapping import Damping
from warren_notifier.state.owned_state import OwnedState
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.timetable import Timetable

AT_ONCE = 200  # states between two turns of everything else


class Agenda:
    """Of the states in `owned`. Whoever changes one, or has looked at what was due, says so."""

    def __init__(self, owned: OwnedState, router: Router, damping: Damping) -> None:
        self._owned = owned
        self._router = router
        self._damping = damping
        self._repeats = Timetable()
        self._escalations = Timetable()
        self._tests: dict[SubjectState, None] = {}
        self._open: dict[SubjectState, None] = {}

    def note(self, state: SubjectState) -> None:
        """Something has changed: when the state is to be looked at from now on."""
        self._owned.note(state)
        if state.subject.cluster == TEST_CLUSTER:
            self._tests[state] = None
        if self._router.acknowledging and state.incident is not None:
            self._open[state] = None
        times = [state.repeat_at]
        if state.flaps is not None:
            times.append(self._damping.calm_at(state.flaps))
        self._repeats.put(state, min((at for at in times if at is not None), default=None))
        self._escalations.put(state, escalate_at(self._router.routes, state.incident))

    def repeats(self, now: int) -> Iterator[list[SubjectState]]:
        """States that may have to be repeated, or have flapped and may be quiet, in parts."""
        return self._parts(self._repeats.take(now))

    def escalations(self, now: int) -> Iterator[list[SubjectState]]:
        """Likewise, where further channels may have to be told."""
        return self._parts(self._escalations.take(now))

    def pending(self) -> Iterator[list[SubjectState]]:
        """Likewise, with deliveries."""
        return self._owned.pending(AT_ONCE)

    def open(self) -> Iterator[list[SubjectState]]:
        """Likewise, whose incident may be acknowledged, where anybody is told of that."""
        over = [s for s in self._open if s.incident is None or not self._owned.has(s)]
        for state in over:
            del self._open[state]
        return self._parts(list(self._open))

    def all(self) -> Iterator[list[SubjectState]]:
        return self._parts(list(self._owned.states()))

    def tests(self) -> list[SubjectState]:
        """Those of tests that are not over."""
        over = [s for s in self._tests if s.change is None or not self._owned.has(s)]
        for state in over:
            del self._tests[state]
        return list(self._tests)

    def _parts(self, states: Sequence[SubjectState]) -> Iterator[list[SubjectState]]:
        """Without those that have gone, with their partitions, when it is their turn."""
        for at in range(0, len(states), AT_ONCE):
            yield [state for state in states[at : at + AT_ONCE] if self._owned.has(state)]
