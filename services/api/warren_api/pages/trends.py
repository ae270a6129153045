"""What pages show of the past: charts of a group and a topic, a line in the list of groups."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property, partial

from markupsafe import Markup
from warren.contracts import MINUTE_MS

from warren_api.model.group import GroupView
from warren_api.model.minutes import Figure
from warren_api.model.past import Columns, Past
from warren_api.model.status_history import RecordedChange
from warren_api.model.topics import TopicIndex
from warren_api.pages.charts import (
    Line,
    Mark,
    Value,
    chart,
    count_of,
    duration_of,
    rate_of,
    rates,
    sparkline,
    status_strip,
    worst_statuses,
)
from warren_api.pages.drawn import Drawn

HOUR_MS = 60 * MINUTE_MS
_LAST_DAY_STEP = 15 * MINUTE_MS


class GroupTrends:
    """Of one group; `is_known` where there is anything to show. From `start` to `end`, Unix
    milliseconds.
    """

    def __init__(
        self, past: Past, cluster: str, group: str, now: int, changes: Sequence[RecordedChange]
    ) -> None:
        end = now - now % MINUTE_MS
        self.start, self.end = end - HOUR_MS, end
        self._hour = past.group(cluster, group, self.start, end, MINUTE_MS)
        day_end = end + -end % _LAST_DAY_STEP
        self._day = past.group(cluster, group, day_end - 24 * HOUR_MS, day_end, _LAST_DAY_STEP)
        self._at = [_clock(at) for at in range(self.start, end, MINUTE_MS)]
        self._marks = [
            Mark(
                (change.at - self.start) / HOUR_MS,
                f"{_clock(change.at)} {change.change.status} after {change.change.previous}",
            )
            for change in changes
            if self.start <= change.at < end
        ]
        self._marks += [
            Mark((n + 0.5) / 60, f"{self._at[n]} {count_of(count)} rebalances")
            for n, count in enumerate(self._hour["rebalances"])
            if count
        ]

    @cached_property
    def is_known(self) -> bool:
        return any(lag is not None for lag in self._day["lag"])

    @cached_property
    def lateness(self) -> Markup:
        late, left = self._hour["late_ms"], self._hour["time_to_loss_ms"]
        limit = [None if a is None or b is None else a + b for a, b in zip(late, left, strict=True)]
        lines = [Line("late", "late", late)]
        near = [ms for ms in limit if ms is not None]
        # Where retention is far away, it would only flatten the line that matters.
        if near and min(near) <= 20 * max(ms or 0 for ms in late):
            lines.append(Line("records are lost from", "limit", limit))
        return chart("Late, last hour", lines, duration_of, self._marks, self._at, MINUTE_MS)

    @cached_property
    def lag(self) -> Markup:
        lines = [Line("lag", "lag", self._hour["lag"])]
        return chart("Lag, last hour", lines, count_of, self._marks, self._at)

    @cached_property
    def moved(self) -> Markup:
        known = _known_ms(self._hour)
        lines = [
            Line("produced", "produced", rates(self._hour["produced"], known)),
            Line("consumed", "consumed", rates(self._hour["consumed"], known)),
        ]
        return chart("Records a second, last hour", lines, rate_of, self._marks, self._at)

    @cached_property
    def hour_strip(self) -> Markup:
        return status_strip("Status, last hour", _statuses(self._hour))

    @cached_property
    def day_strip(self) -> Markup:
        return status_strip("Status, last 24 hours", _statuses(self._day))


class TopicTrends:
    """Of one topic, as the groups that consume it saw it."""

    def __init__(self, past: Past, cluster: str, topic: str, now: int) -> None:
        end = now - now % MINUTE_MS
        self.start, self.end = end - HOUR_MS, end
        self._hour = past.topic(cluster, topic, self.start, end, MINUTE_MS)
        self._at = [_clock(at) for at in range(self.start, end, MINUTE_MS)]

    @cached_property
    def is_known(self) -> bool:
        return any(lag is not None for lag in self._hour["lag_max"])

    @cached_property
    def moved(self) -> Markup:
        lines = [
            Line("produced", "produced", self._hour["produced"]),
            Line("consumed by all groups", "consumed", self._hour["consumed"]),
        ]
        return chart("Records a minute, last hour", lines, count_of, at=self._at)

    @cached_property
    def lag(self) -> Markup:
        lines = [Line("largest lag of a group", "lag", self._hour["lag_max"])]
        return chart("Lag, last hour", lines, count_of, at=self._at)


class ClusterTrends:
    """Of all groups of a cluster together."""

    def __init__(self, past: Past, cluster: str, now: int) -> None:
        end = now - now % MINUTE_MS
        self.start, self.end = end - HOUR_MS, end
        self._hour = past.cluster(cluster, self.start, end, MINUTE_MS)
        self._at = [_clock(at) for at in range(self.start, end, MINUTE_MS)]

    @cached_property
    def is_known(self) -> bool:
        return any(lag is not None for lag in self._hour["lag"])

    @cached_property
    def bad(self) -> Markup:
        """As many groups as were ERR or WARN all of a minute."""
        lines = [
            Line(name.upper(), name, _shares(self._hour[f"{name}_ms"])) for name in ("err", "warn")
        ]
        return chart("Groups that are not OK, last hour", lines, count_of, at=self._at, least=1)

    @cached_property
    def lateness(self) -> Markup:
        lines = [Line("the latest group", "late", self._hour["late_ms"])]
        return chart("Late, last hour", lines, duration_of, at=self._at, least=MINUTE_MS)

    @cached_property
    def lag(self) -> Markup:
        lines = [Line("lag of all groups", "lag", self._hour["lag"])]
        return chart("Lag, last hour", lines, count_of, at=self._at)


class Trends:
    """What was drawn lately of whom."""

    def __init__(self, past: Past, drawings: int = 256, sparks: int = 2_000) -> None:
        self._past = past
        self._groups = Drawn[GroupTrends](drawings)
        self._topics = Drawn[TopicTrends](drawings)
        self._clusters = Drawn[ClusterTrends](drawings)
        self._sparks = Drawn[Markup](sparks)

    def group(
        self, cluster: str, group: str, now: int, changes: Sequence[RecordedChange]
    ) -> GroupTrends:
        past = self._past
        newest = changes[0].sequence if changes else 0
        version = now // MINUTE_MS, past.revision_of_group(cluster, group), newest
        draw = partial(GroupTrends, past, cluster, group, now, changes)
        return self._groups.get((cluster, group), version, draw)

    def topic(self, cluster: str, topic: str, now: int) -> TopicTrends:
        version = now // MINUTE_MS, self._past.revision_of_topic(cluster, topic)
        draw = partial(TopicTrends, self._past, cluster, topic, now)
        return self._topics.get((cluster, topic), version, draw)

    def cluster(self, cluster: str, now: int) -> ClusterTrends:
        version = now // MINUTE_MS, self._past.revision_of_cluster(cluster)
        draw = partial(ClusterTrends, self._past, cluster, now)
        return self._clusters.get(cluster, version, draw)

    def spark(self, cluster: str, group: str, now: int) -> Markup:
        """The last hour of a group, small."""
        version = now // MINUTE_MS, self._past.revision_of_group(cluster, group)
        draw = partial(_spark, self._past, cluster, group, now)
        return self._sparks.get((cluster, group), version, draw)


def _spark(past: Past, cluster: str, group: str, now: int) -> Markup:
    end = now - now % MINUTE_MS
    hour = past.group(cluster, group, end - HOUR_MS, end, MINUTE_MS)
    if all(lag is None for lag in hour["lag"]):
        return Markup("")
    return sparkline("Late, last hour:", hour["late_ms"], _statuses(hour), MINUTE_MS)


def rates_of(topics: TopicIndex, view: GroupView) -> tuple[float, float] | None:
    """Records a second that are produced into what the group consumes, and that it consumes."""
    known = [
        (progress.produce_rate, progress.consume_rate)
        for progress in topics.progress(view.cluster, view.group).values()
    ]
    moved = [(made, taken) for made, taken in known if made is not None and taken is not None]
    if not moved or len(moved) < len(known):
        return None
    return sum(made for made, _ in moved), sum(taken for _, taken in moved)


def _statuses(columns: Columns) -> list[str]:
    return worst_statuses(columns["ok_ms"], columns["warn_ms"], columns["err_ms"])


def _shares(spent: Sequence[Figure]) -> list[Value]:
    return [None if ms is None else ms / MINUTE_MS for ms in spent]


def _known_ms(columns: Columns) -> list[Value]:
    def total(*parts: Figure) -> Value:
        return sum(part or 0 for part in parts)

    shares = (columns[name] for name in ("ok_ms", "warn_ms", "err_ms"))
    return [total(*parts) for parts in zip(*shares, strict=True)]


def _clock(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%H:%M UTC")
