"""The past on pages: a day from the model, what was before from the archive; charts of groups,
topics and clusters, a line in the list of groups.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from markupsafe import Markup
from warren.contracts import MINUTE_MS

from warren_api.model.archive import Archive
from warren_api.model.group import GroupView
from warren_api.model.past import DAY_MS, HOUR_MS, Columns, Past, Period, before_a_day
from warren_api.model.status_history import IncidentRecord, RecordedChange
from warren_api.model.topics import progress_on
from warren_api.pages.charts import sparkline
from warren_api.pages.past_charts import (
    ClusterTrends,
    GroupTrends,
    Known,
    TopicTrends,
    status_times,
)
from warren_api.pages.span import Shown
from warren_api.pages.timeline import Moment, rebalances

NOTHING = "the archive has nothing of what was more than a day ago"


Fill = Callable[[Columns, str, str, int, int, int], "str | None"]
"""Figures of a cluster's group or topic, into the columns; what is missing and why."""


class LongPast:
    """`archive`: None where nothing is asked of one. It is asked once a minute for the same."""

    def __init__(self, past: Past, archive: Archive | None, answers: int = 64) -> None:
        self._past = past
        self._archive = archive
        self._archived = lru_cache(answers)(_archived)

    def group(self, cluster: str, group: str, shown: Shown) -> Known:
        found = self._past.group(cluster, group, *shown.period)
        ask = self._archive.group if self._archive else None
        return self._filled(found, ("group", cluster, group), ask, shown)

    def topic(self, cluster: str, topic: str, shown: Shown) -> Known:
        found = self._past.topic(cluster, topic, *shown.period)
        ask = self._archive.topic if self._archive else None
        return self._filled(found, ("topic", cluster, topic), ask, shown)

    def cluster(self, cluster: str, shown: Shown) -> Known:
        """Of a day: the archive has nothing of clusters."""
        return Known(self._past.cluster(cluster, *shown.period))

    def _filled(
        self, found: Columns, name: tuple[str, str, str], fill: Fill | None, shown: Shown
    ) -> Known:
        """`name`: what it is, its cluster, and how it is called there."""
        period, now = shown.period, shown.now
        # A span of a day begins in a step of which the model has most.
        older = before_a_day(period, now) if period.start < now - DAY_MS - period.step else None
        if fill is None or older is None:
            return Known(found)
        known = self._archived(fill, tuple(found), name, older, now // MINUTE_MS)
        for column, values in known.columns.items():
            for number, value in enumerate(values):
                if value is not None:
                    found[column][number] = value
        return Known(found, known.doubt)


def _archived(
    fill: Fill, columns_of: Sequence[str], name: tuple[str, str, str], older: Period, _minute: int
) -> Known:
    columns: Columns = {column: [None] * len(older.steps) for column in columns_of}
    _, cluster, called = name
    doubt = fill(columns, cluster, called, *older)
    if doubt is None and all(value is None for values in columns.values() for value in values):
        doubt = NOTHING
    return Known(columns, doubt)


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
    ) -> GroupTrends:
        """`changes`, `incidents`: its own, newest first."""
        known = self._long.group(cluster, group, shown)
        return GroupTrends(known, shown, self._past, (cluster, group), changes, incidents)

    def topic(self, cluster: str, topic: str, shown: Shown) -> TopicTrends:
        return TopicTrends(self._long.topic(cluster, topic, shown), shown)

    def cluster(self, cluster: str, shown: Shown) -> ClusterTrends:
        return ClusterTrends(self._long.cluster(cluster, shown), shown)

    def spark(self, cluster: str, group: str, now: int) -> Markup:
        """The last hour of a group, small; drawn once for each minute."""
        revision = self._past.revision_of_group(cluster, group)
        return self._sparks(cluster, group, now - now % MINUTE_MS, revision)

    def rebalances(self, cluster: str, group: str, now: int) -> list[Moment]:
        """Of the last hour of a group, the minute of now among it."""
        end = now - now % MINUTE_MS + MINUTE_MS
        return rebalances(end - HOUR_MS, _hour(self._past, cluster, group, end)["rebalances"])


def _spark(past: Past, cluster: str, group: str, end: int, _revision: tuple[int, int]) -> Markup:
    hour = _hour(past, cluster, group, end)
    if all(lag is None for lag in hour["lag"]):
        return Markup("")
    times = status_times(hour, [HOUR_MS])
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
