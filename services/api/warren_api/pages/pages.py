"""What all pages have in common: how they are rendered, and what they say of each group."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment
from warren_core.objectives.limits import ObjectiveBook

from warren_api.context import ApiContext
from warren_api.group_row import Present, Shown
from warren_api.model.incidents import IncidentRecord
from warren_api.pages import reports
from warren_api.pages.environment import RETRY_SECONDS
from warren_api.pages.trends import Trends


class Pages:
    """Some pages; subclasses have an endpoint for each."""

    def __init__(self, context: ApiContext, templates: Environment, trends: Trends) -> None:
        self.context = context
        self.templates = templates
        self.trends = trends
        self.book = ObjectiveBook(context.settings.objectives, context.settings.groups)

    @property
    def is_ready(self) -> bool:
        return self.context.feed_state().ready

    def render(
        self, template: str, cluster: str | None = None, status_code: int = 200, **variables: Any
    ) -> Response:
        """`cluster`: None where the page is about all of them."""
        context, doubts, model = self.context, self.context.doubts(), self.context.model
        seen = {each.cluster for each in model.groups()} | {
            each.cluster for each in model.not_judged()
        }
        about = [
            (name, sentence, name in seen)
            for name, own in doubts.by_cluster.items()
            if cluster in (None, name)
            for sentence in own
        ]
        variables |= {
            "cluster": cluster,
            "doubts": doubts.general,
            "cluster_doubts": about,
            "now": context.clock.now_ms(),
            "stale_after": context.stale_after_ms,
            "is_stale": context.is_freshness_stale,
            "notes": context.notes(),
            "reports": reports.written_reports(context.settings.api.reports_dir),
            "reading": status_code == HTTPStatus.SERVICE_UNAVAILABLE,
        }
        headers = {"Retry-After": RETRY_SECONDS} if variables["reading"] else None
        text = self.templates.get_template(template).render(variables)
        return HTMLResponse(text, status_code, headers)

    def present(self) -> Present:
        return Present.of(self.context, self.book)

    def shown_of(self) -> Callable[[IncidentRecord], Shown]:
        """How an incident stands, or stood."""
        about, model = self.present(), self.context.model

        def shown(one: IncidentRecord) -> Shown:
            view = model.group(one.cluster, one.group) if one.is_open else None
            return about.incident(one, about.row(view) if view else None)

        return shown


def shown_at(routes: APIRouter, path: str, endpoint: Callable[..., Response]) -> None:
    """A page, and the fragment of itself that its script asks for."""
    routes.add_api_route(path, endpoint)
    routes.add_api_route(f"/fragments{'/groups' if path == '/' else path}", endpoint)
