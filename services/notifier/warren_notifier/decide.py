"""Decide what follows for one subject: `decide(subject, given, rules, now)`, and nothing else does.

Pure: the same subject, input, rules and time give the same subject and effects. Whoever calls it
makes the subject durable before any delivery of it is sent.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from warren.contracts import TEST_CLUSTER

from warren_notifier.inputs import (
    Attempted,
    Begun,
    Changed,
    Counted,
    Effect,
    EndLost,
    Input,
    MayArrive,
    NotSent,
    PutOff,
    TakenUp,
    Tell,
    Tested,
    TimePassed,
)
from warren_notifier.routing import trial
from warren_notifier.routing.change import Change, as_known, lost_end
from warren_notifier.routing.decisions import Decision
from warren_notifier.routing.flapping import Damped, Damping
from warren_notifier.routing.holds import Rules
from warren_notifier.routing.reminders import on_acknowledged, on_repeat, on_start
from warren_notifier.routing.routes import Route
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import (
    FLAPS,
    LOOKED_AFTER,
    NOT_LOOKED_AFTER,
    REPLACED,
    Delivery,
    Ended,
    Key,
    Telling,
)


@dataclass(slots=True)
class Decided:
    """`subject`: the very same one where nothing is to be written."""

    subject: SubjectState
    effects: tuple[Effect, ...] = ()


def decide(subject: SubjectState, given: Input, rules: Rules, now: int) -> Decided:
    """What an input leads to; `now` is in Unix milliseconds."""
    steps = _Steps(subject, rules, now)
    match given:
        case Changed(change, offset):
            steps.on_change(change, offset)
        case TimePassed():
            steps.on_time_passed()
        case TakenUp(ended):
            steps.on_taken_up(ended)
        case Tested(opening, route):
            steps.on_test(opening, route)
        case Attempted():
            steps.on_attempt(given)
        case MayArrive(delivery) | NotSent(delivery) | Begun(delivery):
            telling = subject.telling(delivery)
            if telling is not None and isinstance(given, Begun):
                steps.put(telling.begun(uncertain=given.uncertain))
            elif telling is not None:
                steps.put(telling.knowing(uncertain=isinstance(given, MayArrive)))
    return Decided(steps.subject, tuple(steps.effects))


class _Steps:
    """What one input leads to, step by step."""

    def __init__(self, subject: SubjectState, rules: Rules, now: int) -> None:
        self.subject = subject
        self.effects: list[Effect] = []
        self._router = rules.router
        self._rules = rules
        self._now = now

    def put(self, telling: Telling) -> None:
        self.subject = self.subject.with_telling(telling)

    # A change of the status.

    def on_change(self, change: Change, offset: int) -> None:
        subject, event = self.subject, self.subject.change
        is_again = event is not None and change.event_id == event.event_id
        # Published twice, as after a kill, is no news.
        if offset <= subject.offset or is_again or subject.is_past(self._known(change)):
            self.effects.append(Counted("replayed"))
            return
        self.subject = replace(subject, offset=offset)
        self._calm(change.at)
        change = self._known(change)
        self._end_lost(change, offset)
        subject = self.subject
        damped = Damping(self._router).on_change(
            change, offset, subject.incident, subject.notified(), subject.flaps, self._now
        )
        result = "withheld"
        if damped.decisions:
            result = "routed" if damped.decisions[-1][1].deliveries else "unrouted"
        self.effects.append(Counted(result))
        self._take_damped(damped)

    def _known(self, change: Change) -> Change:
        return as_known(change, self.subject.incident)

    def _end_lost(self, change: Change, offset: int) -> None:
        """Ends the open incident if the change is of another one; while the group flaps, that is
        told when other ends are.
        """
        subject, flaps = self.subject, self.subject.flapping
        if subject.incident is None or subject.change is None or change.closing:
            return
        is_same = change.incident_id == subject.incident.incident_id
        if is_same or (flaps is not None and flaps.end is not None):
            return
        self.effects.append(EndLost())
        end = lost_end(subject.change, change)
        if flaps is not None:
            update = {"end": end.event, "end_offset": offset}
            self.subject = replace(subject, flaps=flaps.model_copy(update=update))
            return
        notified = subject.notified()
        self._take(end, self._router.on_change(end, offset, subject.incident, notified, self._now))

    def _take_damped(self, damped: Damped) -> None:
        """What is left of it where subjects that flap are told of once."""
        if damped.flaps is not self.subject.flaps:
            self.subject = replace(self.subject, flaps=damped.flaps)
        for change, pending in damped.withheld:
            withheld = self.subject.delivery_of(change, pending)
            self.effects.append(Ended(withheld, "superseded", FLAPS))
        for change, decision in damped.decisions:
            self._take(change, decision)

    def _take(self, change: Change, decision: Decision | None) -> None:
        """What a change of the subject leads to."""
        if decision is None:
            return
        self.subject, busy, ended = self.subject.decided(change, decision)
        self.effects += ended
        self._look(busy)
        self._tell(busy)

    def _tell(self, keys: Collection[Key]) -> None:
        for key in keys:
            delivery = self.subject.tellings[key].delivery
            if delivery is not None:
                self.effects.append(Tell(delivery))

    # Silences, mute windows and acknowledgements.

    def _look(self, keys: Collection[Key]) -> None:
        """Holds what is silenced, lets go what is not, withdraws what nobody needs; what is being
        sent is left alone.
        """
        for key in keys:
            telling = self.subject.tellings[key]
            if telling.delivery is None or telling.is_under_way:
                continue
            needless = self._why_needless(telling.delivery)
            if needless is not None:
                self.put(replace(telling, delivery=None))
                self.effects.append(Ended(telling.delivery, "suppressed", needless))
                continue
            self._hold_or_release(telling, telling.delivery)

    def _hold_or_release(self, telling: Telling, delivery: Delivery) -> None:
        hold = self._rules.holds.of(self.subject.subject, delivery.pending)
        if (hold is not None) == telling.is_held:
            return
        if hold is not None:
            self.put(telling.pending(held=hold.name))
            self.effects.append(PutOff(delivery, hold.detail))
            return
        self.put(telling.released(self._now))
        self._tell([telling.key])

    def _why_needless(self, delivery: Delivery) -> str | None:
        """Decided before somebody acknowledged the incident, or took that back."""
        pending, incident = delivery.pending, self.subject.incident
        if incident is None or incident.incident_id != pending.incident_id:
            acknowledgement = self._rules.holds.acknowledged(pending.incident_id)
        else:
            acknowledgement = self._rules.holds.acknowledgement(incident, self.subject.change)
        if pending.kind == "acknowledged":
            return NOT_LOOKED_AFTER if acknowledgement is None else None
        reminds = pending.kind == "repeated" and pending.channel not in self._router.resends
        return LOOKED_AFTER if reminds and acknowledgement is not None else None

    # The time.

    def on_time_passed(self) -> None:
        self._look(list(self.subject.tellings))
        self._calm(self._now)
        self._repeat()
        self._acknowledge()
        self._end_test()
        self.subject = self.subject.without_done()

    def _calm(self, at: int) -> None:
        """Tells what was withheld, if it has been quiet until `at`; forgets old incidents."""
        damping, subject, flaps = Damping(self._router), self.subject, self.subject.flaps
        if flaps is None or at < damping.calm_at(flaps):
            return
        if flaps.since is None:
            self.subject = replace(subject, flaps=None)
            return
        self._take_damped(damping.calm(subject.incident, subject.notified(), flaps, self._now))

    def _repeat(self) -> None:
        subject, change, incident = self.subject, self.subject.change, self.subject.incident
        at = subject.repeat_at
        if incident is None or change is None or at is None or at > self._now:
            return
        # Nobody is reminded of what flaps; what must hear of an incident again still does.
        quiet = subject.flapping is not None or change.is_sent_once
        quiet |= self._rules.holds.acknowledgement(incident, self.subject.change) is not None
        known = (change, incident, subject.notified(), subject.under_way(), self._now)
        self._take(change, on_repeat(self._router, *known, is_looked_after=quiet))

    def _acknowledge(self) -> None:
        """Tells who knows acknowledgements that somebody acknowledged the incident."""
        subject, change, incident = self.subject, self.subject.change, self.subject.incident
        if incident is None or change is None or subject.is_over_for_now:
            return
        acknowledgement = self._rules.holds.acknowledgement(incident, self.subject.change)
        if acknowledgement is not None:
            known = (change, incident, subject.notified(), subject.under_way())
            decision = on_acknowledged(self._router, *known, acknowledgement, self._now)
            self._take(change, decision)

    # Starts and tests.

    def on_taken_up(self, ended: Collection[Ended]) -> None:
        self.subject = self.subject.renamed(self._router.channel_of)
        keys = list(self.subject.tellings)
        self._tell(keys)
        self.effects += ended
        self._look(keys)
        # What is so now, where routes and channels were added meanwhile or others have failed.
        subject, change = self.subject, self.subject.change
        if subject.incident is None or change is None or subject.flapping is not None:
            return
        known = (subject.notified(), self._now, subject.under_way())
        self._take(change, on_start(self._router, change, subject.incident, *known))

    def on_test(self, opening: Change, route: Route) -> None:
        if self.subject.incident is not None:  # of a test that is not over
            return
        router = trial.router(self._router, route)
        self._take(opening, router.on_change(opening, 0, None, {}, self._now))

    def _end_test(self) -> None:
        """Its opening has come to its end on all channels."""
        subject, change = self.subject, self.subject.change
        is_test = subject.subject.cluster == TEST_CLUSTER
        if not is_test or change is None or subject.under_way():
            return
        end = trial.closing(change, self._now)
        known = (subject.incident, subject.notified(), self._now)
        self._take(end, self._router.on_change(end, 0, *known))

    # An attempt's outcome.

    def on_attempt(self, attempt: Attempted) -> None:
        delivery, step = attempt.delivery, attempt.step
        if step.outcome == "failed" and not self.subject.holds(delivery):
            self.effects.append(Ended(delivery, "superseded", REPLACED))
        telling = self.subject.telling(delivery)
        if telling is None:
            return
        heard = (attempt.uncertain, attempt.thread)
        self.put(telling.attempted(delivery, step, self._now, *heard))
        if step.outcome == "failed":  # what people asked for meanwhile holds for the next attempt
            self._look([delivery.key])
        self.subject = self.subject.without_done()
