"""Rows of the list of groups as HTML, made anew where something in them is another.

A page of them is asked for every few seconds, and few have changed by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from warren_api.group_row import GroupRow
from warren_api.model.group import GroupView
from warren_api.model.partitions import worst_rows
from warren_api.model.topics import TopicIndex
from warren_api.pages.commands import commands
from warren_api.pages.environment import age
from warren_api.pages.trends import Drawn, Trends, rates_of

KEPT = 2_000
WORST_SHOWN = 3  # partitions of a group that is unfolded
DAY_MS = 86_400_000


class GroupRows:
    """`stale_after`: milliseconds until an evaluation is old; `servers`: of a cluster."""

    def __init__(
        self,
        templates: Environment,
        trends: Trends,
        topics: TopicIndex,
        stale_after: int,
        is_stale: Callable[[GroupView], bool],
        servers: Callable[[str], list[str]],
    ) -> None:
        self._templates = templates
        self._trends = trends
        self._topics = topics
        self._stale_after = stale_after
        self._is_stale = is_stale
        self._servers = servers
        # With the view that it is of: its identity then is no other's.
        self._told = Drawn[tuple[GroupView, Markup]](KEPT)
        self._rows = Drawn[tuple[Markup, Markup]](KEPT)

    def html(self, row: GroupRow) -> Markup:
        view, now = row.view, row.asked.now
        name, macros = (view.cluster, view.group), self._macros()
        is_old = now - view.event.evaluated_at > self._stale_after
        is_stale = self._is_stale(view)
        spark = self._trends.spark(*name, now)
        moved = rates_of(self._topics, view) if row.verdict.status == "OK" else None
        measured_ago = _age(now, view.freshness.event.measured_at if view.freshness else None)
        version = (
            id(view),
            row.verdict,
            row.silence,
            row.acknowledgement,
            row.incident is None,
            spark,
            moved,
            is_old,
            measured_ago if is_stale else "",
            now // DAY_MS,  # times of another day have the day
        )

        def draw_told() -> tuple[GroupView, Markup]:
            run = commands(view.group, row.cause, self._servers(view.cluster))
            worst = worst_rows(view.event, WORST_SHOWN)
            return view, macros.told(row, now, is_old, is_stale, spark, moved, run, worst)

        _, told = self._told.get(name, version, draw_told)
        judged_ago = _age(now, view.event.evaluated_at) if is_old else ""
        ages = _age(now, row.since), _age(now, row.changed_since), judged_ago

        def draw() -> tuple[Markup, Markup]:
            return told, told + macros.since(row, now, is_old)

        return self._rows.get(name, (id(told), *ages), draw)[1]

    def _macros(self) -> Any:
        return self._templates.get_template("group_row.html").module


def _age(now: int, at: int | None) -> str:
    return "" if at is None else age(now - at)
