"""Pages for people: all groups worst first, and one group with its partitions.

Each page has a fragment of itself that its script fetches every two seconds; without JavaScript
the browser reloads the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from warren_api.context import ApiContext
from warren_api.http.raw_path import Segment
from warren_api.model.group import GroupView
from warren_api.model.membership import Membership
from warren_api.model.topic_progress import catch_up_ms
from warren_api.pages.environment import environment
from warren_api.pages.member_rows import member_rows

STATIC = Path(__file__).parent / "static"
GROUPS_SHOWN = 200
PARTITIONS_SHOWN = 500
MEMBERS_SHOWN = 200
HISTORY_SHOWN = 20

StatusFilter = Literal["", "bad", "losing", "ERR", "WARN", "OK"]
NamePart = Annotated[str, Query(max_length=300)]


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    templates = environment()

    def render(template: str, status_code: int = 200, **variables: Any) -> Response:
        variables |= {
            "doubts": context.doubts(),
            "now": context.clock.now_ms(),
            "stale_after": context.stale_after_ms,
            "is_stale": context.is_freshness_stale,
        }
        return HTMLResponse(templates.get_template(template).render(variables), status_code)

    def groups(template: str, q: str, status: StatusFilter) -> Response:
        views = context.model.groups()
        matching = [view for view in views if _matches(view, q, status)]
        return render(
            template,
            views=matching[:GROUPS_SHOWN],
            matching=len(matching),
            totals=_totals(views),
            losing=sum(view.is_losing for view in views),
            clusters=context.clusters,
            not_judged=[] if status else [m for m in context.model.not_judged() if _named(m, q)],
            q=q,
            status=status,
            ready=context.feed_state().ready,
        )

    def group(template: str, cluster: str, name: str) -> Response:
        view = context.model.group(cluster, name)
        membership = view.membership if view else context.model.unjudged(cluster, name)
        rows = sorted(view.partitions, key=lambda row: row.badness, reverse=True) if view else []
        return render(
            template,
            status_code=200 if view or membership else 404,
            view=view,
            rows=rows[:PARTITIONS_SHOWN],
            group_doubts=context.group_doubts(view) if view else [],
            membership=membership,
            members=member_rows(membership, rows)[:MEMBERS_SHOWN] if membership else [],
            catch_up_ms=catch_up_ms(context.model.topics.progress(cluster, name).values()),
            history=context.model.history.of_group(cluster, name)[:HISTORY_SHOWN],
            cluster=cluster,
            group=name,
        )

    @routes.get("/")
    def groups_page(q: NamePart = "", status: StatusFilter = "") -> Response:
        return groups("groups.html", q, status)

    @routes.get("/fragments/groups")
    def groups_fragment(q: NamePart = "", status: StatusFilter = "") -> Response:
        return groups("groups_fragment.html", q, status)

    @routes.get("/groups/{cluster}/{name}")
    def group_page(cluster: Segment, name: Segment) -> Response:
        return group("group.html", cluster, name)

    @routes.get("/fragments/groups/{cluster}/{name}")
    def group_fragment(cluster: Segment, name: Segment) -> Response:
        return group("group_fragment.html", cluster, name)

    return routes


def _matches(view: GroupView, q: str, status: StatusFilter) -> bool:
    """`q` is a part of `cluster/group`, whatever its case."""
    own = view.event.status
    fits = {"": True, "bad": own != "OK", "losing": view.is_losing}
    if not fits.get(status, own == status):
        return False
    return _named(view, q)


def _named(group: GroupView | Membership, q: str) -> bool:
    return q.casefold() in f"{group.cluster}/{group.group}".casefold()


def _totals(views: tuple[GroupView, ...]) -> dict[str, int]:
    """Groups by status, worst first; statuses that none has count 0."""
    totals = {"ERR": 0, "WARN": 0, "OK": 0}
    for view in views:
        totals[view.event.status] = totals.get(view.event.status, 0) + 1
    return totals
