"""What pages draw of the past of one thing: charts of a group, a topic, a cluster.

Times are Unix milliseconds, `start` and `end` of what is shown.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from markupsafe import Markup
from warren.contracts import MINUTE_MS
from warren.words import counted

from warren_api.model.past import DAY_MS, Columns, Past, in_whole_steps
from warren_api.model.status_history import IncidentRecord, RecordedChange
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
    status_strip,
)
from warren_api.pages.span import Link, Shown

_LAST_DAY_STEP = 15 * MINUTE_MS


class Known(NamedTuple):
    """Figures of each step. `doubt`: why some of them are missing."""

    columns: Columns
    doubt: str | None = None


class Charted:
    """What they have in common. `doubt`: why something is missing."""

    longest = DAY_MS * 90

    def __init__(self, known: Known, shown: Shown) -> None:
        self.start, self.end, self._step = shown.period
        self.doubt = known.doubt
        self._shown = shown
        self._columns = known.columns
        self._at = [shown.clock(at) for at in shown.period.steps]

    @property
    def links(self) -> list[Link]:
        return self._shown.links(self.longest)

    @property
    def _is_seen(self) -> bool:
        return self._shown.is_asked_for or any(lag is not None for lag in self._columns["lag"])

    def _named(self, what: str) -> str:
        return f"{what}, {self._shown.words}"

    @cached_property
    def _passed_ms(self) -> list[int]:
        """Of each step; less than all of it only of the newest."""
        newest = self._shown.now - self._shown.now % MINUTE_MS
        return [max(min(self._step, newest - at), MINUTE_MS) for at in self._shown.period.steps]

    def _rates(self, name: str, known_ms: Sequence[Value]) -> list[Value]:
        """Records a second. Where nobody knows for how long somebody looked: all the time."""
        spent = [k or passed for k, passed in zip(known_ms, self._passed_ms, strict=True)]
        return rates(self._columns[name], spent)


class GroupTrends(Charted):
    """Of one group; `is_known` where there is anything to show."""

    def __init__(
        self,
        known: Known,
        shown: Shown,
        past: Past,
        name: tuple[str, str],
        changes: Sequence[RecordedChange],
        incidents: Sequence[IncidentRecord],
    ) -> None:
        super().__init__(known, shown)
        self._shades = [
            _shade(each, end, shown)
            for each in incidents
            if (end := shown.now if each.is_open else each.closed_at) is not None
            and end > self.start
            and each.opened_at < self.end
        ]
        newest = shown.now - shown.now % MINUTE_MS
        day = in_whole_steps(newest - DAY_MS, newest, _LAST_DAY_STEP)
        self._day = past.group(*name, *day)
        self._marks = [
            Mark(
                (change.at - self.start) / (self.end - self.start),
                f"{shown.clock(change.at)} {change.change.status} after {change.change.previous}",
            )
            for change in changes
            if self.start <= change.at < self.end
        ]
        self._marks += [
            Mark((n + 0.5) / len(self._at), f"{self._at[n]} {counted(round(count), 'rebalance')}")
            for n, count in enumerate(known.columns["rebalances"])
            if count
        ]

    @cached_property
    def is_known(self) -> bool:
        return self._is_seen or any(lag is not None for lag in self._day["lag"])

    @cached_property
    def lateness(self) -> Markup:
        late, left = self._columns["late_ms"], self._columns["time_to_loss_ms"]
        limit = [None if a is None or b is None else a + b for a, b in zip(late, left, strict=True)]
        lines = [Line("late", "late", late)]
        near = [ms for ms in limit if ms is not None]
        # Where retention is far away, it would only flatten the line that matters.
        if near and min(near) <= 20 * max(ms or 0 for ms in late):
            lines.append(Line("records are lost from", "limit", limit))
        return self._chart("Late", lines, duration_of, MINUTE_MS)

    @cached_property
    def lag(self) -> Markup:
        line = Line("lag", "lag", self._columns["lag_max"], self._columns["lag"])
        return self._chart("Lag", [line], count_of)

    @cached_property
    def moved(self) -> Markup:
        shares = (self._columns[name] for name in ("ok_ms", "warn_ms", "err_ms"))
        known: list[Value] = [
            sum(part or 0 for part in parts) for parts in zip(*shares, strict=True)
        ]
        lines = [Line(name, name, self._rates(name, known)) for name in ("produced", "consumed")]
        return self._chart("Records a second", lines, rate_of)

    @cached_property
    def strip(self) -> Markup:
        times = status_times(self._columns, self._passed_ms)
        return status_strip(self._named("Status"), times)

    @cached_property
    def day_strip(self) -> Markup:
        return status_strip("Status, last 24 hours", status_times(self._day, [DAY_MS]))

    def _chart(self, name: str, lines: Sequence[Line], said: Said, least: float = 0) -> Markup:
        return chart(self._named(name), lines, said, self._marks, self._at, least, self._shades)


def _shade(incident: IncidentRecord, end: int, shown: Shown) -> Shade:
    start, length = shown.period.start, shown.period.end - shown.period.start
    lasted = "open" if incident.is_open else duration_of(end - incident.opened_at)
    return Shade(
        (incident.opened_at - start) / length,
        (end - start) / length,
        incident.worst.lower(),
        f"{incident.worst} incident, {lasted}",
    )


class TopicTrends(Charted):
    """Of one topic, as the groups that consume it saw it."""

    @cached_property
    def is_known(self) -> bool:
        return self._shown.is_asked_for or any(lag is not None for lag in self._columns["lag_max"])

    @cached_property
    def moved(self) -> Markup:
        lines = [
            Line("produced", "produced", self._rates("produced", self._passed_ms)),
            Line("consumed by all groups", "consumed", self._rates("consumed", self._passed_ms)),
        ]
        return chart(self._named("Records a second"), lines, rate_of, at=self._at)

    @cached_property
    def lag(self) -> Markup:
        lines = [Line("largest lag of a group", "lag", self._columns["lag_max"])]
        return chart(self._named("Lag"), lines, count_of, at=self._at)


class ClusterTrends(Charted):
    """Of all groups of a cluster together."""

    longest = DAY_MS

    @cached_property
    def is_known(self) -> bool:
        return self._is_seen

    @cached_property
    def bad(self) -> Markup:
        """How many were ERR or WARN, on average over a step."""
        lines = [Line(name.upper(), name, self._groups(name)) for name in ("err", "warn")]
        name = self._named("Groups that are not OK, on average")
        return chart(name, lines, mean_count_of, at=self._at, least=1)

    @cached_property
    def lateness(self) -> Markup:
        lines = [Line("the latest group", "late", self._columns["late_ms"])]
        return chart(self._named("Late"), lines, duration_of, at=self._at, least=MINUTE_MS)

    @cached_property
    def lag(self) -> Markup:
        lines = [Line("lag of all groups", "lag", self._columns["lag"])]
        return chart(self._named("Lag"), lines, count_of, at=self._at)

    def _groups(self, name: str) -> list[Value]:
        spent = zip(self._columns[f"{name}_ms"], self._passed_ms, strict=True)
        return [None if ms is None else ms / passed for ms, passed in spent]


def status_times(columns: Columns, passed_ms: Sequence[int]) -> StatusTimes:
    """`passed_ms`: of each step, or of all together."""
    return StatusTimes(columns["ok_ms"], columns["warn_ms"], columns["err_ms"], passed_ms)
