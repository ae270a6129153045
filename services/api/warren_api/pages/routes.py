"""Pages for people: all groups worst first, and one group with its partitions.

Each page has a fragment of itself that its script asks for every two seconds. Without JavaScript it
says as of when it is, and a link renews it: a reload would take away what is ticked and typed.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Request, Response

from warren_api.context import ApiContext
from warren_api.http.names import Segment
from warren_api.model.past import HOUR_MS
from warren_api.pages import asking, indexes, many, reports
from warren_api.pages.asking import DONE, DoneQuery
from warren_api.pages.environment import environment, is_fragment, status_of, template_of
from warren_api.pages.group_sections import (
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
from warren_api.pages.pages import Pages, shown_at
from warren_api.pages.span import Span
from warren_api.pages.trends import Trends, catch_up_ms, of_group, rates_of
from warren_api.search import GroupSearch, Row, near_names

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
    common = (context, environment(), Trends(context.model.past, context.archive))
    pages = GroupPages(*common)
    shown_at(routes, "/", pages.groups)
    shown_at(routes, "/groups/{cluster}/{name}", pages.group)
    shown_at(routes, "/topics/{cluster}/{name}", pages.topic)
    shown_at(routes, "/topics", pages.topics)
    shown_at(routes, "/incidents", pages.all_incidents)
    asking.add_routes(routes, asking.Forms(*common))
    many.add_routes(routes, many.Many(*common))
    indexes.add_routes(routes, indexes.Indexes(*common))
    reports.add_routes(routes, context, pages.render)
    return routes


class GroupPages(Pages):
    """Groups, topics, incidents."""

    def groups(self, request: Request, view: Viewed, done: DoneQuery) -> Response:
        ready = self.is_ready
        about = self.present()
        clusters = [self.context.model.cluster(name, about.now) for name in self.context.clusters]
        not_judged = self.context.model.not_judged()

        def everything() -> Iterator[Row]:
            yield from map(about.row, self.context.model.groups())
            yield from map(about.any_row, not_judged)

        hints = GroupSearch(view.rest).hints(everything) if ready else []
        shown = overview(self.context.model, about, view, clusters, hints)
        search = shown.search
        answer = self.render(
            template_of(request, "groups"),
            overview=shown,
            view=shown.view,
            q=view.q,
            done=done,
            begun=done.silences(self.context.model.silences, about.now),
            acknowledged=self.context.notes().acknowledged_at(done.at) if done.at else [],
            search=search,
            hints=hints,
            row_of=partial(
                group_row_html, self.templates, self.trends, self.context, shown.view.url
            ),
            last=last_changes(
                self.context.model.history.changes(), self.context.model.incidents().all, about.now
            ),
            headline=headline(shown.standings, about.now),
            clusters=clusters,
            no_groups=no_groups(),
            filters=self.context.settings.api.filters,
            lengths=asking.LENGTHS,
            bys=get_args(By)[1:],
            not_judged=[each for each in not_judged if search.finds(about.any_row(each))],
            ready=ready,
        )
        if done.what and not is_fragment(request):
            answer.delete_cookie(DONE)
        return answer

    def group(self, request: Request, cluster: Segment, name: Segment, span: Span) -> Response:
        ready = self.is_ready
        view = self.context.model.group(cluster, name)
        membership = view.membership if view else self.context.model.unjudged(cluster, name)
        notes = self.context.notes()
        past, now = self.context.model.history.of_group(cluster, name), self.context.clock.now_ms()
        mine = [one for one in self.context.model.incidents().all if one.name == (cluster, name)]
        told = mine if view else []
        row = self.present().row(view) if view else None
        moved = rates_of(view) if view else None
        drawn = self.trends.group(cluster, name, span.at(now), past, told)
        acknowledgement = notes.acknowledgement_of(cluster, name) if view else None
        happened = of_group(
            past[:MOMENTS_SHOWN],
            self.context.model.notifications.of_group(cluster, name)[:MOMENTS_SHOWN],
            acknowledgement,
            self.context.model.silences.matching(cluster, name),
            self.trends.of_members(cluster, name, now - HOUR_MS, now),
            now,
        )
        return self.render(
            template_of(request, "group"),
            status_code=status_of(view or membership, ready=ready),
            cluster=cluster,
            view=view,
            near=[] if view else near_names(name, self.context.model.groups_of(cluster)),
            last=mine[0] if mine and not view else None,
            verdict=self.context.verdicts()(view) if view else None,
            partitions=partitions_of(view) if view else None,
            group_doubts=self.context.group_doubts(view) if view else [],
            membership=membership,
            members=member_rows(membership, view.partitions if view else ())[:MEMBERS_SHOWN]
            if membership
            else [],
            catch_up_ms=catch_up_ms(view, moved) if view else None,
            moved=moved,
            lengths=asking.LENGTHS,
            timeline=happened[:MOMENTS_SHOWN],
            trends=drawn,
            group_incidents=told[:GROUP_INCIDENTS_SHOWN],
            incidents_omitted=len(told[GROUP_INCIDENTS_SHOWN:]),
            shown_of=self.shown_of(),
            group=name,
            row=row,
            silence=notes.silences.of(cluster, name),
            acknowledgement=acknowledgement,
        )

    def topic(self, request: Request, cluster: Segment, name: Segment, span: Span) -> Response:
        ready = self.is_ready
        view, about = self.context.model.topics.topic(cluster, name), self.present()
        known = [self.context.model.group(cluster, group) for group in view.groups] if view else []
        judged = sorted((reader for reader in known if reader), key=lambda reader: reader.rank)
        statuses = Counter(about.row(reader).status for reader in judged)
        return self.render(
            template_of(request, "topic"),
            status_code=status_of(view, ready=ready),
            cluster=cluster,
            topic=name,
            view=view,
            near=[] if view else near_names(name, self.context.model.topics.names(cluster)),
            groups=judged[:READERS_SHOWN],
            omitted=len(judged[READERS_SHOWN:]),
            readers=readers(len(judged), statuses["ERR"] + statuses["WARN"], statuses["UNKNOWN"]),
            row_of=about.row,
            trends=self.trends.topic(cluster, name, span.at(self.context.clock.now_ms())),
        )

    def topics(self, request: Request, view: TopicsViewed) -> Response:
        ready = self.is_ready
        known = self.context.model.topics.topics()
        shown, problems = topic_list(known, view)
        status_code = status_of(ready or known, ready=ready)
        return self.render(
            template_of(request, "topics"),
            status_code=status_code,
            view=view,
            shown=shown,
            problems=problems,
        )

    def all_incidents(self, request: Request, view: IncidentsViewed) -> Response:
        ready = self.is_ready
        known = self.context.model.incidents()
        shown, problems = incident_list(known.all, view)
        return self.render(
            template_of(request, "incidents"),
            status_code=status_of(ready, ready=ready),
            view=view,
            shown=shown,
            open=len(known.by_group),
            problems=problems,
            shown_of=self.shown_of(),
        )
