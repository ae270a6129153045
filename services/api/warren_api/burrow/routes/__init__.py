"""The routes of Burrow's API."""

from __future__ import annotations

from fastapi import APIRouter

from warren_api.burrow.routes import admin, config, deletion, v3
from warren_api.context import ApiContext


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter()
    for module in (v3, config, admin, deletion):
        routes.include_router(module.router(context))
    return routes
