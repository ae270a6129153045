"""Decisions: what is delivered because of a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, change, route
from warren.contracts import Breach, ChannelIdentity, OpenIncident, PendingDelivery, Told
from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, Router, delivery_id
from warren_notifier.routing.repeats import on_repeat
from warren_notifier.routing.routes import Route
from warren_notifier.routing.start import on_start

HOUR = 60 * MINUTE
NOW = OPENED_AT


def router(*routes: Route) -> Router:
    return Router(routes or (route(),), HOUR)


def decided(
    at: Router,
    what: Change,
    incident: OpenIncident | None = None,
    told: Mapping[str, Told] | None = None,
    now: int = NOW,
) -> Decision:
    return at.on_change(what, 7, incident, told or {}, now)


def after(decision: Decision, *took: str, before: Mapping[str, Told] | None = None) -> Any:
    """The incident and what channels know after a decision, once `took` have what it gave them."""
    assert decision.incident is not None
    told = dict(before or {})
    for news in decision.news:
        update: dict[str, object] = {}
        if news.delivery is not None and news.told.channel in took:
            sent = news.delivery
            update = {"status": sent.status, "conditions": sent.conditions}
        told[news.told.channel] = news.told.model_copy(update=update)
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


def test_the_same_change_gives_the_same_deliveries() -> None:
    assert decided(router(), change()) == decided(router(), change())


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


def test_a_worsening_is_news_where_the_opening_arrived() -> None:
    opened = decided(router(), change("WARN"))
    worse = change("ERR", previous="WARN", event_id="event-2")
    taken = decided(router(), worse, *after(opened, "mail"))
    assert kinds(taken.deliveries) == [("mail", "changed")]
    incident, told = after(opened)
    told = {"mail": told["mail"].model_copy(update={"uncertain": True})}
    assert kinds(decided(router(), worse, incident, told).deliveries) == [("mail", "changed")]


def test_what_a_channel_knows_already_is_not_told() -> None:
    strict = router(route(minimum_severity="ERR"))
    opened = decided(strict, change("ERR"))
    incident, told = after(opened, "mail")
    again = change("ERR", previous="WARN", event_id="event-3")
    assert decided(strict, again, incident, told).deliveries == []
    unsure = {"mail": told["mail"].model_copy(update={"uncertain": True})}
    assert kinds(decided(strict, again, incident, unsure).deliveries) == [("mail", "changed")]


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


def test_where_the_opening_failed_the_next_news_opens() -> None:
    opened = decided(router(), change("WARN"))
    worse = decided(router(), change("ERR", event_id="event-2"), *after(opened))
    assert kinds(worse.deliveries) == [("mail", "opened")]


class TestEasingBelowTheMinimum:
    STRICT = router(route(minimum_severity="ERR"))
    EASING = change("WARN", previous="ERR", event_id="event-2")

    def test_is_news_where_the_worse_was_told_and_the_incident_stays(self) -> None:
        incident, told = after(decided(self.STRICT, change("ERR")), "mail")
        eased = decided(self.STRICT, self.EASING, incident, told)
        assert kinds(eased.deliveries) == [("mail", "changed")]
        assert eased.deliveries[0].route == "all"
        incident, told = after(eased, "mail", before=told)
        again = decided(
            self.STRICT, change("ERR", previous="WARN", event_id="event-3"), incident, told
        )
        assert kinds(again.deliveries) == [("mail", "changed")]
        closed = decided(self.STRICT, change("OK", event_id="event-3"), incident, told)
        assert kinds(closed.deliveries) == [("mail", "resolved")]

    def test_is_told_once(self) -> None:
        incident, told = after(decided(self.STRICT, change("ERR")), "mail")
        incident, told = after(
            decided(self.STRICT, self.EASING, incident, told), "mail", before=told
        )
        once_more = change("WARN", previous="WARN", event_id="event-3")
        assert decided(self.STRICT, once_more, incident, told).news == ()

    def test_withdraws_what_has_not_arrived(self) -> None:
        incident, told = after(decided(self.STRICT, change("ERR")))
        (news,) = decided(self.STRICT, self.EASING, incident, told).news
        assert (news.told.channel, news.delivery) == ("mail", None)

    def test_goes_where_the_worse_may_have_arrived(self) -> None:
        incident, told = after(decided(self.STRICT, change("ERR")))
        unsure = {"mail": told["mail"].model_copy(update={"uncertain": True})}
        eased = decided(self.STRICT, self.EASING, incident, unsure)
        assert kinds(eased.deliveries) == [("mail", "changed")]


class TestRoutesThatWereAdded:
    def test_open_what_is_open(self) -> None:
        incident, told = after(decided(router(), change("ERR")), "mail")
        more = router(route(continue_matching=True), route("new", ("mail", "hook")))
        added = on_start(more, change("ERR"), incident, told, NOW + MINUTE)
        assert added is not None
        assert kinds(added.deliveries) == [("hook", "opened")]
        incident, told = after(added, "hook", before=told)
        assert on_start(more, change("ERR"), incident, told, NOW + MINUTE) is None

    def test_so_do_channels_of_a_route(self) -> None:
        incident, told = after(decided(router(), change("ERR")), "mail")
        added = on_start(
            router(route(channels=("mail", "hook"))), change("ERR"), incident, told, NOW
        )
        assert added is not None
        assert kinds(added.deliveries) == [("hook", "opened")]

    def test_so_do_channels_that_lead_elsewhere_now(self) -> None:
        there = OTHER
        before = Router((route(channels=("hook",)),), HOUR, {"hook": HOOK})
        incident, told = after(decided(before, change("ERR")), "hook")
        moved = Router((route(channels=("hook",)),), HOUR, {"hook": there})
        added = on_start(moved, change("ERR"), incident, told, NOW + MINUTE)
        assert added is not None
        assert kinds(added.deliveries) == [("hook", "opened")]
        incident, told = after(added, "hook", before=told)
        assert told["hook"].identity == there
        assert on_start(moved, change("ERR"), incident, told, NOW + MINUTE) is None

    def test_say_nothing_where_nothing_was_added(self) -> None:
        incident, told = after(decided(router(), change("ERR")), "mail")
        assert on_start(router(), change("ERR"), incident, told, NOW) is None
        assert on_start(router(), change("ERR"), incident, {}, NOW) is None  # of an earlier version

    def test_only_when_they_match(self) -> None:
        incident, told = after(decided(router(), change("WARN")), "mail")
        strict = router(route(minimum_severity="ERR", channels=("hook",)))
        assert on_start(strict, change("WARN"), incident, told, NOW) is None


class TestWhatHasFailed:
    def test_is_told_at_the_next_start(self) -> None:
        incident, told = after(decided(router(), change("ERR")))
        decision = on_start(router(), change("ERR"), incident, told, NOW + MINUTE)
        assert decision is not None
        assert kinds(decision.deliveries) == [("mail", "opened")]
        assert decision.incident == incident

    def test_is_not_while_it_is_under_way(self) -> None:
        incident, told = after(decided(router(), change("ERR")))
        assert on_start(router(), change("ERR"), incident, told, NOW, {"mail"}) is None

    def test_may_be_that_it_got_worse(self) -> None:
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


def test_a_channel_of_two_routes_gets_a_change_once() -> None:
    both = router(
        route("a", ("mail", "hook"), continue_matching=True), route("b", ("hook", "pager"))
    )
    decision = decided(both, change())
    assert [(d.route, d.channel) for d in decision.deliveries] == [
        ("a", "mail"),
        ("a", "hook"),
        ("b", "pager"),
    ]


class TestClosing:
    CLOSING = change("OK", previous="ERR", event_id="event-2")

    def test_goes_where_the_opening_arrived(self) -> None:
        opened = decided(router(), change())
        closed = decided(router(), self.CLOSING, *after(opened, "mail"))
        assert closed.incident is None
        assert kinds(closed.deliveries) == [("mail", "resolved")]

    def test_goes_nowhere_without_an_opening(self) -> None:
        assert decided(router(), self.CLOSING) == Decision(None)

    def test_goes_to_the_routes_that_told_not_to_those_that_match(self) -> None:
        two = router(route("pager", ("pager",), minimum_severity="ERR"), route("mail", ("mail",)))
        warned = decided(two, change("WARN"))
        incident, told = after(warned, "mail")
        worse = decided(two, change("ERR", event_id="e2"), incident, told)
        assert kinds(worse.deliveries) == [("pager", "opened")]
        closed = decided(two, self.CLOSING, *after(worse, "pager", before=told))
        assert kinds(closed.deliveries) == [("mail", "resolved"), ("pager", "resolved")]

    def test_is_not_sent_where_it_is_not_wanted(self) -> None:
        quiet = router(route(send_resolved=False))
        opened = decided(quiet, change())
        assert decided(quiet, self.CLOSING, *after(opened, "mail")).deliveries == []

    def test_is_sent_where_any_route_wants_it(self) -> None:
        warnings = route("warnings", minimum_severity="WARN", send_resolved=False)
        errors = route("errors", minimum_severity="ERR")
        both = router(errors, warnings)
        warned = decided(both, change("WARN"))
        incident, told = after(warned, "mail")
        worse = decided(both, change("ERR", event_id="e2"), incident, told)
        closed = decided(both, self.CLOSING, *after(worse, "mail", before=told))
        assert [(d.route, d.kind) for d in closed.deliveries] == [("errors", "resolved")]

    @pytest.mark.parametrize("reason", ["group_deleted", "group_expired"])
    def test_a_group_that_is_gone_closes_too(self, reason: str) -> None:
        opened = decided(router(), change())
        gone = change("NOTFOUND", previous="ERR", event_id="event-2", reason=reason)
        closed = decided(router(), gone, *after(opened, "mail"))
        assert kinds(closed.deliveries) == [("mail", "resolved")]
        assert closed.incident is None

    def test_goes_there_without_the_route_and_from_routes_without_the_channel(self) -> None:
        two = router(route("old", ("mail",), continue_matching=True), route("new", ("hook", "x")))
        opened = after(decided(two, change()), "mail", "hook", "x")
        fewer = router(route("new", ("hook",)))
        closed = decided(fewer, self.CLOSING, *opened)
        assert kinds(closed.deliveries) == [(name, "resolved") for name in ("mail", "hook", "x")]


def test_another_incident_replaces_one_whose_end_was_not_seen() -> None:
    first = decided(router(), change())
    second = decided(
        router(), change(event_id="e2", incident_id="incident-2"), *after(first, "mail")
    )
    assert second.incident is not None
    assert second.incident.incident_id == "incident-2"
    assert kinds(second.deliveries) == [("mail", "opened")]


class TestRepeats:
    ROUTER = router(route(repeat_interval=600))

    def opened(self) -> OpenIncident:
        incident: OpenIncident = after(decided(self.ROUTER, change()))[0]
        return incident

    def repeat(
        self, incident: OpenIncident, now: int, under_way: Collection[str] = ()
    ) -> Decision | None:
        return on_repeat(self.ROUTER, change(), incident, {}, under_way, now)

    def test_at_every_interval_with_an_id_of_its_own(self) -> None:
        incident = self.opened()
        assert self.repeat(incident, NOW + 600_000 - 1) is None
        first = self.repeat(incident, NOW + 600_000)
        assert first is not None
        assert kinds(first.deliveries) == [("mail", "repeated")]
        assert first.incident is not None
        assert self.repeat(first.incident, NOW + 600_000) is None
        second = self.repeat(first.incident, NOW + 1_200_000)
        assert second is not None
        numbers = [d.repeat for d in (*first.deliveries, *second.deliveries)]
        assert numbers == [1, 2]
        ids = {d.delivery_id for d in (*first.deliveries, *second.deliveries)}
        assert len(ids | {delivery_id("event-1", "all", "mail")}) == 3

    def test_news_start_the_interval_anew(self) -> None:
        worse = decided(
            self.ROUTER, change("WARN", event_id="e2"), self.opened(), now=NOW + 500_000
        )
        assert worse.incident is not None
        assert self.repeat(worse.incident, NOW + 600_000) is None

    def test_nothing_is_repeated_where_something_is_under_way(self) -> None:
        skipped = self.repeat(self.opened(), NOW + 600_000, {"mail"})
        assert skipped is not None
        assert skipped.deliveries == []
        assert skipped.incident is not None
        assert self.repeat(skipped.incident, NOW + 600_000) is None

    def test_not_below_the_minimum(self) -> None:
        strict = router(route(repeat_interval=600, minimum_severity="ERR"))
        opened = after(decided(strict, change("ERR")), "mail")
        easing = change("WARN", previous="ERR", event_id="e2")
        eased = decided(strict, easing, *opened)
        assert eased.incident is not None
        due = on_repeat(strict, easing, eased.incident, {}, (), NOW + HOUR)
        assert due is not None
        assert not due.news
        assert due.incident is not None
        assert on_repeat(strict, easing, due.incident, {}, (), NOW + HOUR) is None

    def test_never_by_default(self) -> None:
        opened = decided(router(), change()).incident
        assert opened is not None
        assert on_repeat(router(), change(), opened, {}, (), NOW + 100 * HOUR) is None


class TestResends:
    """Channels that forget what they do not hear of are told again, whatever the route repeats."""

    ROUTE = route(channels=("mail", "alerts"), repeat_interval=600)
    ROUTER = Router([ROUTE], HOUR, resends={"alerts": 120_000})

    def told(self, incident: OpenIncident, now: int) -> Decision | None:
        return on_repeat(self.ROUTER, change(), incident, {}, (), now)

    def opened(self) -> OpenIncident:
        incident = decided(self.ROUTER, change()).incident
        assert incident is not None
        return incident

    def test_each_at_its_own_interval(self) -> None:
        incident, seen = self.opened(), []
        assert self.told(incident, NOW + 119_999) is None
        for minute in range(1, 11):
            decision = self.told(incident, NOW + minute * MINUTE)
            if decision is not None:
                assert decision.incident is not None
                incident = decision.incident
                seen += [(minute, d.channel, d.kind, d.repeat) for d in decision.deliveries]
        alerts = [(2 * n, "alerts", "repeated", n) for n in range(1, 6)]
        assert seen == [*alerts[:4], (10, "mail", "repeated", 1), alerts[4]]

    def test_also_on_a_route_that_repeats_nothing(self) -> None:
        quiet = Router([route(channels=("mail", "alerts"))], HOUR, resends={"alerts": 120_000})
        incident = decided(quiet, change()).incident
        assert incident is not None
        decision = on_repeat(quiet, change(), incident, {}, (), NOW + HOUR)
        assert decision is not None
        assert kinds(decision.deliveries) == [("alerts", "repeated")]

    def test_news_count_as_well(self) -> None:
        later = NOW + 100_000
        worse = decided(
            self.ROUTER, change("WARN", event_id="e2"), self.opened(), {}, now=later
        ).incident
        assert worse is not None
        assert self.told(worse, NOW + 120_000) is None
        assert self.told(worse, later + 120_000) is not None

    def test_a_channel_that_was_added_is_told_again_too(self) -> None:
        before = decided(Router([route(channels=("mail",))], HOUR), change()).incident
        assert before is not None
        started = on_start(self.ROUTER, change(), before, {}, NOW)
        assert started is not None
        assert started.incident is not None
        decision = self.told(started.incident, NOW + 120_000)
        assert decision is not None
        assert kinds(decision.deliveries) == [("alerts", "repeated")]


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
    told = Told(incident_id="i", channel="hook", route="all", identity=HOOK)
    assert Router((), HOUR, identities).channel_of(told) == channel
    unknown = told.model_copy(update={"identity": None})
    assert Router((), HOUR, identities).channel_of(unknown) == "hook"
