"""Our own API, version 1: one module per noun."""

from __future__ import annotations

from fastapi import APIRouter

from warren_api.context import ApiContext
from warren_api.v1.paging import Paging
from warren_api.v1.routes import (
    clusters,
    events,
    groups,
    history,
    incidents,
    notifications,
    problems,
    silences,
    topics,
)


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(prefix="/api/v1")
    paging = Paging()
    routes.include_router(clusters.router(context))
    routes.include_router(groups.router(context, paging))
    routes.include_router(topics.router(context, paging))
    routes.include_router(history.router(context))
    routes.include_router(incidents.router(context, paging))
    routes.include_router(notifications.router(context, paging))
    routes.include_router(silences.router(context))
    routes.include_router(events.router(context))
    routes.include_router(problems.router())
    return routes
