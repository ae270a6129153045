"""The past on pages: charts of groups, topics and clusters, a line in the list of groups, and what
happened to a group, or in one of its incidents, in one order.

Times are Unix milliseconds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Literal, NamedTuple

from markupsafe import Markup
from warren.contracts import MINUTE_MS, Acknowledgement, Silence
from warren.words import counted

from warren_api.model.archive import Archive, LongPast
from warren_api.model.group import GroupView
from warren_api.model.incidents import IncidentRecord
from warren_api.model.notifications import Attempt
from warren_api.model.past import DAY_MS, HOUR_MS, Columns, Past, in_whole_steps
from warren_api.model.status_history import RecordedChange
from warren_api.model.topics import progress_on
from warren_api.pages.charts import (
    Line,
    Mark,
    Said,
    Shade,
    StatusTimes,
    Value,
    chart,
    count_of,
    duration_of,
    mean_count_of,
    rate_of,
    rates,
    sparkline,
    status_strip,
)
from warren_api.pages.span import LONGEST_MS, SHORTEST_MS, Shown, shown as period_of


class Moment(NamedTuple):
    """`at`: Unix milliseconds; `what` says which of the others is there. `number`: of rebalances,
    or of members, of which there were `before`.
    """

    at: int
    what: Literal[
        "change",
        "attempts",
        "acknowledgement",
        "opening",
        "silence",
        "silence over",
        "rebalances",
        "members",
    ]
    change: RecordedChange | None = None
    attempts: Sequence[Attempt] = ()
    acknowledgement: Acknowledgement | None = None
    silence: Silence | None = None
    number: int = 0
    before: int = 0


def of_incident(
    incident: IncidentRecord,
    attempts: Iterable[Attempt],
    acknowledgement: Acknowledgement | None,
    silences: Iterable[Silence],
    of_members: Iterable[Moment],
    now: int,
) -> list[Moment]:
    """Newest first. The opening is there, too, where the change that told of it is forgotten.
    `silences`: of its group; `of_members`: of its time; `now`: Unix milliseconds.
    """
    end = min(incident.closed_at or now, now)
    silenced = [each for each in _of_silences(silences) if incident.opened_at <= each.at <= end]
    found = [*_told(incident.changes, attempts, acknowledgement), *silenced, *of_members]
    if all(recorded.at > incident.opened_at for recorded in incident.changes):
        found.append(Moment(incident.opened_at, "opening"))
    return _newest_first(found)


def of_group(
    changes: Iterable[RecordedChange],
    attempts: Iterable[Attempt],
    acknowledgement: Acknowledgement | None,
    silences: Iterable[Silence],
    of_members: Iterable[Moment],
    now: int,
) -> list[Moment]:
    """Newest first. `silences`: that match it; `now`: Unix milliseconds."""
    found = [*_told(changes, attempts, acknowledgement), *of_members, *_of_silences(silences)]
    return _newest_first(moment for moment in found if moment.at <= now)


def _of_silences(silences: Iterable[Silence]) -> Iterator[Moment]:
    for silence in silences:
        yield Moment(silence.begins_at, "silence", silence=silence)
        yield Moment(silence.ends_at, "silence over", silence=silence)


def rebalances(start: int, counts: Sequence[float | None]) -> list[Moment]:
    """`counts`: of each minute from `start` on. Those of minutes that follow each other are one."""
    found: list[Moment] = []
    for minute, count in enumerate(counts):
        at = start + minute * MINUTE_MS
        if not count:
            continue
        if found and at - found[-1].at == MINUTE_MS:
            found[-1] = Moment(at, "rebalances", number=found[-1].number + round(count))
        else:
            found.append(Moment(at, "rebalances", number=round(count)))
    return found


def members(start: int, counts: Sequence[float | None]) -> list[Moment]:
    """When there were more or fewer; `counts`: of each minute from `start` on."""
    known = [(start + n * MINUTE_MS, round(one)) for n, one in enumerate(counts) if one is not None]
    return [
        Moment(at, "members", number=number, before=before)
        for (_, before), (at, number) in pairwise(known)
        if number != before
    ]


TOGETHER_MS = 2 * MINUTE_MS
"""Deliveries of one thing that come to the same within that time are one line."""


def folded(attempts: Iterable[Attempt]) -> list[Moment]:
    """The oldest first."""
    found: dict[tuple[str, ...], list[list[Attempt]]] = defaultdict(list)
    for each in sorted(attempts, key=lambda attempt: attempt.event.at):
        event = each.event
        alike = found[event.incident_id, event.kind, event.status, event.outcome]
        if alike and event.at - alike[-1][0].event.at <= TOGETHER_MS:
            alike[-1].append(each)
        else:
            alike.append([each])
    several = (one for alike in found.values() for one in alike)
    return [Moment(one[0].event.at, "attempts", attempts=one) for one in several]


def _told(
    changes: Iterable[RecordedChange],
    attempts: Iterable[Attempt],
    acknowledgement: Acknowledgement | None,
) -> Iterator[Moment]:
    yield from (Moment(recorded.at, "change", change=recorded) for recorded in changes)
    yield from folded(attempts)
    if acknowledgement is not None:
        yield Moment(acknowledgement.at, "acknowledgement", acknowledgement=acknowledgement)


def _newest_first(found: Iterable[Moment]) -> list[Moment]:
    return sorted(found, key=lambda moment: moment.at, reverse=True)


_LAST_DAY_STEP = 15 * MINUTE_MS


class Drawn(NamedTuple):
    """The past of one thing: `charts` by their names, none where nothing is known. `doubt`: why
    something is missing; `longest`: of the spans that may be asked for.
    """

    shown: Shown
    charts: dict[str, Markup]
    doubt: str | None = None
    longest: int = LONGEST_MS


class _Steps:
    """Figures of each step, and charts of them."""

    def __init__(self, columns: Columns, shown: Shown) -> None:
        self._columns, self._shown = columns, shown
        steps, newest = shown.period.steps, shown.now - shown.now % MINUTE_MS
        self.at = [shown.clock(at) for at in steps]
        self.passed_ms = [max(min(shown.period.step, newest - at), MINUTE_MS) for at in steps]
        """Less than all of a step only of the newest."""

    def is_known(self, column: str = "lag") -> bool:
        known = (value is not None for value in self._columns[column])
        return self._shown.span != "1h" or any(known)

    def named(self, what: str) -> str:
        return f"{what}, {self._shown.words}"

    def rates(self, name: str, known_ms: Sequence[Value]) -> list[Value]:
        """Records a second. Where nobody knows for how long somebody looked: all the time."""
        spent = [k or passed for k, passed in zip(known_ms, self.passed_ms, strict=True)]
        return rates(self._columns[name], spent)

    def chart(
        self,
        name: str,
        lines: Sequence[Line],
        said: Said,
        least: float = 0,
        marks: Sequence[Mark] = (),
        shades: Sequence[Shade] = (),
    ) -> Markup:
        return chart(self.named(name), lines, said, marks, self.at, least, shades)


class Trends:
    """What is drawn of the past. `archive`: None where nothing is asked of one."""

    def __init__(self, past: Past, archive: Archive | None = None, sparks: int = 2_000) -> None:
        self._past = past
        self._long = LongPast(past, archive)
        self._sparks = lru_cache(sparks)(partial(_spark, past))

    def group(
        self,
        cluster: str,
        group: str,
        shown: Shown,
        changes: Sequence[RecordedChange],
        incidents: Sequence[IncidentRecord] = (),
    ) -> Drawn:
        """`changes`, `incidents`: its own, newest first."""
        start, end, _ = shown.period
        now = shown.now
        columns, doubt = self._long.group(cluster, group, shown.period, shown.older, now)
        steps, newest = _Steps(columns, shown), now - now % MINUTE_MS
        last_day = in_whole_steps(newest - DAY_MS, newest, _LAST_DAY_STEP)
        day = self._past.group(cluster, group, *last_day)
        if not steps.is_known() and all(lag is None for lag in day["lag"]):
            return Drawn(shown, {}, doubt)
        marks = [
            Mark(
                (change.at - start) / (end - start),
                f"{shown.clock(change.at)} {change.change.status} after {change.change.previous}",
            )
            for change in changes
            if start <= change.at < end
        ]
        marks += [
            Mark((n + 0.5) / len(steps.at), f"{steps.at[n]} {counted(round(count), 'rebalance')}")
            for n, count in enumerate(columns["rebalances"])
            if count
        ]
        shades = [
            _shade(each, ended, shown)
            for each in incidents
            if (ended := now if each.is_open else each.closed_at) is not None
            and ended > start
            and each.opened_at < end
        ]
        late, left = columns["late_ms"], columns["time_to_loss_ms"]
        limit = [None if a is None or b is None else a + b for a, b in zip(late, left, strict=True)]
        lateness = [Line("late", "late", late)]
        near = [ms for ms in limit if ms is not None]
        # Where retention is far away, it would only flatten the line that matters.
        if near and min(near) <= 20 * max(ms or 0 for ms in late):
            lateness.append(Line("records are lost from", "limit", limit))
        times = zip(columns["ok_ms"], columns["warn_ms"], columns["err_ms"], strict=True)
        known: list[Value] = [sum(part or 0 for part in parts) for parts in times]
        moved = [Line(name, name, steps.rates(name, known)) for name in ("produced", "consumed")]
        lag = Line("lag", "lag", columns["lag_max"], columns["lag"])
        charts = {
            "lateness": steps.chart("Late", lateness, duration_of, MINUTE_MS, marks, shades),
            "lag": steps.chart("Lag", [lag], count_of, 0, marks, shades),
            "moved": steps.chart("Records a second", moved, rate_of, 0, marks, shades),
            "strip": status_strip(steps.named("Status"), _status_times(columns, steps.passed_ms)),
            "day_strip": status_strip("Status, last 24 hours", _status_times(day, [DAY_MS])),
        }
        return Drawn(shown, charts, doubt)

    def topic(self, cluster: str, topic: str, shown: Shown) -> Drawn:
        """As the groups that consume it saw it."""
        columns, doubt = self._long.topic(cluster, topic, shown.period, shown.older, shown.now)
        steps = _Steps(columns, shown)
        names = {"produced": "produced", "consumed": "consumed by all groups"}
        moved = [
            Line(words, name, steps.rates(name, steps.passed_ms)) for name, words in names.items()
        ]
        largest = Line("largest lag of a group", "lag", columns["lag_max"])
        charts = {
            "moved": steps.chart("Records a second", moved, rate_of),
            "lag": steps.chart("Lag", [largest], count_of),
        }
        return Drawn(shown, charts if steps.is_known("lag_max") else {}, doubt)

    def cluster(self, cluster: str, shown: Shown) -> Drawn:
        """Of all groups together, of a day: the archive has nothing of clusters."""
        columns = self._past.cluster(cluster, *shown.period)
        steps = _Steps(columns, shown)
        bad = []
        for name in ("err", "warn"):  # how many groups were so, on average over a step
            spent = zip(columns[f"{name}_ms"], steps.passed_ms, strict=True)
            groups = [None if ms is None else ms / passed for ms, passed in spent]
            bad.append(Line(name.upper(), name, groups))
        latest = Line("the latest group", "late", columns["late_ms"])
        lag = Line("lag of all groups", "lag", columns["lag"])
        charts = {
            "bad": steps.chart("Groups that are not OK, on average", bad, mean_count_of, 1),
            "lateness": steps.chart("Late", [latest], duration_of, MINUTE_MS),
            "lag": steps.chart("Lag", [lag], count_of),
        }
        return Drawn(shown, charts if steps.is_known() else {}, longest=DAY_MS)

    def spark(self, cluster: str, group: str, now: int) -> Markup:
        """The last hour of a group, small; drawn once for each minute."""
        revision = self._past.revision_of_group(cluster, group)
        return self._sparks(cluster, group, now - now % MINUTE_MS, revision)

    def of_members(self, cluster: str, group: str, start: int, now: int) -> list[Moment]:
        """What they did from `start` on, a day at most, the minute of `now` among it."""
        end = now - now % MINUTE_MS + MINUTE_MS
        start = max(start - start % MINUTE_MS, end - DAY_MS)
        found = self._past.group(cluster, group, start, end, MINUTE_MS)
        return [*rebalances(start, found["rebalances"]), *members(start, found["members"])]

    def incident(self, incident: IncidentRecord, now: int) -> Drawn:
        """How late its group was, from a while before it until a while after it."""
        length = (incident.closed_at or now) - incident.opened_at
        around = max(length // 4, SHORTEST_MS)
        end = None if incident.closed_at is None else incident.closed_at + around
        shown = period_of(now, start=incident.opened_at - around, end=end)
        return self.group(*incident.name, shown, incident.changes, [incident])


def _shade(incident: IncidentRecord, end: int, shown: Shown) -> Shade:
    start, length = shown.period.start, shown.period.end - shown.period.start
    lasted = "open" if incident.is_open else duration_of(end - incident.opened_at)
    return Shade(
        (incident.opened_at - start) / length,
        (end - start) / length,
        incident.worst.lower(),
        f"{incident.worst} incident, {lasted}",
    )


def _status_times(columns: Columns, passed_ms: Sequence[int]) -> StatusTimes:
    """`passed_ms`: of each step, or of all together."""
    return StatusTimes(columns["ok_ms"], columns["warn_ms"], columns["err_ms"], passed_ms)


def _spark(past: Past, cluster: str, group: str, end: int, _revision: tuple[int, int]) -> Markup:
    hour = _hour(past, cluster, group, end)
    if all(lag is None for lag in hour["lag"]):
        return Markup("")
    times = _status_times(hour, [HOUR_MS])
    return sparkline("Late, last hour:", hour["late_ms"], times, MINUTE_MS)


def _hour(past: Past, cluster: str, group: str, end: int) -> Columns:
    """Minute by minute."""
    return past.group(cluster, group, end - HOUR_MS, end, MINUTE_MS)


def rates_of(view: GroupView) -> tuple[float, float] | None:
    """Records a second that are produced into what the group consumes, and that it consumes."""
    known = [
        (progress.produce_rate, progress.consume_rate)
        for progress in (progress_on(view, topic) for topic in view.event.topics)
    ]
    moved = [(made, taken) for made, taken in known if made is not None and taken is not None]
    if not moved or len(moved) < len(known):
        return None
    return sum(made for made, _ in moved), sum(taken for _, taken in moved)


CATCHING_UP = 1.05
"""Reading faster than is written by less than this is within what rates vary by: no catching up."""


def catch_up_ms(view: GroupView, moved: tuple[float, float] | None) -> int | None:
    """Until nothing is left to consume, where the group reads faster than is written."""
    is_level = moved is not None and moved[1] < CATCHING_UP * moved[0]
    return None if is_level else view.catch_up_ms
