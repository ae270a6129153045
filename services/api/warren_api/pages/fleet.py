"""Owners and clusters: how many groups of each pair have which status, worst first. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from warren_api.group_row import GroupRow
from warren_api.pages.headline import Totals, no_groups

Cells = dict[str, Totals]


class Owned(NamedTuple):
    """Groups of one owner; empty: of nobody."""

    owner: str
    cells: Cells
    """By cluster."""
    totals: Totals


class Fleet(NamedTuple):
    """Owners and clusters, each worst first."""

    owners: list[Owned]
    clusters: list[str]
    well: int
    """Clusters of which all groups are OK: they have no column."""
    totals: Totals


def fleet(rows: Iterable[GroupRow]) -> Fleet:
    cells: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    of_cluster: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        cells[row.owner][row.cluster][row.last_status] += 1
        of_cluster[row.cluster][row.last_status] += 1
    owners = [
        Owned(owner, {name: _totals(one) for name, one in of.items()}, _totals(*of.values()))
        for owner, of in cells.items()
    ]
    clusters = sorted(of_cluster, key=lambda name: (_badness(of_cluster[name]), name))
    bad = [name for name in clusters if of_cluster[name].total() > of_cluster[name]["OK"]]
    return Fleet(
        sorted(owners, key=lambda one: (_badness(one.totals), one.owner)),
        bad,
        len(clusters) - len(bad),
        _totals(*of_cluster.values()),
    )


def _totals(*counts: Counter[str]) -> Totals:
    return no_groups() | sum(counts, Counter[str]())


def _badness(of: Totals) -> tuple[int, ...]:
    """Sorts, the worst first."""
    return tuple(-of[status] for status in ("ERR", "WARN", "UNKNOWN"))
