"""All series of one scrape, made from the read model: what is gone there is gone here."""

from __future__ import annotations

from collections.abc import Iterator, Set

from warren.metrics import api_families as families
from warren.metrics.family import Family
from warren.settings import ApiSettings

from warren_api.burrow_series import burrow_series
from warren_api.context import ApiContext
from warren_api.freshness_series import freshness_series, tesla_series
from warren_api.group_series import group_series
from warren_api.lag_exporter_series import lag_exporter_series
from warren_api.series import Snapshot, Writer


def scrape(
    context: ApiContext, names: Set[str] = frozenset(), *, openmetrics: bool = False
) -> Iterator[bytes]:
    """All families that the settings and, unless empty, `names` ask for; piece by piece, from one
    consistent state of the groups.
    """
    api = context.settings.api
    writer = Writer(lambda family: _is_wanted(family, api, names), openmetrics)
    snapshot = Snapshot(context.model.groups())
    yield from _of_this_service(writer, context)
    yield from group_series(writer, snapshot, context.clock.now_ms())
    yield from freshness_series(writer, snapshot)
    yield from burrow_series(writer, snapshot)
    yield from lag_exporter_series(writer, snapshot)
    yield from tesla_series(writer, snapshot)


def _is_wanted(family: Family, api: ApiSettings, names: Set[str]) -> bool:
    if names and family.name not in names:
        return False
    if not family.labels:  # of this service itself
        return True
    return family.origin in api.metrics_origins and family.is_within(api.metrics_detail)


def _of_this_service(writer: Writer, context: ApiContext) -> Iterator[bytes]:
    state, size = context.feed_state(), context.model.size()
    for family, value in (
        (families.API_READY, int(state.ready)),
        (families.API_FRESHNESS_TOPIC, int(state.freshness)),
        (families.API_FEED_WORKING, int(state.problem is None)),
        (families.API_GROUPS, size.groups),
        (families.API_PARTITIONS, size.partitions),
    ):
        yield from writer.write_one(family, value)
