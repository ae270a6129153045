"""Consumer groups."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator, Field
from warren_core.objectives.limits import ObjectiveBook

from warren_api.context import ApiContext, Notes, Verdicts
from warren_api.group_row import Asked
from warren_api.http.problem import ProblemKind, documented, problem
from warren_api.http.raw_path import Segment
from warren_api.model.group import GroupView
from warren_api.model.membership import Membership
from warren_api.model.shown_status import ShownStatusName
from warren_api.search import Search
from warren_api.v1.group_listing import GroupRow, GroupSort, entries, unread, wanted
from warren_api.v1.models import (
    GroupDetail,
    Groups,
    GroupSummary,
    GroupTopic,
    MembershipDetail,
    PartitionDetail,
    RecordedVerdict,
)
from warren_api.v1.paging import Paging
from warren_api.v1.routes.answers import LIST_PROBLEMS, ListQuery, Name, Regex, starting

HISTORY_SHOWN = 100


def _understood(text: str) -> str:
    if problems := Search(text).problems:
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
        description="`worst`: those that lose data, then the worst status, UNKNOWN before OK; "
        "else the largest `lag`, `time_lag` or `status_age` first, unknown ones last; or by "
        "cluster and `name`",
    )


def router(context: ApiContext, paging: Paging) -> APIRouter:
    routes = APIRouter(tags=["groups"])
    limits_of = ObjectiveBook(context.settings.objectives).limits_for

    def summary(row: GroupRow, verdicts: Verdicts, notes: Notes) -> GroupSummary:
        if isinstance(row, Membership):
            return GroupSummary.of_not_judged(row, notes)
        stale = context.is_freshness_stale(row)
        return GroupSummary.of(row, verdicts(row), notes, stale=stale)

    def summary_json(row: GroupRow, verdicts: Verdicts, notes: Notes) -> str:
        if isinstance(row, Membership) or not verdicts(row).is_known:  # how long changes
            return summary(row, verdicts, notes).model_dump_json()
        if notes.silence_of(row) or notes.acknowledgement_of(row):
            return summary(row, verdicts, notes).model_dump_json()
        purpose = "stale summary" if context.is_freshness_stale(row) else "summary"
        if purpose not in row.rendered:
            row.rendered[purpose] = summary(row, verdicts, notes).model_dump_json()
        return row.rendered[purpose]

    def detail(row: GroupRow) -> GroupDetail:
        cluster, group = row.cluster, row.group
        membership = row.membership if isinstance(row, GroupView) else row
        partitions = row.partitions if isinstance(row, GroupView) else ()
        topics = context.model.topics.progress(cluster, group)
        history = context.model.history.of_group(cluster, group)
        return GroupDetail(
            **dict(summary(row, context.verdicts(), context.notes())),
            policy=row.event.policy if isinstance(row, GroupView) else None,
            topics=[GroupTopic.of(topic, progress) for topic, progress in topics.items()],
            partitions=[PartitionDetail.of(partition) for partition in partitions],
            membership=MembershipDetail.of(membership) if membership else None,
            open_transactions=row.open_transactions if isinstance(row, GroupView) else [],
            history=[RecordedVerdict.of(recorded) for recorded in history[:HISTORY_SHOWN]],
            doubts=context.doubts().of(cluster)
            + (context.group_doubts(row) if isinstance(row, GroupView) else []),
        )

    @routes.get("/groups", response_model=Groups, responses=LIST_PROBLEMS)
    def groups(query: Annotated[GroupQuery, Query()]) -> Response:
        """Consumer groups: unless another order is asked for, first those that lose data, then
        worst first. Share groups are listed without a verdict.
        """
        if not_ready := starting(context):
            return not_ready
        search, asked = Search(query.q or ""), Asked.of(context, limits_of)
        verdicts, notes = asked.verdicts, asked.notes
        known: list[GroupRow] = [*context.model.groups(), *context.model.not_judged()]
        rows = wanted(
            known,
            verdicts,
            cluster=query.cluster,
            status=query.status,
            regex=query.regex,
            topic=query.topic,
            finds=(lambda row: search.finds(asked.any_row(row))) if search.text else None,
        )
        page = query.page(paging, entries(rows, query.sort, verdicts))
        # As Groups has it, put together from what is rendered already.
        doubts = context.doubts().of(query.cluster)
        hints = search.hints(lambda: map(asked.any_row, known))
        if query.topic is not None and not rows:
            hints += unread(known, query.topic, query.cluster)
        rest = {"next": page.next, "total": page.total, "doubts": doubts, "hints": hints}
        listed = ",".join(summary_json(row, verdicts, notes) for row in page.rows)
        text = f'{{"groups":[{listed}],{json.dumps(rest, ensure_ascii=False)[1:]}'
        return Response(text, media_type="application/json")

    @routes.get(
        "/groups/{cluster}/{group}",
        response_model=GroupDetail,
        responses=documented(ProblemKind.GROUP_NOT_FOUND, ProblemKind.STARTING),
    )
    def group(cluster: Segment, group: Segment) -> GroupDetail | Response:
        """One consumer group with its topics, partitions, members and status changes."""
        if not_ready := starting(context):
            return not_ready
        row = context.model.group(cluster, group) or context.model.unjudged(cluster, group)
        if row is None:
            return problem(
                ProblemKind.GROUP_NOT_FOUND,
                f"Cluster {cluster} has no consumer group {group} that Warren knows.",
            )
        return detail(row)

    return routes
