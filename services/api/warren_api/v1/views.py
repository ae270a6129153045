"""Saved views of the overview: whoever may change something may save one and remove it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Self
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from warren.contracts import SavedView

from warren_api.asked import NewView, remove_view, save_view
from warren_api.context import ApiContext
from warren_api.http.callers import asker
from warren_api.http.names import Segment
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.v1.lists import require_read
from warren_api.v1.silences import CHANGES


class View(BaseModel):
    """A part of the overview that has a name."""

    name: str = Field(description="What its link says")
    query: str = Field(description="What is asked of the overview, as in its address")
    by: str = Field(description="Who saved it")
    at: int = Field(description="When, Unix milliseconds")

    @classmethod
    def of(cls, view: SavedView) -> Self:
        return cls(name=view.name, query=view.query, by=view.by, at=view.at)


class Views(BaseModel):
    """Views that people have saved."""

    views: list[View] = Field(description="By name")


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(tags=["views"])

    def _known(name: str) -> SavedView:
        if view := context.model.saved_views.view(name):
            return view
        raise NotDone(ProblemKind.VIEW_NOT_FOUND, f"No view {name} is saved.")

    @routes.get("/views", responses=documented(ProblemKind.STARTING))
    def views() -> Views:
        """All that people have saved; those of the settings are not among them."""
        require_read(context)
        return Views(views=[View.of(view) for view in context.model.saved_views.all()])

    @routes.get(
        "/views/{name}", responses=documented(ProblemKind.VIEW_NOT_FOUND, ProblemKind.STARTING)
    )
    def one(name: Segment) -> View:
        """One view."""
        require_read(context)
        return View.of(_known(name))

    @routes.post(
        "/views",
        status_code=HTTPStatus.CREATED,
        responses=documented(ProblemKind.INVALID_REQUEST, *CHANGES),
    )
    async def save(request: Request, wanted: NewView, answer: Response) -> View:
        """Give a part of the overview a name. One of the same name is replaced."""
        require_read(context)
        view = await save_view(context, wanted, asker(request))
        answer.headers["Location"] = f"/api/v1/views/{quote(view.name, safe='')}"
        return View.of(view)

    @routes.delete("/views/{name}", responses=documented(ProblemKind.VIEW_NOT_FOUND, *CHANGES))
    async def remove(name: Segment) -> View:
        """Remove a view: nobody needs it any more. The answer is what it was."""
        require_read(context)
        view = _known(name)
        await remove_view(context, view)
        return View.of(view)

    return routes
