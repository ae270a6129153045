"""`/v3/config`: Warren's settings where Burrow's clients look for Burrow's."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from warren_api.burrow import config, envelope
from warren_api.burrow.answers import error_response, json_response
from warren_api.burrow.envelope import Body
from warren_api.context import ApiContext
from warren_api.http.raw_path import Segment, decoded_path


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(prefix="/v3/config", include_in_schema=False)
    _lists(routes, context)
    _details(routes, context)
    return routes


def _lists(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("")
    async def main(request: Request) -> Response:
        body = envelope.done("main config returned", decoded_path(request.scope))
        return json_response({**body, **config.main(context.settings)})

    @routes.get("/storage")
    async def storages(request: Request) -> Response:
        return _list(request, "storage", [config.DEFAULT])

    @routes.get("/evaluator")
    async def evaluators(request: Request) -> Response:
        return _list(request, "evaluator", [config.DEFAULT])

    @routes.get("/cluster")
    async def clusters(request: Request) -> Response:
        return _list(request, "cluster", context.clusters)

    @routes.get("/consumer")
    async def consumers(request: Request) -> Response:
        return _list(request, "consumer", list(config.consumers(context.settings)))

    @routes.get("/notifier")
    async def notifiers(request: Request) -> Response:
        return _list(request, "notifier", sorted(context.settings.notifier.channels))


def _details(routes: APIRouter, context: ApiContext) -> None:
    settings = context.settings

    @routes.get("/storage/{name}")
    async def storage(request: Request, name: Segment) -> Response:
        module = config.storage(settings) if name == config.DEFAULT else None
        return _detail(request, "storage", module)

    @routes.get("/evaluator/{name}")
    async def evaluator(request: Request, name: Segment) -> Response:
        return _detail(request, "evaluator", config.evaluator() if name == config.DEFAULT else None)

    @routes.get("/cluster/{name}")
    async def cluster(request: Request, name: Segment) -> Response:
        return cluster_detail(request, context, name)

    @routes.get("/consumer/{name}")
    async def consumer(request: Request, name: Segment) -> Response:
        return _detail(request, "consumer", config.consumers(settings).get(name))

    @routes.get("/notifier/{name}")
    async def notifier(request: Request, name: Segment) -> Response:
        is_there = name in settings.notifier.channels
        return _detail(request, "notifier", config.notifier(name, settings) if is_there else None)


def cluster_detail(request: Request, context: ApiContext, name: str, **more: Body) -> Response:
    """The same at `/v3/kafka/{cluster}`, which has `more`, and `/v3/config/cluster/{cluster}`."""
    module = config.cluster(name, context.settings) if name in context.clusters else None
    return _detail(request, "cluster", module, **more)


def _list(request: Request, coordinator: str, modules: Sequence[str]) -> Response:
    return json_response(envelope.module_list(coordinator, modules, decoded_path(request.scope)))


def _detail(request: Request, coordinator: str, module: Body | None, **more: Body) -> Response:
    if module is None:
        return error_response(request, 404, f"{coordinator} module not found")
    path = decoded_path(request.scope)
    return json_response({**envelope.module_detail(coordinator, module, path), **more})
