"""What is done to many groups at once, from the overview: those that are ticked, all that a search
finds are silenced, or their incidents acknowledged. The answer takes it back. Plain forms.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import structlog
from fastapi import APIRouter, Request, Response
from warren.errors import KafkaError
from warren.path_segments import name_of

from warren_api.context import ApiContext
from warren_api.http.access import Asker, asker
from warren_api.model.group_views import GroupName
from warren_api.pages.asking import NO_REASON, Done, back_to, lasting, to
from warren_api.pages.pages import Pages
from warren_api.pages.sentences import alternations
from warren_api.search import GroupSearch
from warren_api.writing import (
    NewAcknowledgement,
    NewSilence,
    acknowledge,
    begin_silence,
    end_silence,
    withdraw,
)

ACKNOWLEDGE = "acknowledge"
MOST_SILENCES = 100  # by one click; each has an expression of at most LONGEST characters
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


class Many(Pages):
    """What one click does to many groups."""

    async def do(self, request: Request) -> Response:
        """One button of a form: `ticked`, `all`, `one` say what is done, `end` which
        silences are over, `withdraw` when what was acknowledged."""
        text = (await request.body()).decode(errors="replace")
        pairs = parse_qsl(text, keep_blank_values=True)
        said, who = dict(pairs), asker(request)
        back = back_to(said.get("back", ""))
        try:
            done: Done | Problem | None = await self._taken_back(said, who)
            if done is None:
                ticked = named(value for name, value in pairs if name == "group")
                done = await self._done(said, ticked, who)
        except KafkaError as error:
            log.warning("not written", error=str(error))
            done = "not_written"
        if isinstance(done, Done):
            return done.on(back)
        return to(f"/groups?{urlencode({'problem': done, 'back': back})}")

    def not_done(self, problem: Problem | None = None, back: str = "") -> Response:
        """Where a form leads that was not carried out: a reload asks for nothing again."""
        if problem is None:
            return to("/")
        return self.render("many.html", problem=PROBLEMS[problem], back=back_to(back))

    async def _taken_back(self, said: Mapping[str, str], who: Asker) -> Done | None:
        """None where nothing is to be."""
        context = self.context
        if "end" in said:
            ids = Done(ids=said["end"])
            over = ids.silences(context.model.silences, context.clock.now_ms())
            await asyncio.gather(*(end_silence(context, each, who) for each in over))
            return Done("ended", len(over))
        if "withdraw" in said:
            at = int(said["withdraw"]) if re.fullmatch("[0-9]{1,15}", said["withdraw"]) else 0
            again = context.notes().acknowledged_at(at)
            await asyncio.gather(*(withdraw(context, each) for each in again))
            return Done("withdrawn", len(again))
        return None

    async def _done(
        self, said: Mapping[str, str], names: list[GroupName], who: Asker
    ) -> Done | Problem:
        """`names`: of groups that are ticked."""
        what, why = said.get("ticked", ""), ""
        if "one" in said:
            what, _, name = said["one"].partition(" ")
            names = named([name])
        elif "all" in said:
            what, why = said["all"], f"search: {said.get('q') or 'all groups'}"
            names = self._found(said.get("q", ""))
        if not names:
            return "none"
        if not (names := self._known_of(names)):
            return "unknown"
        if what == ACKNOWLEDGE:
            return await _acknowledge(self.context, names, who)
        return await _silence(self.context, names, what, why[:500], who)

    def _found(self, q: str) -> list[GroupName]:
        """Worst first."""
        rows = filter(GroupSearch(q).finds, map(self.present().row, self.context.model.groups()))
        return [(row.cluster, row.group) for row in sorted(rows, key=lambda row: row.rank)]

    def _known_of(self, names: Sequence[GroupName]) -> list[GroupName]:
        """While Warren is starting, all: it may come to know them."""
        model, ready = self.context.model, self.is_ready
        return [one for one in names if not ready or model.group(*one) or model.unjudged(*one)]


def add_routes(routes: APIRouter, many: Many) -> None:
    routes.add_api_route("/groups", many.do, methods=["POST"])
    routes.add_api_route("/groups", many.not_done)


def named(values: Sequence[str] | Iterator[str]) -> list[GroupName]:
    """As tick boxes say them: as in the paths of their pages."""
    parts = (value.partition("/") for value in values)
    return [(name_of(cluster), name_of(group)) for cluster, slash, group in parts if slash]


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
