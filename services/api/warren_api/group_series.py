"""Prometheus series made from the read model at scrape time: what is gone there is gone here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warren.metrics import api_families as families
from warren.metrics.api_families import Family

from warren_api.burrow_series import burrow_series
from warren_api.cluster_view import STATES
from warren_api.context import ApiContext
from warren_api.exposition import Value, head, sample
from warren_api.freshness_series import freshness_series
from warren_api.group_view import GroupView

_GROUP_STATUSES = ("OK", "WARN", "ERR")
Sample = tuple[Sequence[str], Value]


def group_series(context: ApiContext) -> Iterator[str]:
    """All families, piece by piece, from one consistent state of the groups."""
    views = context.model.groups()
    yield from _of_this_service(context)
    yield from _clusters(context)
    yield from burrow_series(views)
    yield from _warren_groups(views, context.clock.now_ms())
    yield from freshness_series(views)


def _of_this_service(context: ApiContext) -> Iterator[str]:
    state, size = context.feed_state(), context.model.size()
    for family, value in (
        (families.API_READY, int(state.ready)),
        (families.API_FRESHNESS_TOPIC, int(state.freshness)),
        (families.API_FEED_WORKING, int(state.problem is None)),
        (families.API_GROUPS, size.groups),
        (families.API_PARTITIONS, size.partitions),
    ):
        yield head(family)
        yield sample(family, (), value)


def _clusters(context: ApiContext) -> Iterator[str]:
    now = context.clock.now_ms()
    views = [context.model.cluster(cluster, now) for cluster in context.clusters]
    yield from _family(
        families.CLUSTER_STATE,
        (((view.cluster, state), int(view.state == state)) for view in views for state in STATES),
    )


def _warren_groups(views: Sequence[GroupView], now: int) -> Iterator[str]:
    named = [((view.cluster, view.group), view) for view in views]
    yield from _family(families.GROUP_LAG, ((name, view.event.total_lag) for name, view in named))
    yield from _family(
        families.GROUP_STATUS,
        (
            ((*name, status), int(view.event.status == status))
            for name, view in named
            for status in _GROUP_STATUSES
        ),
    )
    yield from _family(
        families.GROUP_PARTITIONS,
        (
            ((*name, status), count)
            for name, view in named
            for status, count in view.partition_counts.items()
        ),
    )
    yield from _family(
        families.GROUP_OPEN_INCIDENT,
        (
            (name, max(now - view.event.incident.opened_at, 0) / 1000)
            for name, view in named
            if view.event.incident
        ),
    )
    yield from _family(
        families.GROUP_EVALUATED,
        ((name, view.event.evaluated_at / 1000) for name, view in named),
    )


def _family(family: Family, samples: Iterable[Sample]) -> Iterator[str]:
    yield head(family)
    for labels, value in samples:
        yield sample(family, labels, value)
