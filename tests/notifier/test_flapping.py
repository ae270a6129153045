"""Groups that are well and not well by turns are told once, and again when they are quiet."""

from collections.abc import Sequence
from typing import Any

from notifier.builders import MINUTE, OPENED_AT, delivery, event, route
from notifier.harness import Log, Scripted, play
from notifier.test_email_message import mail, text
from support.manual_clock import ManualClock
from warren.contracts import Flapping, GroupStatusName, StatusChangeEvent
from warren.silences import Silences

WINDOW = 30 * MINUTE
ROUTES = [route(channels=("hook",), repeat_interval=60)]


def turn(
    incident: int, status: GroupStatusName, minute: float, number: int = 0
) -> StatusChangeEvent:
    return event(
        status,
        incident_id=f"i{incident}",
        event_id=f"i{incident}-{number}-{status}",
        at=OPENED_AT + round(minute * MINUTE),
    )


def incident(
    number: int, minute: float, status: GroupStatusName = "ERR"
) -> list[StatusChangeEvent]:
    """Opened at a minute, over half a minute later."""
    return [turn(number, status, minute), turn(number, "OK", minute + 0.5)]


class Group:
    """A notifier for which three incidents are flapping, restarted at will."""

    def __init__(self, resends: int = 0) -> None:
        """`resends`: milliseconds after which the channel must hear of an incident again."""
        self._resends = {"hook": resends} if resends else {}
        self.log, self.hook, self.asked = Log(), Scripted(), Silences()
        self.clock = ManualClock(OPENED_AT)

    def lives(self, *events: StatusChangeEvent, quiet_at: float | None = None) -> None:
        steps: list[Any] = list(events)
        if quiet_at is not None:
            at = OPENED_AT + round(quiet_at * MINUTE)
            steps.append((at - self.clock.now_ms()) / 1000)
        play(
            {"hook": self.hook},
            *steps,
            routes=ROUTES,
            log=self.log,
            clock=self.clock,
            flap_openings=3,
            resends=self._resends,
            silences=self.asked,
        )

    def told(self) -> list[tuple[str, str]]:
        return [(one.pending.incident_id, one.pending.kind) for one in self.hook.sent]


def both(*numbers: int) -> Sequence[tuple[str, str]]:
    return [(f"i{n}", kind) for n in numbers for kind in ("opened", "resolved")]


def test_it_is_told_once_and_its_end_when_it_has_been_quiet() -> None:
    group = Group()
    group.lives(*(e for n in range(10) for e in incident(n, n)))
    assert group.told() == [*both(0, 1), ("i2", "opened")]
    flapping = group.hook.sent[-1].pending.flapping
    assert flapping == Flapping(openings=3, since=OPENED_AT, quiet_ms=WINDOW)
    group.lives(quiet_at=30)
    assert group.told() == [*both(0, 1), ("i2", "opened")], "nine and a half minutes ago it moved"
    group.lives(quiet_at=40)
    assert group.told() == both(0, 1, 2)
    assert group.hook.sent[-1].pending.event_id == "i2-0-OK"
    assert group.hook.sent[-1].pending.left_out == 15
    assert group.log.states() == []


def test_a_channel_that_must_hear_of_it_again_does() -> None:
    """It would take the incident for over."""
    group = Group(resends=2 * MINUTE)
    group.lives(*(e for n in range(10) for e in incident(n, n)), quiet_at=20)
    assert group.told() == [*both(0, 1), ("i2", "opened"), ("i2", "repeated")]
    assert group.hook.sent[-1].pending.status == "ERR"
    group.lives(quiet_at=40)
    assert group.told() == [*both(0, 1), ("i2", "opened"), ("i2", "repeated"), ("i2", "resolved")]


def test_what_was_withheld_is_audited() -> None:
    group = Group()
    group.lives(*(e for n in range(6) for e in incident(n, n)))
    withheld = [one for one in group.log.audit() if one.outcome == "superseded"]
    assert [one.event_id for one in withheld] == [f"i{n}-0-ERR" for n in (3, 4, 5)]
    assert {one.detail for one in withheld} == {"the group flaps, and newer news replace it"}


def test_one_that_stays_bad_goes_on_under_the_id_that_is_known() -> None:
    """Nobody is paged anew, nor told that all is well, of what is as bad as was told."""
    group = Group()
    group.lives(*(e for n in range(5) for e in incident(n, n)), turn(9, "ERR", 6))
    group.lives(quiet_at=37)
    goes_on = [*both(0, 1), ("i2", "opened"), ("i2", "repeated")]
    assert group.told() == goes_on
    told = group.hook.sent[-1]
    assert (told.pending.event_id, told.pending.left_out) == ("i9-0-ERR", 5)
    group.lives(turn(9, "WARN", 38, 1), turn(9, "OK", 39))
    assert group.told() == [*goes_on, ("i2", "changed"), ("i2", "resolved")]
    assert group.log.states() == [] or group.log.states()[0].incident is None
    assert len(set(group.hook.ids)) == len(group.hook.ids)


def test_one_that_stays_less_bad_goes_on_as_a_change() -> None:
    group = Group()
    group.lives(*(e for n in range(5) for e in incident(n, n)), turn(9, "WARN", 6), quiet_at=37)
    assert group.told() == [*both(0, 1), ("i2", "opened"), ("i2", "changed")]
    group.lives(turn(10, "ERR", 38), turn(10, "OK", 39))
    assert group.told()[-2:] == [("i2", "changed"), ("i2", "resolved")], "the end of i9 was lost"


def test_what_gets_worse_is_told_at_once() -> None:
    group = Group()
    group.lives(*(e for n in range(4) for e in incident(n, n, "WARN")))
    assert group.told() == [*both(0, 1), ("i2", "opened")]
    group.lives(turn(8, "ERR", 5))
    assert group.told() == [*both(0, 1, 2), ("i8", "opened")]
    assert group.hook.sent[-1].pending.flapping is not None
    group.lives(turn(8, "WARN", 6, 1), turn(8, "ERR", 7, 2), turn(8, "OK", 8))
    assert group.told() == [*both(0, 1, 2), ("i8", "opened")]
    group.lives(quiet_at=39)
    assert group.told() == both(0, 1, 2, 8)


def test_an_event_after_the_quiet_time_is_decided_as_any_other() -> None:
    """Read late, after the notifier was away."""
    group = Group()
    group.lives(*(e for n in range(5) for e in incident(n, n)), *incident(9, 60))
    assert group.told() == both(0, 1, 2, 9)


def test_a_few_incidents_are_no_flapping_and_are_forgotten() -> None:
    group = Group()
    group.lives(*(e for n in range(4) for e in incident(n, 20 * n)))
    assert group.told() == both(0, 1, 2, 3)
    assert len(group.log.states()) == 1, "how often it opened of late"
    group.lives(quiet_at=91)
    assert group.log.states() == []


def test_a_mail_says_that_it_flaps() -> None:
    flapping = Flapping(openings=5, since=OPENED_AT, quiet_ms=WINDOW)
    told = mail(flapping=flapping)
    assert told["Subject"].startswith("[ERR] prod: billing flapping, 5 incidents since ")
    assert "Flapping     5 incidents since 07:00 UTC; told again when it gets worse" in text(told)
    assert delivery(flapping=flapping).pending.flapping == flapping
