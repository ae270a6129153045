"""Pages for people: all groups worst first, and one group with its partitions.

Each page has a fragment of itself that its script asks for every two seconds. Without JavaScript it
says as of when it is, and a link renews it: a reload would take away what is ticked and typed.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse
from warren_core.objectives.limits import ObjectiveBook

from warren_api.context import ApiContext
from warren_api.group_row import Asked, Wrong, wrong_in
from warren_api.http.names import Segment
from warren_api.model.incidents import IncidentRecord
from warren_api.pages import asking, indexes, many, reports
from warren_api.pages.asking import DoneAsked
from warren_api.pages.environment import RETRY_SECONDS, environment, status_of, template_of
from warren_api.pages.group_sections import (
    broken_banners,
    group_row_html,
    member_rows,
    partitions_of,
)
from warren_api.pages.headline import headline, no_groups, readers
from warren_api.pages.lists import (
    IncidentListView,
    Order,
    PageNumber,
    TopicListView,
    TopicSort,
    Words,
    incident_list,
    topic_list,
)
from warren_api.pages.overview import By, Sort, View, last_changes, overview
from warren_api.pages.sentences import commands
from warren_api.pages.span import SpanAsked
from warren_api.pages.trends import Trends, catch_up_ms, of_group, rates_of
from warren_api.search import Row, near_names

STATIC = Path(__file__).parent / "static"
READERS_SHOWN = 200
MEMBERS_SHOWN = 200
MOMENTS_SHOWN = 30
GROUP_INCIDENTS_SHOWN = 20


def _view(
    q: Words = "", sort: Sort = "worst", by: By = "", order: Order = "", page: PageNumber = 1
) -> View:
    return View(q, sort=sort, by=by, order=order, page=page)


def _topic_list_view(
    q: Words = "", sort: TopicSort = "name", order: Order = "", page: PageNumber = 1
) -> TopicListView:
    return TopicListView(q, sort=sort, order=order, page=page)


def _incident_list_view(q: Words = "", page: PageNumber = 1) -> IncidentListView:
    return IncidentListView(q, page=page)


Viewed = Annotated[View, Depends(_view)]
IncidentsViewed = Annotated[IncidentListView, Depends(_incident_list_view)]
TopicsViewed = Annotated[TopicListView, Depends(_topic_list_view)]


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    templates = environment()
    trends = Trends(context.model.past, context.archive)
    book = ObjectiveBook(context.settings.objectives, context.settings.groups)

    def render(
        template: str, cluster: str | None = None, status_code: int = 200, **variables: Any
    ) -> Response:
        """`cluster`: None where the page is about all of them."""
        doubts, model = context.doubts(), context.model
        seen = model.newest_evaluations().keys() | {each.cluster for each in model.not_judged()}
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
        text = templates.get_template(template).render(variables)
        return HTMLResponse(text, status_code, headers)

    def asked() -> Asked:
        return Asked.of(context, book)

    def words() -> Callable[[IncidentRecord], Wrong | None]:
        about = asked()

        def wrong_of(incident: IncidentRecord) -> Wrong | None:
            view = context.model.group(incident.cluster, incident.group)
            return wrong_in(incident, about.row(view) if view else None)

        return wrong_of

    @routes.get("/")
    @routes.get("/fragments/groups")
    def groups(request: Request, view: Viewed, done: DoneAsked) -> Response:
        ready = context.feed_state().ready
        about = asked()
        clusters = [context.model.cluster(name, about.now) for name in context.clusters]
        shown = overview(context.model, about, view, clusters)
        search = shown.search
        not_judged = context.model.not_judged()

        def everything() -> Iterator[Row]:
            yield from map(about.row, context.model.groups())
            yield from map(about.any_row, not_judged)

        return render(
            template_of(request, "groups"),
            overview=shown,
            view=shown.view,
            q=view.q,
            done=done,
            begun=done.silences(context.model.silences, about.now),
            acknowledged=context.notes().acknowledged_at(done.at) if done.at else [],
            search=search,
            hints=search.hints(everything) if ready else [],
            row_of=partial(group_row_html, templates, trends, context),
            last=last_changes(
                context.model.history.changes(), context.model.incidents().all, about.now
            ),
            headline=headline(shown.standings, about.now),
            clusters=clusters,
            no_groups=no_groups(),
            filters=context.settings.api.filters,
            lengths=asking.LENGTHS,
            bys=get_args(By)[1:],
            not_judged=[each for each in not_judged if search.finds(about.any_row(each))],
            ready=ready,
        )

    @routes.get("/groups/{cluster}/{name}")
    @routes.get("/fragments/groups/{cluster}/{name}")
    def group(request: Request, cluster: Segment, name: Segment, span: SpanAsked) -> Response:
        ready = context.feed_state().ready
        view = context.model.group(cluster, name)
        membership = view.membership if view else context.model.unjudged(cluster, name)
        notes = context.notes()
        past, now = context.model.history.of_group(cluster, name), context.clock.now_ms()
        mine = [one for one in context.model.incidents().all if one.name == (cluster, name)]
        told = mine if view else []
        row = asked().row(view) if view else None
        moved = rates_of(view) if view else None
        drawn = trends.group(cluster, name, span.at(now), past, told)
        acknowledgement = notes.acknowledgement_of(cluster, name) if view else None
        happened = of_group(
            past[:MOMENTS_SHOWN],
            context.model.notifications.of_group(cluster, name)[:MOMENTS_SHOWN],
            acknowledgement,
            context.model.silences.matching(cluster, name),
            trends.rebalances(cluster, name, now),
            now,
        )
        return render(
            template_of(request, "group"),
            status_code=status_of(view or membership, ready=ready),
            cluster=cluster,
            view=view,
            near=[] if view else near_names(name, context.model.groups_of(cluster)),
            last=mine[0] if mine and not view else None,
            verdict=context.verdicts()(view) if view else None,
            partitions=partitions_of(view) if view else None,
            group_doubts=context.group_doubts(view) if view else [],
            membership=membership,
            members=member_rows(membership, view.partitions if view else ())[:MEMBERS_SHOWN]
            if membership
            else [],
            catch_up_ms=catch_up_ms(view, moved) if view else None,
            moved=moved,
            lengths=asking.LENGTHS,
            commands=commands(name, view.cause if view else None, context.servers(cluster)),
            timeline=happened[:MOMENTS_SHOWN],
            trends=drawn,
            group_incidents=told[:GROUP_INCIDENTS_SHOWN],
            incidents_omitted=len(told[GROUP_INCIDENTS_SHOWN:]),
            wrong_of=words(),
            group=name,
            row=row,
            broken=broken_banners(row) if row else [],
            silence=notes.silences.of(cluster, name),
            acknowledgement=acknowledgement,
        )

    @routes.get("/topics/{cluster}/{name}")
    @routes.get("/fragments/topics/{cluster}/{name}")
    def topic(request: Request, cluster: Segment, name: Segment, span: SpanAsked) -> Response:
        ready = context.feed_state().ready
        view, about = context.model.topics.topic(cluster, name), asked()
        known = [context.model.group(cluster, group) for group in view.groups] if view else []
        judged = sorted((reader for reader in known if reader), key=lambda reader: reader.rank)
        statuses = Counter(about.row(reader).status for reader in judged)
        return render(
            template_of(request, "topic"),
            status_code=status_of(view, ready=ready),
            cluster=cluster,
            topic=name,
            view=view,
            near=[] if view else near_names(name, context.model.topics.names(cluster)),
            groups=judged[:READERS_SHOWN],
            omitted=len(judged[READERS_SHOWN:]),
            readers=readers(len(judged), statuses["ERR"] + statuses["WARN"], statuses["UNKNOWN"]),
            row_of=about.row,
            trends=trends.topic(cluster, name, span.at(context.clock.now_ms())),
        )

    @routes.get("/topics")
    @routes.get("/fragments/topics")
    def topics(request: Request, view: TopicsViewed) -> Response:
        ready = context.feed_state().ready
        known = context.model.topics.topics()
        shown, problems = topic_list(known, view)
        status_code = status_of(ready or known, ready=ready)
        return render(
            template_of(request, "topics"),
            status_code=status_code,
            view=view,
            shown=shown,
            problems=problems,
        )

    @routes.get("/incidents")
    @routes.get("/fragments/incidents")
    def all_incidents(request: Request, view: IncidentsViewed) -> Response:
        ready = context.feed_state().ready
        known = context.model.incidents()
        shown, problems = incident_list(known.all, view)
        return render(
            template_of(request, "incidents"),
            status_code=status_of(ready, ready=ready),
            view=view,
            shown=shown,
            open=len(known.by_group),
            problems=problems,
            wrong_of=words(),
        )

    asking.add_routes(routes, context, render, lambda view: asked().row(view))
    many.add_routes(routes, context, render, asked)
    reports.add_routes(routes, context, render)
    indexes.add_routes(routes, context, render, asked, trends)
    return routes
