"""Figures: which series a panel is about; panels and columns that several dashboards show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from warren_dashboards.panel import (
    LATE,
    LOSS,
    OLD,
    STATUSES,
    Colour,
    Column,
    Link,
    Meanings,
    Panel,
    Query,
    graph,
    table,
)

Noun = Literal["group", "topic", "partition"]
SHOWN = 20  # series of a graph, the worst ones: more cannot be told from each other


@dataclass(frozen=True, slots=True)
class Scope:
    """`noun`: how fine the series are, `where` selects them, `by` are the labels that are kept.

    Every copy of the API serves them all: so they are taken together by max or min, never added up.
    """

    noun: Noun
    where: str
    by: tuple[str, ...]

    def largest(self, figure: str) -> str:
        return self._taken("max", figure)

    def smallest(self, figure: str) -> str:
        return self._taken("min", figure)

    def most(self, figure: str) -> str:
        """Those that have the most of it."""
        return f"topk({SHOWN}, {self.largest(figure)})"

    def least(self, figure: str) -> str:
        return f"bottomk({SHOWN}, {self.smallest(figure)})"

    @property
    def legend(self) -> str:
        return " ".join(f"{{{{{label}}}}}" for label in self.by)

    @property
    def status(self) -> str:
        """Of groups: 3 ERR, 2 WARN, 1 UNKNOWN, 0 OK, as `stat.STATUSES` has them."""
        each = " or ".join(
            f'warren_group_status{{status="{status}",{self.where}}} * {badness}'
            for status, badness in (("ERR", 3), ("WARN", 2), ("UNKNOWN", 1))
        )
        return f"max by ({', '.join(self.by)}) ({each})"

    def with_status(self, status: str) -> str:
        """How many groups have it."""
        labels = ", ".join(self.by)
        return (
            f"count(max by ({labels}) "
            f'(warren_group_status{{status="{status}",{self.where}}}) == 1) or vector(0)'
        )

    def _taken(self, how: str, figure: str) -> str:
        labels = ", ".join(self.by)
        return f"{how} by ({labels}) (warren_{self.noun}_{figure}{{{self.where}}})"


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


_CHOSEN = 'cluster=~"$cluster"'
_COLOURS: Mapping[str, Colour] = {
    "ok": "green",
    "rebuilding": "blue",
    "connecting": "blue",
    "unknown": "purple",
    "failing": "red",
    "refused": "red",
    "unreachable": "red",
}
STATES: Meanings = dict(enumerate(_COLOURS.items()))
"""As `warren_cluster_state` has them, worse ones larger."""

_STATE = " or ".join(
    f'warren_cluster_state{{state="{name}",{_CHOSEN}}} * {badness}'
    for badness, (name, _) in STATES.items()
)


def clusters(width: int = 24) -> Panel:
    """On dashboards where clusters can be chosen."""
    evaluated = f"max by (cluster) (warren_group_evaluated_timestamp_seconds{{{_CHOSEN}}})"
    groups = f"max by (cluster, group) (warren_group_lag{{{_CHOSEN}}})"
    return table(
        "Clusters",
        Column("read", f"max by (cluster) ({_STATE})", meanings=STATES),
        Column("newest verdict before", f"time() - {evaluated}", "s", OLD),
        Column("groups", f"count by (cluster) ({groups})"),
        height=8,
        width=width,
    )
