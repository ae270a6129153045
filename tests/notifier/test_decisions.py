"""Decisions: what is delivered because of a change."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from notifier.builders import MINUTE, OPENED_AT, change, route
from warren.contracts import OpenIncident, PendingDelivery
from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, Router, delivery_id
from warren_notifier.routing.routes import Route

HOUR = 60 * MINUTE
NOW = OPENED_AT


def router(*routes: Route) -> Router:
    return Router(routes or (route(),), HOUR)


def decided(
    at: Router,
    what: Change,
    incident: OpenIncident | None = None,
    under_way: Collection[str] = (),
    now: int = NOW,
) -> Decision:
    return at.on_change(what, 7, incident, under_way, now)


def reached(incident: OpenIncident | None, *channels: str) -> OpenIncident:
    assert incident is not None
    return incident.model_copy(update={"reached": list(channels)})


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
    assert kinds(decided(router(), worse, reached(opened.incident, "mail")).deliveries) == [
        ("mail", "changed")
    ]
    assert kinds(decided(router(), worse, opened.incident, {"mail"}).deliveries) == [
        ("mail", "changed")
    ]


def test_where_the_opening_failed_the_next_news_opens() -> None:
    opened = decided(router(), change("WARN"))
    worse = decided(router(), change("ERR", event_id="event-2"), opened.incident)
    assert kinds(worse.deliveries) == [("mail", "opened")]


def test_an_easing_below_the_minimum_is_silent_and_the_incident_stays() -> None:
    strict = router(route(minimum_severity="ERR"))
    opened = decided(strict, change("ERR"))
    easing = change("WARN", previous="ERR", event_id="event-2")
    eased = decided(strict, easing, reached(opened.incident, "mail"))
    assert eased.deliveries == ()
    closed = decided(strict, change("OK", event_id="event-3"), eased.incident)
    assert kinds(closed.deliveries) == [("mail", "resolved")]


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
        closed = decided(router(), self.CLOSING, reached(opened.incident, "mail"))
        assert closed.incident is None
        assert kinds(closed.deliveries) == [("mail", "resolved")]
        assert not closed.deliveries[0].awaits_opening

    def test_awaits_the_opening_where_that_has_not_arrived(self) -> None:
        opened = decided(router(route(channels=("mail", "hook"))), change())
        both = router(route(channels=("mail", "hook")))
        closed = decided(both, self.CLOSING, reached(opened.incident, "hook"))
        assert {d.channel: d.awaits_opening for d in closed.deliveries} == {
            "mail": True,
            "hook": False,
        }

    def test_goes_nowhere_without_an_opening(self) -> None:
        assert decided(router(), self.CLOSING) == Decision(None)

    def test_goes_to_the_routes_that_told_not_to_those_that_match(self) -> None:
        two = router(route("pager", ("pager",), minimum_severity="ERR"), route("mail", ("mail",)))
        warned = decided(two, change("WARN"))
        worse = decided(two, change("ERR", event_id="e2"), reached(warned.incident, "mail"))
        assert kinds(worse.deliveries) == [("pager", "opened")]
        closed = decided(two, self.CLOSING, reached(worse.incident, "mail", "pager"))
        assert kinds(closed.deliveries) == [("pager", "resolved"), ("mail", "resolved")]

    def test_is_not_sent_where_it_is_not_wanted(self) -> None:
        quiet = router(route(send_resolved=False))
        opened = decided(quiet, change())
        assert decided(quiet, self.CLOSING, reached(opened.incident, "mail")).deliveries == ()

    @pytest.mark.parametrize("reason", ["group_deleted", "group_expired"])
    def test_a_group_that_is_gone_closes_too(self, reason: str) -> None:
        opened = decided(router(), change())
        gone = change("NOTFOUND", previous="ERR", event_id="event-2", reason=reason)
        closed = decided(router(), gone, reached(opened.incident, "mail"))
        assert kinds(closed.deliveries) == [("mail", "resolved")]
        assert closed.incident is None

    def test_routes_and_channels_that_were_removed_get_nothing(self) -> None:
        two = router(route("old", ("mail",), continue_matching=True), route("new", ("hook", "x")))
        opened = reached(decided(two, change()).incident, "mail", "hook", "x")
        fewer = router(route("new", ("hook",)))
        assert kinds(decided(fewer, self.CLOSING, opened).deliveries) == [("hook", "resolved")]


def test_another_incident_replaces_one_whose_end_was_not_seen() -> None:
    first = decided(router(), change())
    second = decided(
        router(), change(event_id="e2", incident_id="incident-2"), reached(first.incident, "mail")
    )
    assert second.incident is not None
    assert second.incident.incident_id == "incident-2"
    assert kinds(second.deliveries) == [("mail", "opened")]


class TestRepeats:
    ROUTER = router(route(repeat_interval=600))

    def opened(self) -> OpenIncident:
        return reached(decided(self.ROUTER, change()).incident, "mail")

    def repeat(
        self, incident: OpenIncident, now: int, under_way: Collection[str] = ()
    ) -> Decision | None:
        return self.ROUTER.on_repeat(change(), incident, under_way, now)

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
        worse = decided(self.ROUTER, change(event_id="e2"), self.opened(), now=NOW + 500_000)
        assert worse.incident is not None
        assert self.repeat(worse.incident, NOW + 600_000) is None

    def test_nothing_is_repeated_where_something_is_under_way(self) -> None:
        skipped = self.repeat(self.opened(), NOW + 600_000, {"mail"})
        assert skipped is not None
        assert skipped.deliveries == ()
        assert skipped.incident is not None
        assert self.repeat(skipped.incident, NOW + 600_000) is None

    def test_not_below_the_minimum(self) -> None:
        strict = router(route(repeat_interval=600, minimum_severity="ERR"))
        opened = reached(decided(strict, change("ERR")).incident, "mail")
        easing = change("WARN", previous="ERR", event_id="e2")
        eased = decided(strict, easing, opened)
        assert eased.incident is not None
        assert strict.on_repeat(easing, eased.incident, (), NOW + HOUR) is None

    def test_never_by_default(self) -> None:
        opened = decided(router(), change()).incident
        assert opened is not None
        assert router().on_repeat(change(), opened, (), NOW + 100 * HOUR) is None
