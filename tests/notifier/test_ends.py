"""What was opened on a channel is closed on it, whatever happens in between."""

import asyncio

import pytest
from notifier.builders import event, route
from notifier.harness import Hanging, Harness, Scripted, play
from support.manual_clock import ManualClock
from support.waiting import until
from warren.contracts import GroupStatusName, StatusChangeEvent
from warren_notifier.channels.channel import Result, Retry
from warren_notifier.routing.routes import Route

GROUPS = [f"g{number}" for number in range(20)]
BOTH = [("opened", "ERR"), ("resolved", "OK")]


def news(group: str, status: GroupStatusName, number: int, incident: int = 1) -> StatusChangeEvent:
    return event(
        status,
        group=group,
        event_id=f"{group}-{incident}-{number}",
        incident_id=f"{group}-{incident}",
    )


def sent(channel: Scripted, group: str) -> list[tuple[str, str]]:
    return [
        (delivery.pending.kind, delivery.pending.status)
        for delivery in channel.sent
        if delivery.subject.group == group
    ]


class Down(Scripted):
    """Takes everything unless it is down."""

    down = False

    async def send(self, delivery: object) -> Result:
        if self.down:
            await asyncio.sleep(0)
            return Retry("HTTP 503")
        return await super().send(delivery)  # type: ignore[arg-type]  # a Delivery

    def goes(self, _: Harness) -> None:
        self.down = True

    def comes(self, _: Harness) -> None:
        self.down = False


def test_a_flapping_group_on_a_receiver_that_is_down_is_closed_when_that_is_back() -> None:
    hook = Down()
    flaps = [
        [news(group, "ERR" if number % 2 else "WARN", number) for group in GROUPS]
        for number in range(1, 61)
    ]
    log = play(
        {"hook": hook},
        [news(group, "WARN", 0) for group in GROUPS],
        lambda _: until(lambda: len(hook.sent) == 20),
        hook.goes,
        *flaps,
        lambda harness: until(lambda: len(harness.pending()) <= 20),
        [news(group, "OK", 61) for group in GROUPS],
        hook.comes,
        Harness.start,
        Harness.idle,
        stopped=True,
    )
    for group in GROUPS:
        assert sent(hook, group) == [("opened", "WARN"), ("resolved", "OK")]
    assert log.dead_letters() == []
    assert log.states() == []


def test_a_full_queue_delays_ends_and_loses_none() -> None:
    hook = Hanging(concurrency=2)

    async def ends(harness: Harness) -> None:
        hook.let_go.clear()
        await harness.read(*(news(group, "OK", 1) for group in GROUPS), offset=20)
        await until(lambda: len(hook.sent) == 22)
        hook.let_go.set()
        await harness.idle()

    hook.let_go.set()
    opened = [news(group, "ERR", 0) for group in GROUPS]
    log = play({"hook": hook}, opened, ends, queue_size=3)
    for group in GROUPS:
        assert sent(hook, group) == BOTH
    assert set(log.outcomes()) == {"delivered"}


OLD = [route("old", ("hook",))]


def mail_channel() -> Scripted:
    other = Scripted()
    other.identity = other.identity.model_copy(update={"kind": "email"})
    return other


@pytest.mark.parametrize(
    ("routes", "name"),
    [
        pytest.param([route("new", ("hook",))], "hook", id="a renamed route"),
        pytest.param([], "hook", id="no route"),
        pytest.param([route("old", ("other",))], "hook", id="another channel in the route"),
        pytest.param([route("old", ("new",))], "new", id="another name for the channel"),
        pytest.param(OLD, "new", id="another receiver under the name"),
    ],
)
def test_the_end_goes_where_the_beginning_went_after_a_restart(
    routes: list[Route], name: str
) -> None:
    hook = Scripted()
    log = play({"hook": hook}, news("g", "ERR", 0), routes=OLD)
    channels = {"hook" if name == "new" else "other": mail_channel(), name: hook}
    play(channels, news("g", "OK", 1), routes=routes, log=log)
    assert sent(hook, "g") == BOTH


@pytest.mark.parametrize("later", [{}, {"hook": mail_channel()}])
def test_a_channel_that_is_gone_is_said_once(later: dict[str, Scripted]) -> None:
    log = play({"hook": Scripted()}, news("g", "ERR", 0), routes=OLD)
    play(later, news("g", "OK", 1), routes=[], log=log)
    assert log.outcomes() == ["delivered", "given_up"]
    assert "no longer configured" in log.audit()[-1].detail
    (letter,) = log.dead_letters()
    assert "no longer configured" in letter.reason
    assert log.states() == []


def test_an_end_that_is_owed_is_tried_until_the_receiver_is_back() -> None:
    hook, clock = Down(), ManualClock(1000)

    async def ends(harness: Harness) -> None:
        hook.down = True
        await harness.read(news("g", "OK", 1), news("g", "ERR", 0, 2), offset=1)
        await until(lambda: clock.now_ms() > 7 * 86_400_000)
        hook.down = False
        await harness.idle()

    log = play({"hook": hook}, news("g", "ERR", 0), ends, clock=clock, deadline_ms=60_000)
    assert sent(hook, "g") == [*BOTH, ("opened", "ERR")]
    assert log.dead_letters() == []
