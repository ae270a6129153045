"""Routes: which changes go to which channels, by which route, and what is told together.

Several routes may name a channel. One tells it, so that it hears of a change once; none that is
muted does as long as another one is not.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from warren.contracts import TEST_CLUSTER, DeliveryKind, DigestKey
from warren.patterns import Expression, expressions
from warren.settings.notifier import DAYS, MuteWindow, RouteSettings

from warren_notifier.routing.change import Change, Severity

_DAY = timedelta(days=1)
_WEEK = 7  # windows that follow on one another are followed for so many days


def muted_until(windows: Sequence[MuteWindow], now: int) -> int | None:
    """When the windows that hold at `now`, and those that they run into, are over; None: none
    holds. Unix milliseconds.
    """
    end = _covered_until(windows, now)
    if end is None:
        return None
    limit = now + _WEEK * 86_400_000
    while end < limit and (further := _covered_until(windows, end)) is not None:
        end = further
    return end


def _covered_until(windows: Iterable[MuteWindow], at: int) -> int | None:
    ends = [end for window in windows for begin, end in _around(window, at) if begin <= at < end]
    return max(ends, default=None)


def _around(window: MuteWindow, at: int) -> Iterator[tuple[int, int]]:
    """Begin and end of the window that began on the day of `at`, and of the one before."""
    zone = ZoneInfo(window.zone)
    today = datetime.fromtimestamp(at / 1000, zone).date()
    for day in (today - _DAY, today):
        if not window.days or DAYS[day.weekday()] in window.days:
            begin, end = window.begin, window.end
            last = day if end is not None and begin < end else day + _DAY
            # Of a wall clock's time that comes twice a window takes the first as its begin and the
            # second as its end; one that does not come at all is as much later (PEP 495: fold=0).
            yield (
                _milliseconds(day, begin, zone, fold=0),
                max(_milliseconds(last, end or time(), zone, fold=fold) for fold in (0, 1)),
            )


def _milliseconds(day: date, at: time, zone: ZoneInfo, fold: int) -> int:
    moment = datetime.combine(day, at, zone).replace(fold=fold)
    return round(moment.astimezone(UTC).timestamp() * 1000)


GROUP_WAIT = 30.0  # seconds, of what is told together
GROUP_INTERVAL = 300.0  # seconds, where the route is gone


class Route:
    """A route of the settings, its expressions compiled. They are searched for, not anchored."""

    def __init__(self, settings: RouteSettings, *, is_test: bool = False) -> None:
        """`is_test`: it is for tests, and nothing else is."""
        self._is_test = is_test
        self.name = settings.name
        self.channels = tuple(dict.fromkeys(settings.channels))
        self.minimum_severity = Severity[settings.minimum_severity]
        self.send_resolved = settings.send_resolved
        self.repeat_interval_ms = round(settings.repeat_interval * 1000)
        self.continue_matching = settings.continue_matching
        self.mute = tuple(settings.mute)
        self.group_wait = settings.group_wait
        self.group_interval = settings.group_interval
        self._event_types = frozenset(settings.event_types)
        self._clusters = expressions(settings.clusters)
        self._groups_allow = expressions(settings.groups_allow)
        self._groups_deny = expressions(settings.groups_deny)

    def matches(self, change: Change) -> bool:
        """Whether the change is for this route, its severity included: of a group's incident,
        whether one of its conditions is.
        """
        subject = change.subject
        return (
            any(
                part.severity >= self.minimum_severity
                and (not self._event_types or part.event_type in self._event_types)
                for part in change.parts
            )
            and (not self._clusters or _any(self._clusters, subject.cluster))
            and (not self._groups_allow or _any(self._groups_allow, subject.group))
            and not _any(self._groups_deny, subject.group)
            and (subject.cluster == TEST_CLUSTER) == self._is_test
        )

    def mismatch(self, change: Change) -> str | None:
        """Why `matches` says no, for people; None where it says yes."""
        subject = change.subject
        if change.severity < self.minimum_severity:
            return f"minimum_severity is {self.minimum_severity.name}"
        types = {part.event_type for part in change.parts}
        if self._event_types and not types & self._event_types:
            return f"event_types has no {', '.join(sorted(types))}"
        if self._clusters and not _any(self._clusters, subject.cluster):
            return "clusters has no expression that matches"
        if self._groups_allow and not _any(self._groups_allow, subject.group):
            return "groups_allow has no expression that matches"
        if (denied := _first(self._groups_deny, subject.group)) is not None:
            return f"groups_deny has {denied}"
        if (subject.cluster == TEST_CLUSTER) != self._is_test:
            return f"cluster {TEST_CLUSTER} is for tests"
        return None

    def reasons(self, change: Change) -> Iterator[str]:
        """What of the settings makes `matches` say yes, for people."""
        subject = change.subject
        yield f"{change.severity.name} reaches minimum_severity {self.minimum_severity.name}"
        if self._event_types:
            types = {part.event_type for part in change.parts} & self._event_types
            yield f"event_types has {', '.join(sorted(types))}"
        cluster = _first(self._clusters, subject.cluster)
        group = _first(self._groups_allow, subject.group)
        yield "all clusters" if cluster is None else f"clusters has {cluster}"
        yield "all groups" if group is None else f"groups_allow has {group}"


def matching(routes: Sequence[Route], change: Change) -> list[Route]:
    """The first route that matches, and more as long as they ask to continue."""
    found = []
    for route in routes:
        if route.matches(change):
            found.append(route)
            if not route.continue_matching:
                break
    return found


def channels_notified(named: Sequence[tuple[Route, Sequence[str]]], now: int) -> list[list[str]]:
    """Of each route the channels that it tells. `named`: matching routes, with those they name.

    Each channel is told by the first route that is not muted; where all are, by the first that is
    so no longer.
    """
    muted = {route.name: muted_until(route.mute, now) or 0 for route, _ in named}
    tellers: dict[str, Route] = {}
    for route, channels in named:
        for channel in channels:
            before = tellers.setdefault(channel, route)
            if muted[route.name] < muted[before.name]:
                tellers[channel] = route
    return [[c for c in dict.fromkeys(cs) if tellers[c] is route] for route, cs in named]


@dataclass(frozen=True, slots=True)
class Grouping:
    """`digesting`: names of the channels that can tell many incidents in one message."""

    routes: Sequence[Route] = ()
    digesting: Collection[str] = ()

    def key(self, change: Change, route: Route, channel: str) -> DigestKey | None:
        """None: it is told alone."""
        if channel not in self.digesting:
            return None
        return DigestKey(route=route.name, cluster=change.subject.cluster)

    def wait_ms(self, route: str, key: DigestKey | None, kind: DeliveryKind) -> int:
        """How long a delivery waits for others, or an opening that is told alone for its end."""
        name = key.route if key is not None else route
        said = next((r.group_wait for r in self.routes if r.name == name), None)
        if key is None:
            return round((said or 0) * 1000) if kind == "opened" else 0
        return round((GROUP_WAIT if said is None else said) * 1000)

    def interval_ms(self, key: DigestKey) -> int:
        """Least time between two messages."""
        said = (route.group_interval for route in self.routes if route.name == key.route)
        return round(next(said, GROUP_INTERVAL) * 1000)


def _first(patterns: Iterable[Expression], text: str) -> str | None:
    """The expression that matches; None: none does."""
    return next((pattern.pattern for pattern in patterns if pattern.search(text)), None)


def _any(patterns: Iterable[Expression], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class ChannelPart:
    """`digest`: with what it is told together; None: alone. `wait_ms`: until its first message."""

    name: str
    digest: DigestKey | None
    wait_ms: int


@dataclass(frozen=True, slots=True)
class RoutePart:
    """What one route does about a change. `why_not`: None where it takes it; `why`: what makes it.

    `channels`: those that it tells. `elsewhere`: those that another route tells, with its name.
    `muted_until`: Unix milliseconds, or None.
    """

    name: str
    why_not: str | None
    why: tuple[str, ...] = ()
    channels: tuple[ChannelPart, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    muted_until: int | None = None


def explain(
    routes: Sequence[Route], grouping: Grouping, change: Change, now: int
) -> list[RoutePart]:
    """Of each route, in their order, as `Router` decides."""
    taking = matching(routes, change)
    notified = channels_notified([(route, route.channels) for route in taking], now)
    telling = {route.name: channels for route, channels in zip(taking, notified, strict=True)}
    tellers = {channel: name for name, channels in telling.items() for channel in channels}
    parts: list[RoutePart] = []
    for route in routes:
        if route not in taking:
            why_not = route.mismatch(change)
            why_not = why_not or f"{taking[-1].name} took it, without continue_matching"
            parts.append(RoutePart(route.name, why_not))
            continue
        others = [channel for channel in route.channels if tellers[channel] != route.name]
        parts.append(
            RoutePart(
                route.name,
                None,
                tuple(route.reasons(change)),
                tuple(_channel(grouping, route, one, change) for one in telling[route.name]),
                tuple((channel, tellers[channel]) for channel in others),
                muted_until(route.mute, now),
            )
        )
    return parts


def _channel(grouping: Grouping, route: Route, channel: str, change: Change) -> ChannelPart:
    key = grouping.key(change, route, channel)
    return ChannelPart(channel, key, grouping.wait_ms(route.name, key, "opened"))
