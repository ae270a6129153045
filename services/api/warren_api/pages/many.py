"""What is done to many groups at once, from the overview: those that are ticked, all that a search
finds, or all of an owner are silenced, or their incidents acknowledged. The
answer takes it back. Plain forms.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import structlog
from fastapi import APIRouter, Request, Response
from warren.errors import KafkaError
from warren.path_segments import name_of

from warren_api.asked import (
    NewAcknowledgement,
    NewSilence,
    acknowledge,
    begin_silence,
    end_silence,
    withdraw,
)
from warren_api.context import ApiContext
from warren_api.group_row import Asked, GroupRow
from warren_api.http.access import Asker, asker
from warren_api.model.group_views import GroupName
from warren_api.pages.asking import NO_REASON, Done, lasting, to
from warren_api.pages.overview import found_rows
from warren_api.pages.sentences import alternations
from warren_api.search import GroupSearch

ACKNOWLEDGE = "acknowledge"
MOST_SILENCES = 100  # by one click; each has an expression of at most LONGEST characters
OWNER_LENGTH = "1h"
Problem = Literal["none", "unknown", "length", "too_many", "not_written"]
PROBLEMS: dict[Problem, str] = {
    "none": "No group is ticked.",
    "unknown": "Warren knows no such group: there is nothing to silence or to acknowledge.",
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
        return found_rows(context.model, asked(), GroupSearch(q))

    def known_of(names: Sequence[GroupName]) -> list[GroupName]:
        """While Warren is starting, all: it may come to know them."""
        model, ready = context.model, context.feed_state().ready
        return [one for one in names if not ready or model.group(*one) or model.unjudged(*one)]

    @routes.post("/groups")
    async def do(request: Request) -> Response:
        """One button of a form: `ticked`, `all`, `one` say what is done, `owner` for whom, `end`
        which silences are over, `withdraw` when what was acknowledged.
        """
        text = (await request.body()).decode(errors="replace")
        pairs = parse_qsl(text, keep_blank_values=True)
        said = dict(pairs)
        back = said.get("back", "")
        what, names, why = said.get("ticked", ""), named(v for n, v in pairs if n == "group"), ""
        if "one" in said:
            what, _, name = said["one"].partition(" ")
            names = named([name])
        elif "all" in said:
            what, why = said["all"], f"search: {said.get('q') or 'all groups'}"
            names = [(row.cluster, row.group) for row in found(said.get("q", ""))]
        elif "owner" in said:
            what, why = OWNER_LENGTH, f"owner: {said['owner']}"
            names = [(row.cluster, row.group) for row in found(f'owner:="{said["owner"]}"')]
        who, known = asker(request), context.model.silences
        problem: Problem | None = None
        try:
            if "end" in said:
                over = Done(ids=said["end"]).silences(known, context.clock.now_ms())
                await asyncio.gather(*(end_silence(context, each, who) for each in over))
                return to(Done("ended", len(over)).on(_back(back)))
            if "withdraw" in said:
                again = context.notes().acknowledged_at(
                    int(said["withdraw"]) if re.fullmatch("[0-9]{1,15}", said["withdraw"]) else 0
                )
                await asyncio.gather(*(withdraw(context, each) for each in again))
                return to(Done("withdrawn", len(again)).on(_back(back)))
            if not names:
                problem = "none"
            elif not (names := known_of(names)):
                problem = "unknown"
            elif what == ACKNOWLEDGE:
                return to((await _acknowledge(context, names, who)).on(_back(back)))
            else:
                done = await _silence(context, names, what, why[:500], who)
                if isinstance(done, Done):
                    return to(done.on(_back(back)))
                problem = done
        except KafkaError as error:
            log.warning("not written", error=str(error))
            problem = "not_written"
        return to(f"/groups?{urlencode({'problem': problem, 'back': _back(back)})}")

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


async def _acknowledge(context: ApiContext, names: Collection[GroupName], who: Asker) -> Done:
    """Those that have an open incident."""
    wanted = set(names)
    known = context.model.incidents()
    mine = [one for name in wanted if (one := known.open_of(*name)) is not None]
    new, now = NewAcknowledgement(), context.clock.now_ms()
    await asyncio.gather(*(acknowledge(context, incident, new, who, now) for incident in mine))
    return Done("acknowledged", len(mine), len(wanted) - len(mine), at=now)


async def _silence(
    context: ApiContext, names: Collection[GroupName], length: str, why: str, who: Asker
) -> Done | Problem:
    """What is wrong, if anything is. All begin at once, as silences of one click."""
    now = context.clock.now_ms()
    seconds = lasting(length, now)
    if not seconds:
        return "length"
    pairs = expressions(names)
    if len(pairs) > MOST_SILENCES:
        return "too_many"
    wanted = [
        NewSilence(
            cluster=some, group=each, begins_at=now, for_seconds=seconds, why=why or NO_REASON
        )
        for some, each in pairs
    ]
    begun = await asyncio.gather(*(begin_silence(context, each, who) for each in wanted))
    return Done("silenced", len(set(names)), ids=",".join(silence.id for silence, _ in begun))


def expressions(names: Collection[GroupName]) -> list[tuple[str, str]]:
    """Pairs for clusters and groups that match these names and no other, now and later: clusters
    stand together only where the same groups of each are wanted.
    """
    by_cluster = defaultdict[str, set[str]](set)
    for cluster, group in names:
        by_cluster[cluster].add(group)
    alike = defaultdict[frozenset[str], list[str]](list)
    for cluster in sorted(by_cluster):
        alike[frozenset(by_cluster[cluster])].append(cluster)
    return [
        (some, each)
        for groups, clusters in alike.items()
        for some in alternations(clusters)
        for each in alternations(groups)
    ]
