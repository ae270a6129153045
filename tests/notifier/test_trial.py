"""Tests of a route: told as all else, ended, and nobody else is told."""

from notifier.asked import put, silence
from notifier.builders import OPENED_AT, event, route
from notifier.harness import Harness, Scripted, kinds, play
from support.waiting import until
from warren.contracts import NotificationTest
from warren.settings.notifier import DAYS
from warren.silences import Silences
from warren_notifier.channels.channel import Refused, Retry

TEST = NotificationTest(id="7d3e", route="pager", by="ada", at=OPENED_AT)
PAGER = route(
    "pager",
    ("hook", "mail"),
    clusters=["^prod$"],
    minimum_severity="ERR",
    mute=[{"days": list(DAYS)}],
    group_wait=600,
    send_resolved=False,
)


BESIDES = [route("rest", ("other",), continue_matching=True), PAGER]


async def asked(harness: Harness) -> None:
    await harness.dispatcher.test(1, TEST)  # of a partition that another one serves
    await harness.dispatcher.test(0, TEST.model_copy(update={"route": "unknown"}))
    assert not harness.pending()
    await harness.dispatcher.test(0, TEST)
    await harness.dispatcher.test(0, TEST.model_copy(update={"id": "twice"}))
    await harness.tick()  # not before the opening has arrived
    await until(lambda: not harness.pending())


def test_an_opening_and_its_end_on_the_routes_channels_and_nowhere_else() -> None:
    hook, mail, other = Scripted(), Scripted(), Scripted()
    quiet = put(Silences(), silence())
    channels = {"hook": hook, "mail": mail, "other": other}
    log = play(channels, asked, 0, routes=BESIDES, silences=quiet)
    assert kinds(hook) == kinds(mail) == ["opened", "resolved"]
    assert not other.sent
    assert {one.incident_id for one in log.audit()} == {"test-7d3e"}
    assert hook.sent[0].event is not None
    (condition,) = hook.sent[0].event.data.open
    told = condition.change
    assert (told.cluster, told.group) == ("warren-notify-test", "test of route pager")
    assert told.explanation == "this is a test, asked for by ada: nothing is wrong"
    assert log.states() == []


def test_it_is_given_up_after_a_minute_and_then_there_is_no_end() -> None:
    hook, mail = Scripted(*[Retry("busy")] * 30), Scripted(Refused("unknown"))
    log = play({"hook": hook, "mail": mail}, asked, 0, routes=[PAGER])
    assert log.outcomes("mail") == ["refused", "suppressed"]
    assert log.outcomes("hook")[-2:] == ["given_up", "suppressed"]


def test_the_next_notifier_tells_the_end() -> None:
    hook, mail, other = Scripted(), Scripted(), Scripted()
    channels = {"hook": hook, "mail": mail, "other": other}
    log = play(channels, asked, routes=BESIDES)
    play(channels, 0, event(), routes=BESIDES, log=log)
    assert kinds(hook) == kinds(mail) == ["opened", "resolved"]
    assert kinds(other) == ["opened"]
