"""What `warren notify explain` says is what the router does."""

from itertools import product

from hypothesis import given, strategies as st
from notifier.builders import OPENED_AT, change, route
from warren.settings.notifier import DAYS
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.routes import Grouping, Route, explain

ROUTES = [
    route("a", ("mail",), minimum_severity="ERR", continue_matching=True),
    route("b", ("mail", "hook"), clusters=["^prod"], groups_deny=["^test"]),
    route("quiet", ("hook", "pager"), mute=[{"days": list(DAYS)}], continue_matching=True),
    route("c", ("hook",), groups_allow=["ing$"], continue_matching=True),
    route("d", ("pager",), event_types=["warren.group.freshness.changed"]),
    route("e", ("pager",), minimum_severity="OK"),
]


@given(
    st.lists(st.sampled_from(ROUTES), unique=True),
    st.sampled_from(["OK", "WARN", "ERR"]),
    st.sampled_from(["prod", "test"]),
    st.sampled_from(["billing", "test-it", "other"]),
)
def test_whom_the_router_tells_is_whom_it_names(
    routes: list[Route], status: str, cluster: str, group: str
) -> None:
    of = change(status, cluster=cluster, group=group)  # type: ignore[arg-type]
    decision = Router(routes, 1).on_change(of, 0, None, {}, OPENED_AT)
    told = {(one.route, one.channel) for one in decision.deliveries}
    parts = explain(routes, Grouping(routes), of, OPENED_AT)
    named = {(part.name, channel.name) for part in parts for channel in part.channels}
    assert named == told
    others = {(channel, name) for part in parts for channel, name in part.elsewhere}
    assert {(channel, name) for name, channel in told} >= others
    assert [part.name for part in parts] == [one.name for one in routes]


def test_a_route_says_why_it_does_not_match() -> None:
    for one, status, group in product(ROUTES, ("OK", "WARN", "ERR"), ("billing", "test-it")):
        of = change(status, group=group)  # type: ignore[arg-type]
        assert one.matches(of) == (one.mismatch(of) is None)


def test_how_it_is_grouped_and_muted() -> None:
    quiet = route(
        "quiet",
        ("mail", "hook"),
        mute=[{"from": "06:30", "to": "08:00", "zone": "UTC"}],
        group_wait=5,
    )
    (part,) = explain([quiet], Grouping([quiet], {"mail"}), change(), OPENED_AT)
    mail, hook = part.channels
    assert mail.digest is not None
    assert mail.digest.cluster == "prod"
    assert (mail.wait_ms, hook.digest) == (5000, None)
    assert part.muted_until == 1_795_248_000_000


def test_who_tells_a_channel_of_a_route_that_is_muted_and_of_one_that_comes_later() -> None:
    quiet = [{"from": "06:30", "to": "08:00", "zone": "UTC"}]
    routes = [
        route("mm1", ("mx", "mz"), mute=quiet, continue_matching=True),
        route("mm2", ("mx", "my"), continue_matching=True),
        route("mm3", ("my",)),
    ]
    parts = explain(routes, Grouping(routes), change(), OPENED_AT)
    assert [[channel.name for channel in part.channels] for part in parts] == [
        ["mz"],
        ["mx", "my"],
        [],
    ]
    assert [part.elsewhere for part in parts] == [(("mx", "mm2"),), (), (("my", "mm2"),)]
