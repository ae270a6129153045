"""`/metrics`: Burrow's series, Kafka Lag Exporter's, Tesla's, ours, and the API's own, made from
the read model; what is gone there is gone here. Of very many series less is served by default.

Prometheus' text format or OpenMetrics, as the client asks. `?name[]=…` gives only those families,
as Prometheus' own client libraries do.
"""

from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from prometheus_client.exposition import choose_encoder
from warren.metrics import api as metrics, api_families as families
from warren.metrics.family import ORIGINS, Detail, Family, Origin
from warren.settings import ApiSettings

from warren_api.context import ApiContext
from warren_api.metrics.group_series import adopted_series, group_series
from warren_api.metrics.series import (
    Collected,
    SampleLines,
    Samples,
    Series,
    Snapshot,
    Things,
    Wanted,
    chunked,
    gzipped,
    head,
    row_lines,
)
from warren_api.model.cluster import STATES, ClusterView

log = structlog.get_logger(__name__)

_AGAIN_BELOW = 0.5  # of the limit: series do not come and go with a few partitions
_ALL = frozenset(ORIGINS)
_OURS: frozenset[Origin] = frozenset(("warren",))


class Extent(NamedTuple):
    """How fine series of groups are, and whose names they have."""

    detail: Detail
    origins: Set[Origin]


class Extents:
    """The extent by what there is. Used by many threads: two that decide at once decide alike."""

    def __init__(self, api: ApiSettings) -> None:
        self._api = api
        self._is_reduced = False
        metrics.API_METRICS_REDUCED.set(0)

    def of(self, partitions: int) -> Extent:
        """`partitions`: of all groups together. Says so once when series are left out."""
        limit = self._api.metrics_partitions
        reduced = partitions > (limit * _AGAIN_BELOW if self._is_reduced else limit)
        if reduced != self._is_reduced:
            self._is_reduced = reduced
            self._tell(partitions)
        chosen = self._api.metrics_origins
        return Extent(
            self._api.metrics_detail or ("topic" if reduced else "partition"),
            (_OURS if reduced else _ALL) if chosen is None else frozenset(chosen),
        )

    def _tell(self, partitions: int) -> None:
        if self._api.metrics_detail and self._api.metrics_origins is not None:
            return  # nothing is by default
        metrics.API_METRICS_REDUCED.set(int(self._is_reduced))
        log.warning(
            "/metrics leaves series out by default: they would be very many"
            if self._is_reduced
            else "/metrics has all series again",
            partitions=partitions,
            limit=self._api.metrics_partitions,
            settings="api.metrics_detail, api.metrics_origins, api.metrics_partitions",
        )


MOST_LABEL = 1_000
"""Characters of a group's name that has series: each of them repeats it, and whoever joins a group
chooses its name.
"""


def scrape(
    context: ApiContext,
    extent: Extent,
    names: Set[str] = frozenset(),
) -> Iterator[Collected]:
    """All families within the extent that `names`, unless it is empty, asks for; piece by piece,
    from one consistent state of the groups. Those with a name longer than MOST_LABEL have none.
    """
    wanted = Wanted(lambda family: _is_wanted(family, extent, names))
    every = context.model.groups()
    snapshot = Snapshot([view for view in every if len(view.group) <= MOST_LABEL])
    state, size = context.feed_state(), context.model.size()
    for family, value in (
        (families.API_READY, int(state.ready)),
        (families.API_FEED_WORKING, int(state.problem is None)),
        (families.API_GROUPS, size.groups),
        (families.API_PARTITIONS, size.partitions),
    ):
        if wanted.wanted(family):
            yield Collected(family, [Samples(SampleLines(row_lines((), [()])), [value])])
    incidents, now = context.model.incidents(), context.clock.now_ms()
    clusters = Things(  # one series per cluster and state
        [context.model.cluster(cluster, now) for cluster in context.clusters],
        lambda labels, view: row_lines(labels, [(view.cluster, each) for each in STATES]),
    )
    yield from wanted.collect(_CLUSTERS, clusters)
    yield from group_series(wanted, snapshot, context.verdicts(), incidents, now)
    yield from adopted_series(wanted, snapshot, context.model.listed_topics())


def _is_wanted(family: Family, extent: Extent, names: Set[str]) -> bool:
    if names and family.name not in names:
        return False
    if not family.labels:  # of this service itself
        return True
    return family.origin in extent.origins and family.is_within(extent.detail)


_CLUSTERS: list[Series[ClusterView]] = [
    Series(families.CLUSTER_STATE, lambda view: [int(view.state == state) for state in STATES])
]


_END = b"# EOF\n"  # OpenMetrics' last line


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    extents = Extents(context.settings.api)

    @routes.get("/metrics")
    def answer(request: Request) -> Response:
        """Made and compressed in worker threads: a large scrape holds up no other request."""
        encoder, media_type = choose_encoder(request.headers.get("Accept", ""))
        names = frozenset(request.query_params.getlist("name[]"))
        openmetrics = media_type.startswith("application/openmetrics-text")

        extent = extents.of(context.model.size().partitions)

        def chunks() -> Iterator[bytes]:
            own = metrics.API.restricted_registry(names) if names else metrics.API
            yield encoder(own).removesuffix(_END)
            collected = scrape(context, extent, names)
            yield from chunked(text(collected, openmetrics=openmetrics))
            if openmetrics:
                yield _END

        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            # The middleware that compresses adds to Vary what it looked at.
            headers = {"Vary": "Accept"}
            return StreamingResponse(chunks(), headers=headers, media_type=media_type)
        headers = {"Vary": "Accept, Accept-Encoding", "Content-Encoding": "gzip"}
        return Response(gzipped(chunks()), headers=headers, media_type=media_type)

    return routes


def text(collected: Iterable[Collected], *, openmetrics: bool = False) -> Iterator[bytes]:
    """As Prometheus reads it."""
    for family, parts in collected:
        yield head(family, openmetrics=openmetrics)
        for lines, values in parts:
            yield lines.written(family.name, values)
