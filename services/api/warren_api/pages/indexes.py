"""Pages of what there are few of: clusters, and how it stands with one, its past and its worst
groups; silences, notifications; owners and clusters; what statuses mean.
"""

from collections import Counter
from typing import get_args

from fastapi import APIRouter, Request, Response
from warren_core.judgement import causes as _  # noqa: F401  # they register themselves
from warren_core.judgement.causes.catalogue import Kind, ranked

from warren_api.http.names import Segment
from warren_api.model.notifications import newest_first
from warren_api.model.past import DAY_MS
from warren_api.pages import glossary
from warren_api.pages.environment import status_of, template_of
from warren_api.pages.fleet import fleet
from warren_api.pages.headline import no_groups
from warren_api.pages.pages import Pages, shown_at
from warren_api.pages.span import Span
from warren_api.search import near_names
from warren_api.writing import group_names

SHOWN = 200
GROUPS_SHOWN = 20


class Indexes(Pages):
    """Clusters, silences, notifications."""

    def clusters(self, request: Request) -> Response:
        ready = self.is_ready
        about = self.present()
        rows = []
        known = [self.context.model.cluster(name, about.now) for name in self.context.clusters]
        for state in sorted(known, key=lambda state: state.rank):
            views = self.context.model.views_of(state.cluster)
            statuses = Counter(about.row(view).last_status for view in views)
            rows.append((state, no_groups() | statuses))
        return self.render(
            template_of(request, "clusters"),
            status_code=status_of(ready, ready=ready),
            rows=rows,
            unwell=sum(state.state != "ok" for state in known),
        )

    def show(self, request: Request, cluster: Segment, span: Span) -> Response:
        ready = self.is_ready
        now, about = self.context.clock.now_ms(), self.present()
        rows = [about.row(view) for view in self.context.model.views_of(cluster)]
        totals = no_groups() | Counter(row.last_status for row in rows)
        bad = sorted((row for row in rows if row.kind != "ok"), key=lambda row: row.rank)
        is_known = cluster in self.context.clusters
        incidents = [one for one in self.context.model.incidents().all if one.cluster == cluster]
        return self.render(
            template_of(request, "cluster"),
            cluster,
            status_of(is_known, ready=ready),
            is_known=is_known,
            near=[] if is_known else near_names(cluster, self.context.clusters),
            state=self.context.model.cluster(cluster, now),
            totals=totals,
            groups=len(rows),
            lag=sum(row.view.event.total_lag for row in rows),
            is_all_lag=all(row.view.total_lag is not None for row in rows),
            partitions=sum(row.view.partition_count for row in rows),
            topics=len(self.context.model.topics.names(cluster)),
            incidents_open=sum(one.is_open for one in incidents),
            incidents_begun=sum(one.opened_at > now - DAY_MS for one in incidents),
            rows=bad[:GROUPS_SHOWN],
            bad=len(bad),
            trends=self.trends.cluster(cluster, span.at(now)),
            ready=ready,
        )

    def silences(self, request: Request) -> Response:
        ready = self.is_ready
        known, now = self.context.model.silences.all(), self.context.clock.now_ms()
        matching = self.context.model.silences.matching
        counts = Counter(each.id for name in group_names(self.context) for each in matching(*name))
        return self.render(
            template_of(request, "silences"),
            status_code=status_of(ready, ready=ready),
            counts=counts,
            current=[each for each in known if each.ends_at > now],
            ended=[each for each in known if each.ends_at <= now][:SHOWN],
        )

    def fleet(self, request: Request) -> Response:
        ready, about = self.is_ready, self.present()
        return self.render(
            template_of(request, "fleet"),
            status_code=status_of(ready, ready=ready),
            fleet=fleet(map(about.row, self.context.model.groups())),
        )

    def statuses(self) -> Response:
        kinds = {kind: ranked(kind) for kind in get_args(Kind)}
        return self.render(
            "statuses.html",
            statuses=glossary.STATUSES,
            of_groups=glossary.OF_GROUPS,
            words=glossary.WORDS,
            causes=kinds,
        )

    def notifications(self, request: Request) -> Response:
        ready = self.is_ready
        return self.render(
            template_of(request, "notifications"),
            status_code=status_of(ready, ready=ready),
            waiting=self.context.model.notifications.waiting()[:SHOWN],
            attempts=newest_first(self.context.model.notifications.attempts())[:SHOWN],
        )


def add_routes(routes: APIRouter, pages: Indexes) -> None:
    shown_at(routes, "/clusters", pages.clusters)
    shown_at(routes, "/clusters/{cluster}", pages.show)
    shown_at(routes, "/fleet", pages.fleet)
    routes.add_api_route("/statuses", pages.statuses)
    shown_at(routes, "/silences", pages.silences)
    shown_at(routes, "/notifications", pages.notifications)
