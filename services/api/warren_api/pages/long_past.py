"""The past as long as there is one: a day from the model, what was before from the archive."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from warren.contracts import MINUTE_MS

from warren_api.model.archive import Archive
from warren_api.model.past import Columns, Past
from warren_api.model.period import DAY_MS, Period, before_a_day
from warren_api.pages.drawn import Drawn
from warren_api.pages.span import Shown

NOTHING = "the archive has nothing of what was more than a day ago"


class Known(NamedTuple):
    """Figures of each step. `doubt`: why some of them are missing."""

    columns: Columns
    doubt: str | None = None


Fill = Callable[[Columns, str, str, int, int, int], "str | None"]
"""Figures of a cluster's group or topic, into the columns; what is missing and why."""


class LongPast:
    """`archive`: None where nothing is asked of one. It is asked once a minute for the same."""

    def __init__(self, past: Past, archive: Archive | None, answers: int = 64) -> None:
        self._past = past
        self._archive = archive
        self._archived = Drawn[Known](answers)

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
        ask = partial(_archived, fill, list(found), name, older)
        known = self._archived.get((*name, *older), now // MINUTE_MS, ask)
        for column, values in known.columns.items():
            for number, value in enumerate(values):
                if value is not None:
                    found[column][number] = value
        return Known(found, known.doubt)


def _archived(
    fill: Fill, columns_of: list[str], name: tuple[str, str, str], older: Period
) -> Known:
    columns: Columns = {column: [None] * len(older.steps) for column in columns_of}
    _, cluster, called = name
    doubt = fill(columns, cluster, called, *older)
    if doubt is None and all(value is None for values in columns.values() for value in values):
        doubt = NOTHING
    return Known(columns, doubt)
