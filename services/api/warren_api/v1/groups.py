"""Consumer groups: which a list shows, in which order, and one with all that is known of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator, Field
from warren.bootstrap import addressed, runnable
from warren.words import visible
from warren_core.objectives.limits import ObjectiveBook

from warren_api.context import ApiContext, Notes, Verdicts
from warren_api.group_row import Asked
from warren_api.http.names import Segment, matcher
from warren_api.http.problem import ProblemKind, documented
from warren_api.model.group import NEVER, GroupView, ShownStatusName, broken_now
from warren_api.model.membership import Membership
from warren_api.search import Search
from warren_api.v1.group_bodies import (
    GroupDetail,
    Groups,
    GroupSummary,
    GroupTopic,
    MembershipDetail,
)
from warren_api.v1.group_parts import BrokenObjectiveView, PartitionDetail, RecordedVerdict
from warren_api.v1.lists import (
    LIST_PROBLEMS,
    Entry,
    Key,
    ListQuery,
    Name,
    Paging,
    Regex,
    find_group,
    largest_first,
    require_read,
)

GroupRow = GroupView | Membership
# As the pages sort; time_lag and status_age are what clients of before ask for.
GroupSort = Literal["worst", "name", "lag", "late", "loss", "since", "time_lag", "status_age"]


def wanted(
    rows: Iterable[GroupRow],
    verdicts: Verdicts,
    *,
    cluster: str | None = None,
    status: Iterable[ShownStatusName] = (),
    regex: str | None = None,
    topic: str | None = None,
    finds: Callable[[GroupRow], bool] | None = None,
) -> list[GroupRow]:
    """Those that match everything that is given.

    Raises ValueError when `regex` is no regular expression.
    """
    if cluster is None and not status and regex is None and topic is None and finds is None:
        return list(rows)
    matches = matcher(regex) if regex else None
    statuses = set(status)
    return [
        row
        for row in rows
        if (cluster is None or row.cluster == cluster)
        and (not statuses or (isinstance(row, GroupView) and verdicts(row).status in statuses))
        and (matches is None or matches(row.group))
        and (topic is None or topic in _topics(row))
        and (finds is None or finds(row))
    ]


def unread(rows: Iterable[GroupRow], topic: str, cluster: str | None) -> list[str]:
    """What to say of a topic that none of the groups reads, with names that may have been meant."""
    here = (row for row in rows if cluster is None or row.cluster == cluster)
    read = {each for row in here for each in _topics(row)}
    if topic in read:
        return []
    near = get_close_matches(topic, read)
    meant = f" Did you mean {' or '.join(map(visible, near))}?" if near else ""
    return [f"No group reads the topic {visible(topic)}.{meant}"]


def entries(rows: Iterable[GroupRow], sort: GroupSort, asked: Asked) -> list[Entry[GroupRow]]:
    """Ready to be sorted as GroupQuery says, unknown ones last."""
    if sort == "worst":
        return [Entry((row.cluster, row.group), _worst(row, asked), row) for row in rows]
    key = _KEYS[sort]
    return [
        Entry((row.cluster, row.group), (*key(row, asked.verdicts), row.cluster, row.group), row)
        for row in rows
    ]


def _topics(row: GroupRow) -> Iterable[str]:
    return row.event.topics if isinstance(row, GroupView) else row.topics


def _worst(row: GroupRow, asked: Asked) -> Key:
    """As the pages show them, with the name; what is not judged comes last."""
    if isinstance(row, Membership):
        return (NEVER, 0, 0, 0, 0, row.cluster, row.group)
    return asked.row(row).rank


def _lag(row: GroupRow, _: Verdicts) -> Key:
    return largest_first(row.event.total_lag if isinstance(row, GroupView) else None)


def _late(row: GroupRow, _: Verdicts) -> Key:
    """What the group is late at least, where only that is known."""
    measured = row.freshness if isinstance(row, GroupView) else None
    return largest_first(measured.late_ms if measured else None)


def _loss(row: GroupRow, _: Verdicts) -> Key:
    """Who has lost most, then whose loss is nearest."""
    if isinstance(row, Membership):
        return largest_first(None)
    left = row.time_to_loss_ms
    return largest_first(row.lost_records or (None if left is None else -left))


def _since(row: GroupRow, verdicts: Verdicts) -> Key:
    return largest_first(verdicts(row).since if isinstance(row, GroupView) else None)


def _status_age(row: GroupRow, verdicts: Verdicts) -> Key:
    since = verdicts(row).since if isinstance(row, GroupView) else None
    return largest_first(None if since is None else -since)


def _name(*_: object) -> Key:
    return ()


_KEYS: dict[str, Callable[[GroupRow, Verdicts], Key]] = {
    "lag": _lag,
    "late": _late,
    "loss": _loss,
    "since": _since,
    "time_lag": _late,
    "status_age": _status_age,
    "name": _name,
}


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
        description="`worst`: what needs action first, then warnings, what is acknowledged or "
        "silenced, UNKNOWN, OK; among them who loses data, then whose loss is nearest, then the "
        "worst status; else the largest `lag`, who is `late` most, who has lost most or nearest "
        "to `loss`, the newest status (`since`) first, unknown ones last; or by cluster and "
        "`name`. `time_lag`: the same as late; `status_age`: the oldest status first",
    )


def router(context: ApiContext, paging: Paging) -> APIRouter:
    routes = APIRouter(tags=["groups"])
    book = ObjectiveBook(context.settings.objectives, context.settings.groups)

    def summary(row: GroupRow, verdicts: Verdicts, notes: Notes) -> GroupSummary:
        owned = book.ownership_for(row.cluster, row.group)
        if isinstance(row, Membership):
            return GroupSummary.of_not_judged(row, notes, owned)
        stale = context.is_freshness_stale(row)
        limits = book.limits_for(row.cluster, row.group) if row.broken else ()
        broken = [
            BrokenObjectiveView.of(one, broken_now(one, row, limits, is_stale=stale))
            for one in row.broken
        ]
        return GroupSummary.of(row, verdicts(row), notes, owned, broken, stale=stale)

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
        said = dict(summary(row, context.verdicts(), context.notes()))
        cause, servers = said.pop("cause"), ",".join(context.servers(cluster))
        action = row.action if isinstance(row, GroupView) else ""
        return GroupDetail(
            **said,
            cause=cause and addressed(cause, servers, cluster),
            policy=row.event.policy if isinstance(row, GroupView) else None,
            action=runnable(action, servers, cluster) if action else None,
            labels=dict(book.ownership_for(cluster, group).labels),
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
        """Consumer groups: unless another order is asked for, those that need action come
        first, and of them those that lose data. Share groups are listed without a verdict.
        """
        require_read(context)
        search, asked = Search(query.q or ""), Asked.of(context, book)
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
        page = query.page(paging, entries(rows, query.sort, asked))
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
        responses=documented(ProblemKind.GROUP_NOT_FOUND, ProblemKind.STARTING),
    )
    def group(cluster: Segment, group: Segment) -> GroupDetail:
        """One consumer group with its topics, partitions, members and status changes."""
        require_read(context)
        return detail(find_group(context, cluster, group))

    return routes
