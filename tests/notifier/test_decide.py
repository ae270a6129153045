"""`decide` as a state machine: changes, time, silences, acknowledgements, attempts and kills.

What is checked needs no second implementation: what a channel took tells by itself whether it was
told in order, once, and to the end.
"""

from itertools import pairwise
from operator import itemgetter

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from notifier.asked import acknowledgement, put, silence
from notifier.builders import MINUTE, OPENED_AT, change, route
from warren.contracts import GroupStatusName, NotifierState
from warren.silences import Silences
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.decide import Decided, decide
from warren_notifier.delivery.attempts import RetryPlan
from warren_notifier.inputs import (
    Attempted,
    Begun,
    Changed,
    Counted,
    Input,
    MayArrive,
    TakenUp,
    Tell,
    TimePassed,
)
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.holds import Holds, Rules
from warren_notifier.state.subject_state import SubjectState, restored, to_store
from warren_notifier.state.telling import Delivery, Ended

REPEAT = 30 * MINUTE
ROUTES = [
    route(
        channels=("mail", "pager"),
        repeat_interval=REPEAT / 1000,
        continue_matching=True,
    ),
    route("errors", ("hook",), minimum_severity="ERR"),
]
CHANNELS = ("mail", "pager", "hook")
PLAN = RetryPlan(2, 60, lambda: 1.0)


class Notifier(RuleBasedStateMachine):
    """One group, three channels, a notifier that is killed at any time, receivers of all kinds."""

    flap_openings = 0

    def __init__(self) -> None:
        super().__init__()
        self.now, self.offset, self.number, self.incidents = OPENED_AT, -1, 0, 0
        self.status: GroupStatusName = "OK"
        self.asked = Silences()
        self.silenced = self.acknowledged = False
        self.bad_since = 0
        self.state = SubjectState(0, change().subject)
        self.written = b""
        self.arrived: dict[str, list[Delivery]] = {name: [] for name in CHANNELS}
        """What each channel took, whether it said so or not."""
        self.ended: list[str] = []
        """Ids of deliveries that came to their end, as the audit says."""
        self.flying: dict[str, tuple[Delivery, bool]] = {}
        self.begun: set[str] = set()
        self.told: set[tuple[str, str]] = set()
        """Incidents and channels that may know of them."""
        self.router = Router(
            ROUTES,
            10**12,
            flap_openings=self.flap_openings,
            flap_window_ms=20 * MINUTE,
            acknowledging={"pager"},
        )
        self.holds = Holds(self.asked, ROUTES)

    def decided(self, given: Input, *, written: bool = True) -> Decided:
        rules = Rules(self.router, self.holds, self.now)
        decided = decide(self.state, given, rules, self.now)
        assert decide(self.state, given, rules, self.now) == decided, "the same, each time"
        if isinstance(given, TimePassed) and self.acknowledged:
            told = [one.delivery for one in decided.effects if isinstance(one, Tell)]
            new = [one for one in told if not self.state.holds(one)]
            assert all(one.pending.kind == "acknowledged" for one in new), "nobody else is called"
        self.state = decided.subject
        self.ended += [
            one.delivery.pending.delivery_id for one in decided.effects if isinstance(one, Ended)
        ]
        if written and self.state.offset >= 0:
            self.written = to_store(self.state).to_bytes()
        return decided

    def pending(self, channel: str) -> Delivery | None:
        return next((d for d in self.state.deliveries if d.pending.channel == channel), None)

    # What happens.

    @rule(status=st.sampled_from(["OK", "WARN", "ERR"]))
    def status_changes(self, status: GroupStatusName) -> None:
        if status == self.status:
            return
        if self.status == "OK":
            self.incidents += 1
            self.bad_since = self.now
            self.acknowledged = False
        self.number, self.offset = self.number + 1, self.offset + 1
        self.status, before = status, self.status
        self.last = change(
            status,
            previous=before,
            event_id=f"event-{self.number}",
            incident_id=f"incident-{self.incidents}",
            opened_at=self.bad_since,
            at=self.now,
        )
        effects = self.decided(Changed(self.last, self.offset)).effects
        assert Counted("replayed") not in effects

    @precondition(lambda self: self.number > 0)
    @rule(again=st.booleans())
    def event_comes_again(self, again: bool) -> None:
        offset = self.offset if again else self.offset + 1
        if again or self.status != "OK":  # without its incident only an offset tells
            before = self.state
            assert Counted("replayed") in self.decided(Changed(self.last, offset)).effects
            assert self.state is before

    @rule(minutes=st.sampled_from([0, 1, 7, 31]))
    def time_passes(self, minutes: int) -> None:
        self.now += minutes * MINUTE
        self.decided(TimePassed())

    @rule()
    def silence_begins_or_ends(self) -> None:
        self.silenced = not self.silenced
        if self.silenced:
            put(self.asked, silence(ends_at=self.now + 10**9))
        else:
            self.asked.apply(b"quiet", None)
        self.decided(TimePassed())

    @precondition(lambda self: self.status != "OK")
    @rule()
    def acknowledged_or_no_longer(self) -> None:
        self.acknowledged = not self.acknowledged
        name = f"incident-{self.incidents}"
        if self.acknowledged:
            put(self.asked, acknowledgement(name, at=self.now))
        else:
            self.asked.apply_acknowledgement(name.encode(), None)
        self.decided(TimePassed())

    @rule(channel=st.sampled_from(CHANNELS))
    def attempt_begins(self, channel: str) -> None:
        waiting = [d.pending.channel for d in self.state.deliveries]
        if channel not in waiting and waiting:
            channel = waiting[0]
        delivery = self.pending(channel)
        telling = self.state.telling(delivery) if delivery is not None else None
        if channel in self.flying or delivery is None or telling is None or telling.is_held:
            return
        needless = telling.needless()
        if needless is not None:
            self.ended.append(delivery.pending.delivery_id)
            self.decided(Attempted(delivery, needless.step))
            return
        uncertain = telling.notified.uncertain
        self.decided(MayArrive(delivery))
        self.decided(Begun(delivery, uncertain), written=False)
        begun = self.pending(channel)
        assert begun is not None
        self.begins(begun)
        self.flying[channel] = begun, uncertain

    @rule(
        channel=st.sampled_from(CHANNELS),
        result=st.sampled_from(
            [
                Delivered("taken"),
                Retry("HTTP 503"),
                Retry("no answer", uncertain=True),
                Refused("HTTP 404"),
            ]
        ),
        arrives=st.booleans(),
        killed=st.booleans(),
    )
    def attempt_ends(self, channel: str, result: Result, arrives: bool, killed: bool) -> None:
        """`arrives` counts where nobody says; `killed` before what came of it is written."""
        if not self.flying:
            return
        channel = channel if channel in self.flying else next(iter(self.flying))
        begun, uncertain = self.flying.pop(channel)
        said_nothing = isinstance(result, Retry) and result.uncertain
        if isinstance(result, Delivered) or (said_nothing and arrives):
            self.arrived[channel].append(begun)
        if killed:
            self.kill()
            return
        step = PLAN.after(begun.pending, result, self.now)
        if step.final:
            self.ended.append(begun.pending.delivery_id)
        self.decided(Attempted(begun, step, 1, uncertain or said_nothing))

    @rule()
    def all_is_delivered(self) -> None:
        for channel in CHANNELS:
            self.attempt_ends(channel, Delivered(""), True, False)
            self.attempt_begins(channel)
            self.attempt_ends(channel, Delivered(""), True, False)

    @rule()
    def a_reminder_is_due(self) -> None:
        self.all_is_delivered()
        self.time_passes(31)

    def begins(self, delivery: Delivery) -> None:
        """May it?"""
        kind = delivery.pending.kind
        self.begun.add(delivery.pending.delivery_id)
        if kind in ("opened", "changed", "repeated"):
            assert not self.silenced, "a silence puts off"
        if kind == "repeated":
            assert not self.acknowledged, "an acknowledgement stops reminders"
        if kind == "acknowledged":
            assert self.acknowledged
            assert delivery.pending.channel == "pager"
        incident = delivery.pending.incident_id, delivery.pending.channel
        assert kind != "resolved" or incident in self.told, "nobody awaits this end"
        self.told.add(incident)

    @precondition(lambda self: self.offset >= 0)
    @rule()
    def kill(self) -> None:
        """What was not written is gone."""
        self.flying.clear()
        self.state, ended = restored(0, NotifierState.from_bytes(self.written))
        self.decided(TakenUp(ended))

    # What is always so.

    @invariant()
    def what_is_written_is_what_is_known(self) -> None:
        if self.state.offset < 0:
            return
        stored = to_store(self.state)
        again, ended = restored(0, NotifierState.from_bytes(stored.to_bytes()))
        if not self.flying:
            assert to_store(again) == stored
            assert not ended

    @invariant()
    def channels_are_told_in_order(self) -> None:
        for taken in self.arrived.values():
            numbers = [int(one.pending.event_id.partition("-")[2]) for one in taken]
            assert numbers == sorted(numbers)
            open_incident = None
            for one in taken:
                if one.pending.kind == "resolved":
                    open_incident = None
                elif one.pending.incident_id != open_incident:
                    assert open_incident is None, "each end is told before the next beginning"
                    assert one.pending.kind != "acknowledged"
                    open_incident = one.pending.incident_id

    @invariant()
    def reminders_keep_their_distance(self) -> None:
        for taken in self.arrived.values():
            at = {
                (one.pending.incident_id, one.pending.delivery_id): one.pending.accepted_at
                for one in taken
                if one.pending.kind == "repeated"
            }
            for (one, first), (other, second) in pairwise(sorted(at.items(), key=itemgetter(1))):
                assert one[0] != other[0] or second - first >= REPEAT

    # What is so in the end.

    def teardown(self) -> None:
        if self.silenced:
            self.silence_begins_or_ends()
        self.quiet()
        if self.acknowledged and self.status != "OK":
            self.acknowledged_or_no_longer()
        if not self.written:
            return
        self.kill()  # what was refused is told by the next notifier
        self.quiet()
        if self.status != "OK":
            wanted = {"mail", "pager"} | ({"hook"} if self.status == "ERR" else set())
            for channel in wanted:
                assert self.knows(channel) == self.status
            self.status_changes("OK")
            self.quiet()
        for channel, taken in self.arrived.items():
            if taken:
                assert self.knows(channel) == "OK", f"{channel} knows no end"
        assert not self.state.tellings
        assert self.state.incident is None
        assert self.begun <= set(self.ended), "nothing ends silently"

    def knows(self, channel: str) -> str | None:
        news = [one for one in self.arrived[channel] if one.pending.kind != "acknowledged"]
        return news[-1].pending.status if news else None

    def quiet(self) -> None:
        """Until all is delivered, and flapping groups have been quiet for long enough."""
        for _ in range(4):
            self.now += MINUTE if not self.flap_openings else 25 * MINUTE
            self.decided(TimePassed())
            while self.state.deliveries:
                self.all_is_delivered()


class FlappingNotifier(Notifier):
    """Likewise, where three incidents within twenty minutes are told as flapping."""

    flap_openings = 3


OFTEN = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestNotifier = pytest.mark.timeout(300)(Notifier.TestCase)
TestNotifier.settings = OFTEN
TestFlappingNotifier = pytest.mark.timeout(300)(FlappingNotifier.TestCase)
TestFlappingNotifier.settings = OFTEN


@pytest.mark.parametrize("killed", [False, True])
def test_what_is_replaced_while_it_is_under_way_is_audited(killed: bool) -> None:
    notifier = Notifier()
    notifier.status_changes("WARN")
    notifier.attempt_begins("mail")
    notifier.status_changes("ERR")
    if killed:
        notifier.kill()
    else:
        notifier.attempt_ends("mail", Retry("HTTP 503"), False, False)
    assert notifier.begun <= set(notifier.ended)


@pytest.mark.parametrize("asked", ["acknowledgement", "silence"])
def test_what_failed_is_not_sent_again_when_people_ask_for_quiet_meanwhile(asked: str) -> None:
    notifier = Notifier()
    notifier.status_changes("ERR")
    notifier.a_reminder_is_due()
    notifier.attempt_begins("mail")
    reminder, _ = notifier.flying["mail"]
    assert reminder.pending.kind == "repeated"
    if asked == "silence":
        notifier.silence_begins_or_ends()
    else:
        notifier.acknowledged_or_no_longer()
    notifier.attempt_ends("mail", Retry("HTTP 503"), False, False)
    left = notifier.pending("mail")
    assert left is None if asked == "acknowledgement" else left and left.pending.held
    notifier.attempt_begins("mail")
    assert "mail" not in notifier.flying
    assert (reminder.pending.delivery_id in notifier.ended) == (asked == "acknowledgement")


def test_nobody_is_reminded_of_what_is_acknowledged() -> None:
    notifier = Notifier()
    notifier.status_changes("ERR")
    notifier.all_is_delivered()
    notifier.acknowledged_or_no_longer()
    notifier.all_is_delivered()
    notifier.now += 31 * MINUTE
    assert notifier.decided(TimePassed()).effects == (), "not even to be withdrawn"
