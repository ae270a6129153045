"""`/metrics`: Burrow's series, Kafka Lag Exporter's, Tesla's, ours, and the API's own.

Prometheus' text format or OpenMetrics, as the client asks. `?name[]=…` gives only those families,
as Prometheus' own client libraries do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from prometheus_client.exposition import choose_encoder
from warren.metrics import api as metrics

from warren_api.context import ApiContext
from warren_api.metrics.exposition import chunked, gzipped, head
from warren_api.metrics.extent import Extents
from warren_api.metrics.scrape import scrape
from warren_api.metrics.series import Collected

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
