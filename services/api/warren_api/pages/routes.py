"""Pages for people: all groups worst first, and one group with its partitions.

Each page has a fragment of itself that its script fetches every two seconds; without JavaScript
the browser reloads the page.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from warren_api.context import ApiContext, Verdicts
from warren_api.http.raw_path import Segment
from warren_api.model.group import GroupView
from warren_api.model.incidents import incidents
from warren_api.model.membership import Membership
from warren_api.model.verdict import rank
from warren_api.pages import asking, reports
from warren_api.pages.environment import environment
from warren_api.pages.member_rows import member_rows
from warren_api.pages.trends import GroupTrends, TopicTrends, spark

STATIC = Path(__file__).parent / "static"
GROUPS_SHOWN = 200
PARTITIONS_SHOWN = 500
MEMBERS_SHOWN = 200
HISTORY_SHOWN = 20

StatusFilter = Literal["", "bad", "losing", "ERR", "WARN", "UNKNOWN", "OK"]
NamePart = Annotated[str, Query(max_length=300)]


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    templates = environment()

    def render(
        template: str, cluster: str | None = None, status_code: int = 200, **variables: Any
    ) -> Response:
        """`cluster`: None where the page is about all of them."""
        doubts = context.doubts()
        about = doubts.by_cluster.values() if cluster is None else [doubts.by_cluster.get(cluster)]
        variables |= {
            "cluster": cluster,
            "doubts": doubts.general,
            "cluster_doubts": [sentence for own in about for sentence in own or ()],
            "now": context.clock.now_ms(),
            "stale_after": context.stale_after_ms,
            "is_stale": context.is_freshness_stale,
            "notes": context.notes(),
            "reports": reports.written_reports(context.settings.api.reports_dir),
        }
        return HTMLResponse(templates.get_template(template).render(variables), status_code)

    def groups(template: str, q: str, status: StatusFilter) -> Response:
        verdicts = context.verdicts()
        views = context.model.groups()
        totals = _totals(views, verdicts)
        if totals["UNKNOWN"]:
            views = tuple(sorted(views, key=lambda view: rank(view, verdicts(view))))
        now = context.clock.now_ms()
        matching = [view for view in views if _matches(view, q, status, verdicts)]
        return render(
            template,
            views=matching[:GROUPS_SHOWN],
            matching=len(matching),
            totals=totals,
            verdict_of=verdicts,
            spark_of=lambda view: spark(context.model.past, view.cluster, view.group, now),
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
        notes = context.notes()
        past = context.model.history.of_group(cluster, name)
        rows = sorted(view.partitions, key=lambda row: row.badness, reverse=True) if view else []
        return render(
            template,
            status_code=200 if view or membership else 404,
            cluster=cluster,
            view=view,
            verdict=context.verdicts()(view) if view else None,
            rows=rows[:PARTITIONS_SHOWN],
            group_doubts=context.group_doubts(view) if view else [],
            membership=membership,
            members=member_rows(membership, rows)[:MEMBERS_SHOWN] if membership else [],
            catch_up_ms=view.catch_up_ms if view else None,
            history=past[:HISTORY_SHOWN],
            trends=GroupTrends(context.model.past, cluster, name, context.clock.now_ms(), past),
            broken=[each for each in incidents(past, [view]) if each.is_breach] if view else [],
            group=name,
            silence=notes.silences.of(cluster, name),
            acknowledgement=notes.acknowledgement_of(view) if view else None,
        )

    def topic(template: str, cluster: str, name: str) -> Response:
        view, verdicts = context.model.topics.topic(cluster, name), context.verdicts()
        readers = [context.model.group(cluster, group) for group in view.groups] if view else []
        judged = sorted((reader for reader in readers if reader), key=lambda reader: reader.rank)
        return render(
            template,
            status_code=200 if view else 404,
            cluster=cluster,
            topic=name,
            view=view,
            groups=judged[:GROUPS_SHOWN],
            omitted=len(judged[GROUPS_SHOWN:]),
            verdict_of=verdicts,
            trends=TopicTrends(context.model.past, cluster, name, context.clock.now_ms()),
        )

    @routes.get("/topics/{cluster}/{name}")
    def topic_page(cluster: Segment, name: Segment) -> Response:
        return topic("topic.html", cluster, name)

    @routes.get("/fragments/topics/{cluster}/{name}")
    def topic_fragment(cluster: Segment, name: Segment) -> Response:
        return topic("topic_fragment.html", cluster, name)

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

    asking.add_routes(routes, context, render)
    reports.add_routes(routes, context)
    return routes


def _matches(view: GroupView, q: str, status: StatusFilter, verdicts: Verdicts) -> bool:
    """`q` is a part of `cluster/group`, whatever its case."""
    if not _named(view, q):
        return False
    own = verdicts(view).status
    fits = {"": True, "bad": own != "OK", "losing": view.is_losing}
    return fits.get(status, own == status)


def _named(group: GroupView | Membership, q: str) -> bool:
    return q.casefold() in f"{group.cluster}/{group.group}".casefold()


def _totals(views: tuple[GroupView, ...], verdicts: Verdicts) -> dict[str, int]:
    """Groups by status, worst first; statuses that none has count 0."""
    return {"ERR": 0, "WARN": 0, "UNKNOWN": 0, "OK": 0} | Counter(
        verdicts(view).status for view in views
    )
