"""Saved views: the overview as it is shown gets a name, for everybody. Plain forms."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from warren.contracts.saved_view import ViewQuery
from warren.errors import KafkaError

from warren_api.asked import NewView, remove_view, save_view
from warren_api.context import ApiContext
from warren_api.http.callers import asker
from warren_api.http.names import Segment
from warren_api.pages.asking import Render, read, said_in, to
from warren_api.pages.environment import status_of


def add_routes(routes: APIRouter, context: ApiContext, render: Render) -> None:
    def listed(query: str, name: str = "", problem: str = "", status_code: int = 200) -> Response:
        """`query`: what is to be saved; empty: nothing."""
        ready = context.feed_state().ready
        return render(
            "views.html",
            status_code=status_of(ready, ready=ready) if status_code == 200 else status_code,
            views=context.model.saved_views.all(),
            query=query,
            name=name,
            problem=problem,
        )

    @routes.get("/views")
    def views(query: ViewQuery = "") -> Response:
        return listed(query)

    @routes.post("/views")
    async def save(request: Request) -> Response:
        said = await said_in(request)
        name, query = said.get("name", ""), said.get("query", "")
        wanted, problem = read(NewView, name=name, query=query, by=said.get("by", ""))
        try:
            if wanted is not None:
                await save_view(context, wanted, asker(request))
                return to(f"/?{wanted.query}")
        except KafkaError as error:
            problem = str(error)
        return listed(query, name, problem, 422)

    @routes.post("/views/{name}/remove")
    async def remove(name: Segment) -> Response:
        view = context.model.saved_views.view(name)
        try:
            if view is not None:
                await remove_view(context, view)
        except KafkaError as error:
            return listed("", problem=str(error), status_code=422)
        return to("/views")
