"""Figures: graphs and columns that more than one dashboard has, of whatever scope."""

from __future__ import annotations

from warren_dashboards.graph import graph
from warren_dashboards.panel import LATE, LOSS, Link, Panel, Query
from warren_dashboards.scope import Scope
from warren_dashboards.stat import STATUSES
from warren_dashboards.table import Column

LATE_MEANS = "Age of the oldest record that was not consumed"


def lag(scope: Scope, *to: Link, title: str = "Lag, records") -> Panel:
    return graph(title, Query(scope.most("lag"), scope.legend), to=to)


def late(scope: Scope, *to: Link, title: str = "Late") -> Panel:
    query = Query(scope.most("freshness_seconds"), scope.legend)
    return graph(title, query, unit="s", steps=LATE, to=to, about=LATE_MEANS)


def until_loss(scope: Scope, *to: Link) -> Panel:
    return graph(
        "Until loss of data",
        Query(scope.least("time_to_loss_seconds"), scope.legend),
        unit="s",
        steps=LOSS,
        to=to,
        about="Until retention may delete what was not consumed, at least",
    )


def rates(scope: Scope, *to: Link) -> Panel:
    return graph(
        "Records a second, produced and consumed",
        Query(scope.most("produce_rate"), f"produced {scope.legend}"),
        Query(scope.most("consume_rate"), f"consumed {scope.legend}"),
        unit="cps",
        to=to,
        about="A group of which less is consumed than produced falls behind",
    )


def status_column(scope: Scope) -> Column:
    return Column("status", scope.status, meanings=STATUSES)


def lag_column(scope: Scope) -> Column:
    return Column("lag", scope.largest("lag"))


def late_column(scope: Scope) -> Column:
    return Column("late", scope.largest("freshness_seconds"), "s", LATE)


def loss_column(scope: Scope) -> Column:
    return Column("until loss", scope.smallest("time_to_loss_seconds"), "s", LOSS)


def catch_up_column(scope: Scope) -> Column:
    return Column("catches up in", scope.largest("time_to_catch_up_seconds"), "s")


def consumed_column(scope: Scope) -> Column:
    return Column("consumed a second", scope.largest("consume_rate"), "cps")


def produced_column(scope: Scope) -> Column:
    return Column("produced a second", scope.largest("produce_rate"), "cps")
