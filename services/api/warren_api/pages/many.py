"""What is done to many groups at once, from the overview: those that are ticked, all that a search
finds, or all of an owner are silenced, or their incidents acknowledged. Plain forms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import re2
import structlog
from fastapi import APIRouter, Request, Response
from warren.errors import KafkaError
from warren.path_segments import name_of

from warren_api.asked import NewAcknowledgement, NewSilence, acknowledge, begin_silence
from warren_api.context import ApiContext
from warren_api.group_row import Asked, GroupRow
from warren_api.http.callers import Asker, asker
from warren_api.model.group_incidents import group_incidents
from warren_api.model.group_views import GroupName
from warren_api.pages.asking import NO_REASON, lasting, to
from warren_api.pages.overview import View, found_rows
from warren_api.search import Search

ACKNOWLEDGE = "acknowledge"
MOST_SILENCES = 20  # by one click; each has at most an expression of LONGEST characters
LONGEST = 1000
OWNER_LENGTH = "1h"
Problem = Literal["none", "length", "too_many", "not_written"]
PROBLEMS: dict[Problem, str] = {
    "none": "No group is ticked.",
    "length": "No silence lasts as long as that.",
    "too_many": "Those are too many groups for one click. Narrow the search.",
    "not_written": "The home cluster did not take it. Some of it may have come about: look at the "
    "groups, then try again.",
}
log = structlog.get_logger(__name__)


def add_routes(
    routes: APIRouter,
    context: ApiContext,
    render: Callable[..., Response],
    asked: Callable[[], Asked],
) -> None:
    def found(q: str) -> list[GroupRow]:
        search = Search(q)
        standing = context.standing()
        return found_rows(context.model, standing, asked(), search, View(q).tab)

    @routes.post("/groups")
    async def do(request: Request) -> Response:
        """One button of a form: `ticked`, `all`, `one` say what is done, `owner` for whom."""
        text = (await request.body()).decode(errors="replace")
        pairs = parse_qsl(text, keep_blank_values=True)
        said = dict(pairs)
        back = said.get("back", "")
        what, names, why = said.get("ticked", ""), named(v for n, v in pairs if n == "group"), ""
        if "one" in said:
            what, _, name = said["one"].partition(" ")
            names = named([name])
        elif "all" in said:
            what, why = said["all"], f"search: {said.get('q', '')}"
            names = [(row.cluster, row.group) for row in found(said.get("q", ""))]
        elif "owner" in said:
            what, why = OWNER_LENGTH, f"owner: {said['owner']}"
            names = [(row.cluster, row.group) for row in found(f'owner:="{said["owner"]}"')]
        problem: Problem | None = None if names else "none"
        try:
            if names and what == ACKNOWLEDGE:
                await _acknowledge(context, names, asker(request))
            elif names:
                problem = await _silence(context, names, what, why[:500], asker(request))
        except KafkaError as error:
            log.warning("not written", error=str(error))
            problem = "not_written"
        if problem:
            return to(f"/groups?{urlencode({'problem': problem, 'back': _back(back)})}")
        return to(_back(back))

    @routes.get("/groups")
    def not_done(problem: Problem | None = None, back: str = "") -> Response:
        """Where a form leads that was not carried out: a reload asks for nothing again."""
        if problem is None:
            return to("/")
        return render("many.html", problem=PROBLEMS[problem], back=_back(back))


def named(values: Sequence[str] | Iterator[str]) -> list[GroupName]:
    """As tick boxes say them: as in the paths of their pages."""
    parts = (value.partition("/") for value in values)
    return [(name_of(cluster), name_of(group)) for cluster, slash, group in parts if slash]


def _back(path: str) -> str:
    """To the overview, as it was asked for; nowhere else."""
    return path if path.startswith("/?") else "/"


async def _acknowledge(context: ApiContext, names: Collection[GroupName], who: Asker) -> None:
    """Those that have an open incident."""
    wanted = set(names)
    known = group_incidents(context.model.history.changes(), context.model.groups())
    mine = [one for one in known if one.is_open and (one.cluster, one.group) in wanted]
    new = NewAcknowledgement()
    await asyncio.gather(*(acknowledge(context, incident, new, who) for incident in mine))


async def _silence(
    context: ApiContext, names: Collection[GroupName], length: str, why: str, who: Asker
) -> Problem | None:
    """What is wrong, if anything is."""
    seconds = lasting(length, context.clock.now_ms())
    if not seconds:
        return "length"
    known = [(each.cluster, each.group) for each in context.model.groups()]
    known += [(each.cluster, each.group) for each in context.model.not_judged()]
    pairs = expressions(names, known)
    if len(pairs) > MOST_SILENCES:
        return "too_many"
    for cluster, group in pairs:
        wanted = NewSilence(cluster=cluster, group=group, for_seconds=seconds, why=why or NO_REASON)
        await begin_silence(context, wanted, who)
    return None


def expressions(
    names: Collection[GroupName], known: Collection[GroupName]
) -> list[tuple[str, str]]:
    """Pairs for clusters and groups that match these names and no other of those that are known:
    of all clusters together where that matches no other, else cluster by cluster.
    """
    wanted = set(names)
    clusters, groups = ({name[part] for name in wanted} for part in (0, 1))
    is_product = all(each in wanted for each in known if each[0] in clusters and each[1] in groups)
    if is_product:
        return [(some, each) for some in alternations(clusters) for each in alternations(groups)]
    return [
        (one, each)
        for cluster in sorted(clusters)
        for one in alternations([cluster])
        for each in alternations(group for name, group in wanted if name == cluster)
    ]


def alternations(names: Collection[str] | Iterator[str]) -> list[str]:
    """As few expressions as may be, each short enough, that match one of the names whole."""
    found: list[str] = []
    part: list[str] = []
    for name in sorted(set(names)):
        escaped = re2.escape(name)
        if part and len("|".join([*part, escaped])) + len("^(?:)$") > LONGEST:
            found.append(_whole(part))
            part = []
        part.append(escaped)
    return [*found, _whole(part)] if part else found


def _whole(escaped: Sequence[str]) -> str:
    return f"^{escaped[0]}$" if len(escaped) == 1 else f"^(?:{'|'.join(escaped)})$"
