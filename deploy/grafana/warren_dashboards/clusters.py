"""Clusters: whether each is read, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping

from warren_dashboards.panel import OLD, Colour, Panel
from warren_dashboards.stat import Meanings
from warren_dashboards.table import Column, table

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
