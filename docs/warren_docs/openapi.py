"""docs/openapi.json, the description that the API serves of itself."""

from __future__ import annotations

from warren.clock import SystemClock
from warren.settings import Settings
from warren_api.app import create_app
from warren_api.context import ApiContext
from warren_api.home.requests import AskedOnTopics, ForgetRequests
from warren_api.http.access import Access
from warren_api.model.archive import Archive
from warren_api.model.cluster import FeedState
from warren_api.model.read_model import ReadModel

from warren_docs.schemas import render


def pages() -> dict[str, str]:
    """File contents by path below docs/."""
    settings = Settings()
    context = ApiContext(
        settings,
        ReadModel(),
        lambda: FeedState(ready=False, problem=None),
        SystemClock(),
        ForgetRequests(settings.home).forget,
        AskedOnTopics(settings.home),
        Archive(settings.archiver),
    )
    access = Access(context.settings.api, is_loopback=True)
    return {"openapi.json": render(create_app(context, access).openapi())}
