"""All series of one scrape or push, made from the read model: what is gone there is gone here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from warren.metrics import api_families as families
from warren.metrics.family import Family

from warren_api.context import ApiContext
from warren_api.metrics.burrow_series import burrow_series
from warren_api.metrics.exposition import SampleLines, row_lines
from warren_api.metrics.extent import Extent
from warren_api.metrics.freshness_series import freshness_series, tesla_series
from warren_api.metrics.group_series import group_series
from warren_api.metrics.lag_exporter_series import lag_exporter_series
from warren_api.metrics.series import Block, Blocks, Collected, Series, Snapshot, Wanted
from warren_api.model.cluster import STATES, ClusterView


def scrape(
    context: ApiContext,
    extent: Extent,
    names: Set[str] = frozenset(),
) -> Iterator[Collected]:
    """All families within the extent that `names`, unless it is empty, asks for; piece by piece,
    from one consistent state of the groups.
    """
    wanted = Wanted(lambda family: _is_wanted(family, extent, names))
    snapshot = Snapshot(context.model.groups())
    yield from _of_this_service(wanted, context)
    yield from wanted.collect(_CLUSTERS, _cluster_states(context))
    yield from group_series(wanted, snapshot, context.verdicts(), context.clock.now_ms())
    yield from freshness_series(wanted, snapshot)
    yield from burrow_series(wanted, snapshot, context.model.listed_topics())
    yield from lag_exporter_series(wanted, snapshot)
    yield from tesla_series(wanted, snapshot)


def _is_wanted(family: Family, extent: Extent, names: Set[str]) -> bool:
    if names and family.name not in names:
        return False
    if not family.labels:  # of this service itself
        return True
    return extent.has(family)


def _of_this_service(wanted: Wanted, context: ApiContext) -> Iterator[Collected]:
    state, size = context.feed_state(), context.model.size()
    for family, value in (
        (families.API_READY, int(state.ready)),
        (families.API_FRESHNESS_TOPIC, int(state.freshness)),
        (families.API_FEED_WORKING, int(state.problem is None)),
        (families.API_GROUPS, size.groups),
        (families.API_PARTITIONS, size.partitions),
    ):
        yield from wanted.collect_one(family, value)


def _cluster_states(context: ApiContext) -> Blocks[tuple[ClusterView, str]]:
    """One series per cluster and state."""
    now = context.clock.now_ms()
    views = [context.model.cluster(cluster, now) for cluster in context.clusters]
    items = [(view, state) for view in views for state in STATES]

    def blocks(labels: Sequence[str]) -> list[Block[tuple[ClusterView, str]]]:
        rows = [(view.cluster, state) for view, state in items]
        return [Block(items, SampleLines(row_lines(labels, rows)))]

    return blocks


_CLUSTERS: list[Series[tuple[ClusterView, str]]] = [
    Series(
        families.CLUSTER_STATE,
        lambda items: [int(view.state == state) for view, state in items],
    )
]
