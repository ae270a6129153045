"""Decisions: what is delivered because of a change."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, change, route
from warren.contracts import Breach, ChannelIdentity, Notified, OpenIncident, PendingDelivery
from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, Router, delivery_id
from warren_notifier.routing.reminders import on_repeat, on_start
from warren_notifier.routing.routes import Route

HOUR = 60 * MINUTE
NOW = OPENED_AT


def router(*routes: Route) -> Router:
    return Router(routes or (route(),), HOUR)


def decided(
    at: Router,
    what: Change,
    incident: OpenIncident | None = None,
    told: Mapping[str, Notified] | None = None,
    now: int = NOW,
) -> Decision:
    return at.on_change(what, 7, incident, told or {}, now)


def after(decision: Decision, *took: str, before: Mapping[str, Notified] | None = None) -> Any:
    """The incident and what channels know after a decision, once `took` have what it gave them."""
    assert decision.incident is not None
    told = dict(before or {})
    for news in decision.news:
        update: dict[str, object] = {}
        if news.delivery is not None and news.notified.channel in took:
            sent = news.delivery
            update = {"status": sent.status, "conditions": sent.conditions}
        told[news.notified.channel] = news.notified.model_copy(update=update)
    return decision.incident, told


def kinds(deliveries: Collection[PendingDelivery]) -> list[tuple[str, str]]:
    return [(delivery.channel, delivery.kind) for delivery in deliveries]


def test_an_opening_goes_to_all_channels_of_the_route() -> None:
    decision = decided(router(route(channels=("mail", "hook"))), change("WARN"))
    assert kinds(decision.deliveries) == [("mail", "opened"), ("hook", "opened")]
    first = decision.deliveries[0]
    assert first.event_id == "event-1"
    assert (first.accepted_at, first.next_attempt_at, first.deadline_at) == (NOW, NOW, NOW + HOUR)
    assert (first.offset, first.status, first.incident_id) == (7, "WARN", "incident-1")
    assert decision.incident is not None
    assert decision.incident.routes["all"].channels == ["mail", "hook"]


def test_ids_tell_everything_apart() -> None:
    ids = {
        delivery_id("e", "r", "c"),
        delivery_id("e2", "r", "c"),
        delivery_id("e", "r2", "c"),
        delivery_id("e", "r", "c2"),
        delivery_id("e", "r", "c", 1),
        delivery_id("0|e", "r", "c"),
    }
    assert len(ids) == 6
    # Receivers know them: a new version must not change them.
    assert delivery_id("e", "r", "c") == "982152c6-04c3-587e-a7e9-e54e856d1be6"


def story(routes: Sequence[Route], *turns: str) -> list[str]:
    """What each change leads to, such as `mail changed`. A turn: the status, and who took what the
    change gave them; `mail?`: perhaps.
    """
    at, incident, told, found, before = Router(routes, HOUR), None, {}, [], "OK"
    for number, turn in enumerate(turns, 1):
        status, *took = turn.split()
        reason = "group_deleted" if status == "NOTFOUND" else None
        what = change(status, previous=before, event_id=f"event-{number}", reason=reason)  # type: ignore[arg-type]  # a status
        decision, before = decided(at, what, incident, told), status
        found.append(", ".join(f"{one.channel} {one.kind}" for one in decision.deliveries))
        if decision.incident is None:
            incident, told = None, {}
            continue
        incident, told = after(decision, *took, before=told)
        for name in told:
            if f"{name}?" in took:
                told[name] = told[name].model_copy(update={"uncertain": True})
    return found


ALL, STRICT = [route()], [route(minimum_severity="ERR")]
BOTH = [route("a", ("mail", "hook"), continue_matching=True), route("b", ("hook", "pager"))]
PAGING = [route("pager", ("pager",), minimum_severity="ERR"), route("mail", ("mail",))]
QUIET = [route(send_resolved=False)]
ONE_WANTS = [route("errors", minimum_severity="ERR"), route("warnings", send_resolved=False)]
OPENED = "mail opened"


@pytest.mark.parametrize(
    ("routes", "turns", "told"),
    [
        (BOTH, ["ERR"], ["mail opened, hook opened, pager opened"]),
        (ALL, ["WARN mail", "ERR mail", "OK"], [OPENED, "mail changed", "mail resolved"]),
        (ALL, ["WARN mail?", "ERR"], [OPENED, "mail changed"]),
        (ALL, ["WARN", "ERR", "OK"], [OPENED, OPENED, "mail resolved"]),  # which nobody awaits
        (ALL, ["ERR mail", "NOTFOUND"], [OPENED, "mail resolved"]),
        (ALL, ["OK"], [""]),
        # Below the minimum: an easing is told once, where the worse was told, or may have been.
        (STRICT, ["WARN", "ERR"], ["", OPENED]),
        (STRICT, ["ERR mail", "ERR"], [OPENED, ""]),
        (STRICT, ["ERR mail mail?", "ERR"], [OPENED, "mail changed"]),
        (STRICT, ["ERR mail", "WARN mail", "WARN"], [OPENED, "mail changed", ""]),
        (STRICT, ["ERR mail", "WARN mail", "ERR"], [OPENED, "mail changed", "mail changed"]),
        (STRICT, ["ERR mail", "WARN mail", "OK"], [OPENED, "mail changed", "mail resolved"]),
        (STRICT, ["ERR mail?", "WARN"], [OPENED, "mail changed"]),
        (STRICT, ["ERR", "WARN"], [OPENED, ""]),
        # An end goes to those that were told, not to those that match.
        (
            PAGING,
            ["WARN mail", "ERR pager", "OK"],
            [OPENED, "pager opened", "mail resolved, pager resolved"],
        ),
        (QUIET, ["ERR mail", "OK"], [OPENED, ""]),
        (ONE_WANTS, ["WARN mail", "ERR mail", "OK"], [OPENED, "mail changed", "mail resolved"]),
    ],
)
def test_what_is_told_of_an_incident(
    routes: list[Route], turns: list[str], told: list[str]
) -> None:
    assert story(routes, *turns) == told


def test_another_limit_that_is_broken_is_news_at_the_same_status() -> None:
    """It may be another owner's; which is the worst of them is none."""
    late, behind = (
        Breach(
            objective="a",
            limit=limit,
            status="WARN",
            since=NOW,
            wanted=10,
            value=11,
            sentence=limit,
        )
        for limit in ("max_freshness", "max_lag")
    )
    opened = decided(router(), change("WARN", objectives=[late]))
    both = change("WARN", previous="WARN", event_id="event-2", objectives=[late, behind])
    told = decided(router(), both, *after(opened, "mail"))
    assert kinds(told.deliveries) == [("mail", "changed")]
    other = change("WARN", previous="WARN", event_id="event-3", objectives=[behind, late])
    assert decided(router(), other, *after(told, "mail")).deliveries == []
    one = change("WARN", previous="WARN", event_id="event-4", objectives=[behind])
    left = decided(router(), one, *after(told, "mail"))
    assert kinds(left.deliveries) == [("mail", "changed")]


def test_an_easing_withdraws_what_has_not_arrived() -> None:
    strict = router(*STRICT)
    incident, told = after(decided(strict, change("ERR")))
    easing = change("WARN", previous="ERR", event_id="event-2")
    (news,) = decided(strict, easing, incident, told).news
    assert (news.notified.channel, news.delivery) == ("mail", None)


NEW = route("new", ("mail", "hook"))
STARTS: list[tuple[list[Route], str, str, Sequence[str], str]] = [
    ([route(continue_matching=True), NEW], "ERR", "mail", (), "hook opened"),
    ([route(channels=("mail", "hook"))], "ERR", "mail", (), "hook opened"),
    (ALL, "ERR", "mail", (), ""),
    ([route(minimum_severity="ERR", channels=("hook",))], "WARN", "mail", (), ""),
    # What has failed, unless it is under way.
    (ALL, "ERR", "", (), "mail opened"),
    (ALL, "ERR", "", ["mail"], ""),
]


@pytest.mark.parametrize(("routes", "status", "took", "under_way", "told"), STARTS)
def test_what_a_start_tells_once(
    routes: list[Route], status: Any, took: str, under_way: Sequence[str], told: str
) -> None:
    incident, known = after(decided(router(), change(status)), *took.split())
    started = on_start(
        router(*routes), change(status), incident, known, NOW + MINUTE, set(under_way)
    )
    found = [] if started is None else kinds(started.deliveries)
    assert ", ".join(map(" ".join, found)) == told
    if started is not None:
        incident, known = after(started, *(name for name, _ in found), before=known)
        assert on_start(router(*routes), change(status), incident, known, NOW + MINUTE) is None


def test_a_start_opens_on_channels_that_lead_elsewhere_now() -> None:
    before = Router((route(channels=("hook",)),), HOUR, {"hook": HOOK})
    incident, told = after(decided(before, change("ERR")), "hook")
    moved = Router((route(channels=("hook",)),), HOUR, {"hook": OTHER})
    added = on_start(moved, change("ERR"), incident, told, NOW + MINUTE)
    assert added is not None
    assert kinds(added.deliveries) == [("hook", "opened")]
    _, told = after(added, "hook", before=told)
    assert told["hook"].identity == OTHER


def test_a_start_may_tell_that_it_got_worse() -> None:
    incident, told = after(decided(router(), change("WARN")), "mail")
    worse = change("ERR", previous="WARN", event_id="event-2")
    incident, told = after(decided(router(), worse, incident, told), before=told)
    decision = on_start(router(), worse, incident, told, NOW + MINUTE)
    assert decision is not None
    assert kinds(decision.deliveries) == [("mail", "changed")]


class TestRemindersAfterAStart:
    """Of an incident that `mail` was told of by the route `all`, ten minutes before."""

    LATER = NOW + 10 * MINUTE

    def reminded_after(self, minutes: int, *routes: Route, before: Route | None = None) -> bool:
        incident, told = after(decided(router(before or route()), change("ERR")), "mail")
        told["mail"] = told["mail"].model_copy(update={"heard_at": NOW})
        started = on_start(router(*routes), change("ERR"), incident, told, self.LATER)
        assert started is None or not started.news
        known = incident if started is None else started.incident
        now = self.LATER + minutes * MINUTE
        due = on_repeat(router(*routes), change("ERR"), known, told, (), now)
        return due is not None and kinds(due.deliveries) == [("mail", "repeated")]

    def test_go_on_under_the_new_name_of_their_route(self) -> None:
        old = route(repeat_interval=1200)
        assert self.reminded_after(20, route("other", repeat_interval=1200), before=old)

    def test_go_on_by_a_route_that_takes_the_channel_over(self) -> None:
        old, first = route(repeat_interval=1200), route("first", repeat_interval=1200)
        assert self.reminded_after(20, first, old, before=old)

    def test_begin_where_the_interval_is_new(self) -> None:
        assert not self.reminded_after(19, route(repeat_interval=1200))
        assert self.reminded_after(20, route(repeat_interval=1200))

    def test_come_sooner_where_it_is_shorter(self) -> None:
        assert self.reminded_after(
            20, route(repeat_interval=1200), before=route(repeat_interval=86_400)
        )


def test_an_end_goes_there_without_the_route_and_from_routes_without_the_channel() -> None:
    two = router(route("old", ("mail",), continue_matching=True), route("new", ("hook", "x")))
    opened = after(decided(two, change()), "mail", "hook", "x")
    closed = decided(router(route("new", ("hook",))), change("OK", event_id="event-2"), *opened)
    assert kinds(closed.deliveries) == [(name, "resolved") for name in ("mail", "hook", "x")]


def repeated(at: Router, incident: OpenIncident, minutes: Sequence[float]) -> list[Any]:
    """Minute, channel and number of what is told again at these minutes."""
    seen = []
    for minute in minutes:
        decision = on_repeat(at, change(), incident, {}, (), NOW + round(minute * MINUTE))
        if decision is not None:
            assert decision.incident is not None
            incident = decision.incident
            seen += [(minute, d.channel, d.repeat) for d in decision.deliveries]
            assert {d.kind for d in decision.deliveries} == {"repeated"}
    return seen


def opened_at(at: Router, now: int = NOW, status: Any = "ERR") -> OpenIncident:
    incident = decided(at, change(status), now=now).incident
    assert incident is not None
    return incident


REMINDING = Router([route(repeat_interval=600)], HOUR)
RESENDS = {"resends": {"alerts": 120_000}}
"""Channels that forget what they do not hear of are told again, whatever the route repeats."""
FORGETFUL = Router([route(channels=("mail", "alerts"), repeat_interval=600)], HOUR, **RESENDS)  # type: ignore[arg-type]
MINUTES = [1.99, *range(2, 21)]


@pytest.mark.parametrize(
    ("router", "seen"),
    [
        (Router([route()], HOUR), []),
        (REMINDING, [(10, "mail", 1), (20, "mail", 2)]),
        (
            FORGETFUL,
            sorted(
                [(2 * n, "alerts", n) for n in range(1, 11)] + [(10, "mail", 1), (20, "mail", 2)],
                key=lambda one: (one[0], one[1] == "alerts"),
            ),
        ),
        (
            Router([route(channels=("mail", "alerts"))], HOUR, **RESENDS),  # type: ignore[arg-type]
            [(2 * n, "alerts", n) for n in range(1, 11)],
        ),
    ],
)
def test_reminders(router: Router, seen: list[Any]) -> None:
    assert repeated(router, opened_at(router), MINUTES) == seen


@pytest.mark.parametrize("at", [REMINDING, FORGETFUL])
def test_news_start_the_interval_anew(at: Router) -> None:
    worse = decided(at, change("WARN", event_id="e2"), opened_at(at), now=NOW + MINUTE).incident
    assert worse is not None
    interval = 2 if at is FORGETFUL else 10
    first = repeated(at, worse, [interval, interval + 1])
    assert [minute for minute, *_ in first] == [interval + 1]


def test_nothing_is_repeated_where_something_is_under_way() -> None:
    skipped = on_repeat(REMINDING, change(), opened_at(REMINDING), {}, {"mail"}, NOW + 600_000)
    assert skipped is not None
    assert skipped.deliveries == []
    assert skipped.incident is not None
    assert repeated(REMINDING, skipped.incident, [10]) == []


def test_nobody_is_reminded_below_the_minimum() -> None:
    strict = router(route(repeat_interval=600, minimum_severity="ERR"))
    easing = change("WARN", previous="ERR", event_id="e2")
    eased = decided(strict, easing, *after(decided(strict, change("ERR")), "mail"))
    assert eased.incident is not None
    due = on_repeat(strict, easing, eased.incident, {}, (), NOW + HOUR)
    assert due is not None
    assert not due.news
    assert due.incident is not None
    assert on_repeat(strict, easing, due.incident, {}, (), NOW + HOUR) is None


def test_a_channel_that_was_added_is_told_again_too() -> None:
    started = on_start(FORGETFUL, change(), opened_at(router()), {}, NOW)
    assert started is not None
    assert started.incident is not None
    assert repeated(FORGETFUL, started.incident, [2]) == [(2, "alerts", 1)]


HOOK, OTHER, MOVED = (
    ChannelIdentity(kind="webhook", place=place, digest=digest)
    for place, digest in (("a:443", "1"), ("b:443", "2"), ("a:443", "3"))
)
MAIL = ChannelIdentity(kind="email", place="", digest="1")


@pytest.mark.parametrize(
    ("identities", "channel"),
    [
        ({"hook": HOOK, "same": HOOK}, "hook"),
        ({"other": OTHER, "renamed": HOOK}, "renamed"),
        ({"hook": OTHER, "renamed": HOOK}, "renamed"),
        ({"hook": MOVED, "other": OTHER}, "hook"),
        ({"hook": OTHER}, None),
        ({"hook": MAIL}, None),
        ({"moved": MOVED}, None),
        ({}, None),
    ],
)
def test_a_channel_is_found_by_what_it_leads_to(
    identities: dict[str, ChannelIdentity], channel: str | None
) -> None:
    told = Notified(incident_id="i", channel="hook", route="all", identity=HOOK)
    assert Router((), HOUR, identities).channel_of(told) == channel
    unknown = told.model_copy(update={"identity": None})
    assert Router((), HOUR, identities).channel_of(unknown) == "hook"
