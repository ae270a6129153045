"""Incidents that are told together: one message for a storm, one thread, nothing lost by a kill."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from notifier.builders import OPENED_AT, change, event, route
from notifier.harness import Harness, Log, Scripted, play
from support.manual_clock import ManualClock
from support.waiting import until
from warren.contracts import (
    RETENTION_CHANGED,
    Breach,
    DigestKey,
    GroupStatusName,
    StatusChangeEvent,
)
from warren_notifier.channels.channel import Refused, Result, Retry
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.digest_text import digest_text
from warren_notifier.routing.routes import Grouping, Route

ROUTES = [route(channels=("mail",))]
WAIT, INTERVAL = 30_000, 300_000  # the defaults, milliseconds
HOUR = 3_600_000


class Together(Scripted):
    """Tells many in one message; `at`: when each message was tried."""

    tells_many = True

    def __init__(self, clock: ManualClock, *results: Result) -> None:
        super().__init__(*results)
        self.digests: list[Digest] = []
        self.at: list[int] = []
        self.clock = clock

    async def send_many(self, digest: Digest) -> Result:
        self.digests.append(digest)
        self.at.append(self.clock.now_ms())
        for delivery in digest.news[:-1]:
            self._results.insert(0, self._results[0]) if self._results else None
            await self.send(delivery)
        return await self.send(digest.news[-1])

    def told(self) -> list[list[tuple[str, str]]]:
        """Groups and kinds of news, by message."""
        return [
            sorted((one.subject.group, one.pending.kind) for one in digest.news)
            for digest in self.digests
        ]


def news(group: str, status: GroupStatusName = "ERR", incident: int = 1) -> StatusChangeEvent:
    return event(
        status,
        group=group,
        event_id=f"{group}-{incident}-{status}",
        incident_id=f"{group}-{incident}",
    )


def lives(
    mail: Together,
    *batches: Sequence[StatusChangeEvent],
    restarts: bool = True,
    routes: Sequence[Route] = ROUTES,
    log: Log | None = None,
) -> Log:
    """Each batch comes when the one before has been told, by default to another notifier."""
    log, clock = log or Log(), mail.clock
    for steps in [[batch] for batch in batches] if restarts else [batches]:
        play({"mail": mail}, *steps, routes=routes, log=log, clock=clock, queue_size=10_000)
    return log


def killed(mail: Together, log: Log, *events: StatusChangeEvent) -> None:
    """A life that reads them and tells nothing, and the next two."""
    known: dict[str, Any] = {"routes": ROUTES, "log": log, "clock": mail.clock}
    play({"mail": mail}, list(events), stopped=True, **known)
    for _ in range(2):
        play({"mail": mail}, **known)


def test_a_storm_of_300_groups_is_one_message_and_its_end_another() -> None:
    mail = Together(ManualClock(0))
    groups = [f"g{number}" for number in range(300)]

    async def storm(harness: Harness) -> None:
        for start in range(0, 300, 100):
            await harness.read(*(news(g) for g in groups[start : start + 100]), offset=start)
        await harness.idle()
        await harness.read(*(news(group, "OK") for group in groups), offset=300)
        await harness.idle()

    log = play({"mail": mail}, storm, clock=mail.clock, queue_size=10_000)
    opening, end = mail.digests
    assert len(opening.news) == len(end.news) == 300
    assert opening.lasting == end.lasting == []
    assert mail.at[0] >= WAIT
    assert mail.at[1] >= mail.at[0] + INTERVAL
    assert opening.thread is None
    assert end.thread == opening.digest_id
    assert log.outcomes() == ["delivered"] * 600
    assert {one.digest for one in log.audit()} == {opening.digest_id, end.digest_id}
    assert log.states() == []


def test_what_is_over_before_it_was_told_is_not_told() -> None:
    mail = Together(ManualClock(0))
    log = lives(mail, [news("a"), news("a", "OK")])
    assert mail.digests == []
    assert log.outcomes() == ["superseded", "suppressed"]
    assert log.states() == []


class TestOverBeforeItIsTold:
    """Incidents that end while the interval since the message before keeps them waiting."""

    @pytest.mark.parametrize(("lasted", "is_told"), [(WAIT, False), (WAIT + 1, True)])
    def test_what_lasted_for_longer_than_the_wait_is_told_as_over(
        self, lasted: int, is_told: bool
    ) -> None:
        mail, log = between(news("b"), later(news("b", "OK"), lasted))
        wanted = [("b", "resolved")] if is_told else []
        assert [one for message in mail.told()[1:] for one in message] == wanted
        end = log.audit()[-1]
        assert (end.kind, end.outcome) == ("resolved", "delivered" if is_told else "suppressed")
        assert mail.at[1:] == [] or mail.at[1] >= mail.at[0] + INTERVAL
        assert [one.notified for one in log.states() if one.group == "b"] == []

    def test_each_of_several_is_in_the_message(self) -> None:
        mail, _ = between(
            news("b"),
            later(news("b", "OK"), 119_000),
            later(news("b", incident=2), 130_000),
            later(news("b", "OK", 2), 257_000),
        )
        assert mail.told()[1:] == [[("b", "resolved"), ("b", "resolved")]]
        said = digest_text(mail.digests[1], "", mail.at[1])
        assert [end for name, end in said.over if name == "b"] == [
            "OK again after 1m 59s; was stopped; OK again after 2m 7s; was stopped"
        ]

    def test_an_end_is_said_beside_the_next_incident_of_the_group(self) -> None:
        next_one = later(news("b", incident=2), 130_000)
        mail, _ = between(news("b"), later(news("b", "OK"), 119_000), next_one)
        (row,) = (
            row for row in digest_text(mail.digests[1], "", mail.at[1]).worst if row.name == "b"
        )
        assert "incident before: OK again after 1m 59s; was stopped" in row.figures

    def test_lost_records_are_told_however_short_it_was(self) -> None:
        lost = losing("b", 27.0)
        over = event("OK", group="b", event_id="over", incident_id="loss")
        end = later(over, 1_000).model_copy(update={"type": RETENTION_CHANGED})
        mail, _ = between(lost, end)
        assert mail.told()[1:] == [[("b", "resolved")]]
        said = digest_text(mail.digests[1], "", mail.at[1])
        assert "27 records stay lost" in str(said.over)

    @pytest.mark.parametrize(("lasted", "is_told"), [(10_000, False), (HOUR, True)])
    def test_what_was_bad_enough_for_so_long_is_told_though_it_eases(
        self, lasted: int, is_told: bool
    ) -> None:
        severe = [route(channels=("mail",), minimum_severity="ERR")]
        eased = later(news("b", "WARN"), lasted)
        mail, _ = between(news("b"), eased, routes=severe)
        assert mail.told()[1:] == ([[("b", "opened")]] if is_told else [])
        over = later(news("b", "OK"), 2 * HOUR)
        mail, _ = between(news("b"), eased, over, routes=severe)
        assert mail.told()[1:] == ([[("b", "resolved")]] if is_told else [])


def later(published: StatusChangeEvent, after: int) -> StatusChangeEvent:
    """So many milliseconds after the incident of a test has begun."""
    at = datetime.fromtimestamp((OPENED_AT + after) / 1000, UTC)
    update = {"time": at}
    if published.data.status == "ERR":
        data = published.data.model_copy(update={"opened_at": OPENED_AT + after})
        return published.model_copy(update=update | {"data": data})
    return published.model_copy(update=update)


def between(*events: StatusChangeEvent, routes: Sequence[Route] = ROUTES) -> tuple[Together, Log]:
    """Events that come right after a message about another group, and what is told of them."""
    mail = Together(ManualClock(OPENED_AT))
    mail.tells_people = True
    return mail, lives(mail, [news("a")], events, restarts=False, routes=routes)


class TestWhatCannotWait:
    """News of groups in a digest whose newest message has just gone out."""

    @pytest.mark.parametrize(
        ("told_before", "then", "cannot_wait"),
        [
            ([], news("b", "ERR"), True),
            ([], news("b", "WARN"), False),
            ([news("b", "WARN")], news("b", "ERR"), True),
            ([news("b", "ERR")], news("b", "WARN"), False),
            ([news("b", "ERR")], news("b", "OK"), False),
        ],
    )
    def test_an_error_is_not_held_back_by_the_interval(
        self,
        told_before: list[StatusChangeEvent],
        then: StatusChangeEvent,
        cannot_wait: bool,
    ) -> None:
        mail = one_by_one([news("a", "WARN"), *told_before], [then])
        assert mail.told()[1] != []
        assert (mail.at[1] - mail.at[0] < INTERVAL) == cannot_wait
        assert mail.at[1] - mail.at[0] >= WAIT

    def test_a_loss_that_begins_is_not_either_and_one_that_lasts_is(self) -> None:
        mail = one_by_one(
            [news("a", "WARN"), news("b")], [losing("b", 9.0)], [losing("b", 27.0, "again")]
        )
        assert mail.told()[1] == [("b", "changed")]
        assert WAIT <= mail.at[1] - mail.at[0] < INTERVAL
        assert len(mail.at) == 2 or mail.at[2] - mail.at[1] >= INTERVAL

    def test_an_end_before_it_in_its_group_keeps_it_from_nothing(self) -> None:
        end, again = later(news("b", "OK"), HOUR), later(news("b", incident=2), HOUR + 1)
        mail = one_by_one([news("a", "WARN")], [news("b"), end, again])
        assert mail.told()[1:] == [[("b", "opened"), ("b", "resolved")]]
        assert mail.at[1] - mail.at[0] < INTERVAL

    def test_it_stays_so_when_newer_news_replace_it_and_over_a_kill(self) -> None:
        mail = Together(ManualClock(OPENED_AT))
        mail.tells_people = True
        killed(mail, lives(mail, [news("a", "WARN")]), news("b"), losing("b", 9.0))
        assert mail.told() == [[("a", "opened")], [("b", "opened")]]
        assert mail.at[1] - mail.at[0] < INTERVAL

    def test_a_flood_is_at_most_four_messages_in_two_intervals(self) -> None:
        mail = one_by_one(*([news(f"g{number}")] for number in range(20)))
        length = 2 * INTERVAL
        windows = ([at for at in mail.at if first <= at < first + length] for first in mail.at)
        assert max(map(len, windows)) == 4


def losing(group: str, lost: float, id_: str = "losing") -> StatusChangeEvent:
    """A group that loses records."""
    breach = Breach(
        objective=group,
        limit="lost_records",
        status="ERR",
        since=OPENED_AT,
        value=lost,
        wanted=0.0,
        sentence=f"{lost:.0f} unread records deleted",
    )
    made = event(group=group, event_id=f"{group}-{id_}", incident_id="loss", objectives=[breach])
    return made.model_copy(update={"type": RETENTION_CHANGED})


def one_by_one(*batches: Sequence[StatusChangeEvent]) -> Together:
    """Each batch comes when the one before has been told."""
    mail = Together(ManualClock(OPENED_AT))
    mail.tells_people = True
    lives(mail, *batches, restarts=False)
    return mail


def test_an_opening_told_alone_can_wait_for_its_end_too() -> None:
    hook, clock = Scripted(), ManualClock(0)
    routes = [route(channels=("hook",), group_wait=60)]
    begun = [news("a"), news("b"), news("a", "OK")]
    play({"hook": hook}, begun, routes=routes, clock=clock)
    assert clock.now_ms() >= 60_000
    assert [(one.subject.group, one.pending.kind) for one in hook.sent] == [("b", "opened")]


def test_a_storm_that_grows_and_ends_is_one_thread() -> None:
    mail = Together(ManualClock(0))
    events = [news("a"), news("b", "WARN"), news("a", "OK"), news("b", "OK")]
    lives(mail, *([one] for one in events), restarts=False)
    assert mail.told() == [
        [("a", "opened")],
        [("b", "opened")],
        [("a", "resolved")],
        [("b", "resolved")],
    ]
    assert [len(digest.lasting) for digest in mail.digests] == [0, 1, 1, 0]
    assert [digest.thread for digest in mail.digests] == [None, "a-1.mail", "a-1.mail", "a-1.mail"]
    assert all(b - a >= INTERVAL for a, b in pairwise(mail.at))


def test_a_restart_hurries_nothing() -> None:
    mail = Together(ManualClock(0))
    lives(mail, [news("a")], [news("b", "WARN")], [news("b", "OK")])
    assert mail.told() == [[("a", "opened")], [("b", "opened")], [("b", "resolved")]]
    assert all(b - a >= INTERVAL for a, b in pairwise(mail.at))
    assert {digest.thread for digest in mail.digests[1:]} == {"a-1.mail"}


def test_an_end_and_what_begins_after_it_are_told_in_one_message_in_order() -> None:
    mail = Together(ManualClock(0))
    lives(mail, [news("a")], [news("a", "OK"), news("a", incident=2)])
    assert [one.pending.kind for one in mail.digests[-1].news] == ["resolved", "opened"]
    assert len(mail.digests) == 2


def test_what_failed_is_tried_again_together_and_what_came_meanwhile_with_it() -> None:
    mail = Together(ManualClock(0), Retry("451 later"))

    async def read(harness: Harness) -> None:
        await harness.read(news("a"), news("b"))
        await until(lambda: len(mail.digests) == 1)
        await harness.read(news("c"), offset=2)
        await harness.idle()

    log = play({"mail": mail}, read, clock=mail.clock)
    first, again = mail.digests
    assert {one.pending.delivery_id for one in first.news} < {
        one.pending.delivery_id for one in again.news
    }
    assert sorted(log.outcomes()) == ["delivered"] * 3 + ["failed"] * 2


def test_a_kill_after_the_message_sends_the_same_message_again() -> None:
    mail = Together(ManualClock(0))

    async def read(harness: Harness) -> None:
        await harness.read(news("a"), news("b"))
        harness.writer.closes_at = "notifications"
        await until(lambda: bool(mail.digests))

    log = play({"mail": mail}, read, clock=mail.clock)
    log.offset = 2
    play({"mail": mail}, log=log, clock=mail.clock)
    one, other = mail.digests
    assert one.digest_id == other.digest_id
    assert one.thread is other.thread is None


def test_a_refusal_is_dead_lettered_for_each() -> None:
    mail = Together(ManualClock(0), Refused("550 no"))
    log = lives(mail, [news("a"), news("b")], [news("a", "OK"), news("b", "OK")], restarts=False)
    assert len(mail.digests) == 1
    assert len(log.dead_letters()) == 2
    assert log.states() == []


class Squeamish(Together):
    """Takes no message that has news of one of these groups in it; of no group at all if `all`."""

    def __init__(self, clock: ManualClock, *bad: str, everything: bool = False) -> None:
        super().__init__(clock)
        self._bad = set(bad)
        self._everything = everything

    async def send_many(self, digest: Digest) -> Result:
        if self._everything or any(one.subject.group in self._bad for one in digest.news):
            self.digests.append(digest)
            return Refused("HTTP 400: invalid_blocks", of_message=True)
        return await super().send_many(digest)


@pytest.mark.parametrize("bad", [["g0"], ["g17"], ["g32"], ["g3", "g30"], ["g8", "g9", "g10"]])
def test_who_makes_a_message_unfit_is_refused_alone(bad: list[str]) -> None:
    mail = Squeamish(ManualClock(0), *bad)
    log = lives(mail, [news(f"g{number}") for number in range(33)])
    refused = [one.group for one in log.audit() if one.outcome == "refused"]
    assert sorted(refused) == sorted(bad)
    assert log.outcomes().count("delivered") == 33 - len(bad)
    assert len(log.dead_letters()) == len(bad)
    assert len(mail.digests) <= 1 + 2 * 6 * len(bad)
    assert "in two parts" in log.audit()[0].detail


def test_a_receiver_that_takes_no_message_at_all_is_not_asked_about_each() -> None:
    mail = Squeamish(ManualClock(0), everything=True)
    log = lives(mail, [news(f"g{number}") for number in range(300)])
    assert log.outcomes().count("refused") == len(log.dead_letters()) == 300
    assert len(mail.digests) < 40


def test_who_is_told_alone() -> None:
    grouping = Grouping([route()], ["mail"])
    assert grouping.key(change(), route(), "mail") == DigestKey(route="all", cluster="prod")
    assert grouping.key(change(), route(), "hook") is None
