"""What is silenced is put off: told when the silence is over and it is still so, or never."""

from typing import Any

import pytest
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, change, event, pending_delivery, route
from notifier.harness import Scripted, kinds, play
from warren.contracts import Notified
from warren.settings.notifier import DAYS
from warren.silences import Silences
from warren_notifier.channels.channel import Retry
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.holds import Holds
from warren_notifier.routing.reminders import on_repeat

HOUR = 3600.0  # seconds: how long a silence of these tests lasts


def quiet(**fields: Any) -> Silences:
    return put(Silences(), silence(**fields))


def test_an_opening_is_told_when_the_silence_is_over() -> None:
    mail, before = Scripted(), list[int]()
    steps = (event(), HOUR - 0.001, lambda _: before.append(len(mail.sent)), 0.001)
    log = play({"mail": mail}, *steps, silences=quiet())
    assert before == [0]
    assert kinds(mail) == ["opened"]
    assert log.outcomes() == ["silenced", "delivered"]
    put_off, _ = log.audit()
    assert put_off.detail.startswith("silence quiet of ada until 2026-")
    assert put_off.detail.endswith(": moving")
    assert put_off.attempt == 0
    assert put_off.next_attempt_at is None


def test_what_is_put_off_holds_up_nothing_else() -> None:
    """Nothing of other groups, however many it is."""
    mail = Scripted()
    muted = {"event_types": ["warren.group.status.changed"], "mute": [{"days": list(DAYS)}]}
    late = event(event_id="late", group="late", incident_id="late").model_copy(
        update={"type": "warren.group.freshness.changed"}
    )
    many = [event(group=f"g{n}", event_id=f"e{n}", incident_id=f"i{n}") for n in range(9)]
    routes = [route("status", **muted), route("rest")]
    play({"mail": mail}, [*many, event(), late], routes=routes, queue_size=2)
    assert [d.pending.incident_id for d in mail.sent] == ["late"]


def test_a_deadline_does_not_pass_while_nothing_may_be_sent() -> None:
    mail = Scripted(Retry("busy"), Retry("busy"))
    log = play({"mail": mail}, event(), HOUR, silences=quiet(), deadline_ms=MINUTE)
    assert log.outcomes() == ["silenced", "failed", "failed", "delivered"]


@pytest.mark.parametrize(
    ("fields", "silenced"),
    [
        ({"cluster": "^prod$", "group": "^bill"}, True),
        ({"cluster": "^pro$"}, False),
        ({"group": "ing"}, True),
        ({"group": "^ing"}, False),
        ({"ends_at": OPENED_AT}, False),
        ({"begins_at": OPENED_AT + 1}, False),
        ({"begins_at": OPENED_AT}, True),
    ],
)
def test_which_groups_are_silenced_and_when(fields: dict[str, Any], silenced: bool) -> None:
    found = quiet(**fields).in_force(OPENED_AT).of("prod", "billing")
    assert (found is not None) == silenced


def test_what_hears_of_an_incident_again_lest_it_takes_it_for_over_goes_on_hearing() -> None:
    """As an Alertmanager does: silence or not, and whether somebody looks after it or not."""
    again = {"kind": "repeated", "channel": "alerts"}
    holds = Holds(quiet(), [], {"alerts"}).at(OPENED_AT)
    subject = change().subject
    assert holds.of(subject, pending_delivery(**again)) is None
    assert holds.of(subject, pending_delivery(kind="repeated")) is not None
    assert holds.of(subject, pending_delivery(channel="alerts")) is not None
    router = Router(
        [route(channels=("mail", "alerts"), repeat_interval=60)], 1, resends={"alerts": 120_000}
    )
    told = {
        name: Notified(incident_id="incident-1", channel=name, route="all", status="ERR")
        for name in ("mail", "alerts")
    }
    incident = router.on_change(change(), 0, None, {}, OPENED_AT).incident
    assert incident is not None
    later = on_repeat(
        router, change(), incident, told, (), OPENED_AT + 120_000, is_looked_after=True
    )
    assert later is not None
    assert [one.channel for one in later.deliveries] == ["alerts"]
