"""A channel that several routes name is told by the first of them that is not muted."""

from typing import Any

from notifier.builders import MINUTE, OPENED_AT, change, event, route
from notifier.harness import Scripted, play
from warren.contracts import Notified, OpenIncident
from warren_notifier.routing.decisions import Decision, Router
from warren_notifier.routing.reminders import on_start
from warren_notifier.routing.routes import Route

HOUR = 60 * MINUTE


def muted(
    name: str, *channels: str, begin: str = "06:30", end: str = "08:00", **fields: Any
) -> Route:
    """OPENED_AT is at 07:00 UTC."""
    mute = [{"from": begin, "to": end, "zone": "UTC"}]
    return route(name, channels, mute=mute, continue_matching=True, **fields)


def told(channel: Scripted) -> list[tuple[str, str]]:
    return [(one.pending.route, one.pending.kind) for one in channel.sent]


def test_one_that_is_muted_silences_no_other_one() -> None:
    mx, my = Scripted(), Scripted()
    log = play(
        {"mx": mx, "my": my},
        event("WARN"),
        59 * 60,
        event("ERR", "WARN", event_id="event-2"),
        60,
        event("WARN", "ERR", event_id="event-3"),
        event("OK", "WARN", event_id="event-4"),
        routes=[muted("mm1", "mx"), route("mm2", ("mx", "my"))],
    )
    assert told(mx) == [
        ("mm2", "opened"),
        ("mm2", "changed"),
        ("mm1", "changed"),
        ("mm2", "resolved"),
    ]
    assert [kind for _, kind in told(my)] == ["opened", "changed", "changed", "resolved"]
    assert set(log.outcomes()) == {"delivered"}


def test_where_all_are_it_is_told_when_the_first_is_so_no_longer() -> None:
    mx, my = Scripted(), Scripted()
    routes = [muted("mm1", "mx", end="10:00"), muted("mm2", "mx", "my")]
    before: list[int] = []
    steps = (event(), 59 * 60, lambda _: before.append(len(mx.sent)), 60)
    log = play({"mx": mx, "my": my}, *steps, routes=routes)
    assert before == [0]
    assert told(mx) == told(my) == [("mm2", "opened")]
    assert log.outcomes("mx") == ["silenced", "delivered"]
    assert log.audit()[0].detail.startswith("route mm2 is muted until 2026-")


def test_reminders_are_those_of_the_route_that_is_not_muted() -> None:
    mx = Scripted()
    routes = [
        muted("mm1", "mx", repeat_interval=20 * 60),
        route("mm2", ("mx",), repeat_interval=30 * 60),
    ]
    play({"mx": mx}, event(), *[5 * 60] * 19, routes=routes)
    kinds = [name for name, kind in told(mx) if kind == "repeated"]
    assert kinds == ["mm2", "mm1", "mm1"], "at 30, 60 and 80 minutes"
    assert len(set(mx.ids)) == 4


def test_a_start_opens_nothing_again_in_another_ones_window() -> None:
    router = Router([muted("mm1", "mx", begin="07:30"), route("mm2", ("mx",))], HOUR)
    incident, known = opened(router, OPENED_AT)
    decision = on_start(router, change(), incident, known, OPENED_AT + 40 * MINUTE)
    assert decision is None or not decision.news


def opened(router: Router, at: int) -> tuple[OpenIncident, dict[str, Notified]]:
    decision: Decision = router.on_change(change(), 0, None, {}, at)
    assert decision.incident is not None
    known = {"status": "ERR", "conditions": change().conditions}
    told = {one.notified.channel: one.notified.model_copy(update=known) for one in decision.news}
    return decision.incident, told
