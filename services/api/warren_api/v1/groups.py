"""Consumer groups: which a list shows, in which order, and one with all that is known of it."""

from collections.abc import Callable, Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import AfterValidator, Field
from warren.bootstrap import addressed
from warren.patterns import searcher
from warren.words import visible
from warren_core.objectives.limits import ObjectiveBook

from warren_api.context import ApiContext
from warren_api.group_row import GroupRow, Present, UnjudgedRow
from warren_api.http.names import Segment
from warren_api.http.problem import ProblemKind, documented
from warren_api.model.group import NEVER, ShownStatusName
from warren_api.model.topics import progress_on
from warren_api.search import GroupSearch, Row, near_names
from warren_api.v1.group_bodies import (
    GroupDetail,
    Groups,
    GroupSummary,
    GroupTopic,
    MembershipDetail,
)
from warren_api.v1.group_parts import FactView, PartitionDetail, RecordedVerdict
from warren_api.v1.lists import (
    LIST_PROBLEMS,
    Entry,
    Key,
    ListQuery,
    Name,
    Regex,
    find_group,
    largest_first,
    require_read,
    routes_of,
)

GroupSort = Literal["worst", "name", "lag", "late", "loss", "since"]
_MEASURES: dict[str, Callable[[GroupRow], float | None]] = {
    "lag": lambda row: row.view.event.total_lag,
    "late": lambda row: row.late_ms,
    "loss": lambda row: (
        # The nearest loss comes first, behind what is lost.
        row.view.lost_records
        or (None if row.view.time_to_loss_ms is None else -row.view.time_to_loss_ms)
    ),
    "since": lambda row: row.verdict.since,
}


def unread(rows: Iterable[Row], topic: str) -> list[str]:
    """What to say of a topic that none of the groups reads, with names that may have been meant."""
    near = near_names(topic, {each for row in rows for each in row.topics})
    meant = f" Did you mean {' or '.join(map(visible, near))}?" if near else ""
    return [f"No group reads the topic {visible(topic)}.{meant}"]


def _key(row: Row, sort: GroupSort) -> Key:
    """As GroupQuery says, unknown ones last."""
    name = row.cluster, row.group
    if sort == "name":
        return name
    if isinstance(row, UnjudgedRow):
        return (NEVER, 0, 0, 0, 0, *name) if sort == "worst" else (*largest_first(None), *name)
    return row.rank if sort == "worst" else (*largest_first(_MEASURES[sort](row)), *name)


HISTORY_SHOWN = 100


def _understood(text: str) -> str:
    if problems := GroupSearch(text).problems:
        raise ValueError(" ".join(problems))
    return text


Words = Annotated[str, Field(max_length=300), AfterValidator(_understood)]


class GroupQuery(ListQuery):
    """Which groups, in which order."""

    noun = "groups"
    status: list[ShownStatusName] = Field([], description="Only these statuses; may be repeated")
    regex: Regex | None = Field(
        None,
        description="Only groups in whose name this regular expression matches somewhere; no "
        "look-around, no backreferences",
    )
    topic: Name | None = Field(None, description="Only groups that consume this topic")
    q: Words | None = Field(
        None,
        description="Only groups that this finds, as the search field of the pages does: words, "
        "and `status:err,warn late:>10m lag:>1000 owner:x -is:silenced`; `since:>1h` is how long a "
        "group has not been OK, whatever its status was meanwhile (OK: how long it has been); "
        "groups without a verdict by words, names, `client`, `host`, `owner` and `is:silenced`",
    )
    sort: GroupSort = Field(
        "worst",
        description="`worst`: what needs action first, then warnings, what is acknowledged or "
        "silenced, UNKNOWN, OK; among them who loses data, then whose loss is nearest, then the "
        "worst status; else the largest `lag`, who is `late` most, who has lost most or nearest "
        "to `loss`, the newest status (`since`) first, unknown ones last; or by cluster and "
        "`name`",
    )


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("groups")
    book = ObjectiveBook(context.settings.objectives, context.settings.groups)

    def detail(row: Row) -> GroupDetail:
        cluster, group = row.cluster, row.group
        view = row.view if isinstance(row, GroupRow) else None
        membership = row.membership
        topics = sorted(view.event.topics) if view else []
        history = context.model.history.of_group(cluster, group)
        said = dict(GroupSummary.of(row))
        cause, servers = said.pop("cause"), ",".join(context.servers(cluster))
        shown = row.shown if isinstance(row, GroupRow) else None
        return GroupDetail(
            **said,
            cause=cause and addressed(cause, servers, cluster),
            policy=view.event.policy if view else None,
            action=next(iter(shown.standing.steps), None) if shown else None,
            facts=[FactView(**fact._asdict()) for fact in (shown.facts if shown else ())],
            labels=dict(row.ownership.labels),
            topics=[GroupTopic.of(topic, progress_on(view, topic)) for topic in topics if view],
            partitions=[PartitionDetail.of(each) for each in (view.partitions if view else ())],
            membership=MembershipDetail.of(membership) if membership else None,
            open_transactions=view.open_transactions if view else [],
            history=[RecordedVerdict.of(recorded) for recorded in history[:HISTORY_SHOWN]],
            doubts=context.doubts().of(cluster) + (context.group_doubts(view) if view else []),
        )

    @routes.get("/groups", responses=LIST_PROBLEMS)
    def groups(query: Annotated[GroupQuery, Query()]) -> Groups:
        """Consumer groups: unless another order is asked for, those that need action come
        first, and of them those that lose data. Share groups are listed without a verdict.
        """
        require_read(context)
        search, matches = GroupSearch(query.q or ""), searcher(query.regex or "")
        present = Present.of(context, book)
        known = [present.any_row(each) for each in context.model.groups()]
        known += [present.any_row(each) for each in context.model.not_judged()]
        rows = [
            row
            for row in known
            if query.cluster in (None, row.cluster)
            and (
                not query.status
                or (isinstance(row, GroupRow) and row.verdict.status in query.status)
            )
            and matches(row.group)
            and (query.topic is None or query.topic in row.topics)
            and search.finds(row)
        ]
        page = query.page([Entry(_key(row, query.sort), row) for row in rows], context.clusters)
        hints = search.hints(lambda: known)
        here = [row for row in known if query.cluster in (None, row.cluster)]
        if query.topic is not None and not any(query.topic in row.topics for row in here):
            hints += unread(here, query.topic)
        return Groups(
            groups=[GroupSummary.of(row) for row in page.rows],
            next=page.next,
            total=page.total,
            doubts=context.doubts().of(query.cluster),
            hints=hints,
        )

    @routes.get(
        "/groups/{cluster}/{group}",
        responses=documented(
            ProblemKind.CLUSTER_NOT_FOUND, ProblemKind.GROUP_NOT_FOUND, ProblemKind.STARTING
        ),
    )
    def group(cluster: Segment, group: Segment) -> GroupDetail:
        """One consumer group with its topics, partitions, members and status changes."""
        require_read(context)
        return detail(Present.of(context, book).any_row(find_group(context, cluster, group)))

    return routes
