"""Pages on which people ask for something: a silence, its end, an acknowledgement.

Plain forms: a GET shows one, and changes nothing however often a mail scanner follows its link; a
POST acts, is refused when a page of another site sends it, and leads back to what it changed.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl, urlencode

import pydantic
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field, ValidationError
from warren.contracts import Acknowledgement, Silence
from warren.errors import KafkaError
from warren.path_segments import segment
from warren.patterns import exactly
from warren.refused_words import words_of
from warren.silences import Silences
from warren.words import counted, seconds_of

from warren_api.http.access import asker
from warren_api.http.names import Segment
from warren_api.model.incidents import IncidentRecord
from warren_api.model.notifications import Attempt
from warren_api.pages.environment import status_of, template_of
from warren_api.pages.lists import at_opening
from warren_api.pages.pages import Pages, shown_at
from warren_api.pages.trends import Moment as Happened, of_incident
from warren_api.writing import (
    NewAcknowledgement,
    NewSilence,
    acknowledge,
    begin_silence,
    end_silence,
    find_incident,
    matched,
    withdraw,
)

Form = TypeVar("Form", bound=BaseModel)
LENGTHS = {
    "30m": "30 minutes",
    "1h": "1 hour",
    "8h": "8 hours",
    "9:00": "Until 09:00 UTC",
    "24h": "24 hours",
    "7d": "7 days",
}
"""How long a silence may be made to last with one click."""
_DAY_SECONDS = 86_400
_TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_FIELDS = {
    "for_seconds": "How long it lasts",
    "why": "The reason",
    "by": "Your name",
    "cluster": "Clusters",
    "group": "Groups",
    "owner": "The owner",
    "name": "The name",
}
"""What fields are called on pages, by what they are called in a request."""
NO_REASON = "no reason given"
ATTEMPTS_SHOWN = 100
HAS_ENDED = "This incident has ended: there is nothing to acknowledge."
UNDO = "undo"  # the name of the button that takes an acknowledgement back


class Forms(Pages):
    """Silences, and incidents that somebody looks after."""

    def silence_form(self, cluster: str, group: str, **said: Any) -> Response:
        given = {"said": {}, "problem": "", "lengths": LENGTHS, "matched": []} | said
        return self.render("silence_form.html", cluster=cluster, group=group, **given)

    def new_silence(self, request: Request) -> Response:
        return self._new_silence(dict(request.query_params))

    def _new_silence(self, said: Mapping[str, str], problem: str = "") -> Response:
        """`said`: clusters, groups or owner, of which it shows what they match."""
        wanted, wrong = self._wanted(said)
        has_filter = any(said.get(name) for name in ("cluster", "group", "owner"))
        return self.silence_form(
            "",
            "",
            said=said,
            problem=problem or (wrong if has_filter else ""),
            matched=matched(self.context, wanted) if wanted and has_filter else [],
            status_code=422 if problem else 200,
        )

    def _wanted(self, said: Mapping[str, str]) -> tuple[NewSilence | None, str]:
        """What a form asks for, or what is wrong with it."""
        return read(
            NewSilence,
            **{name: said.get(name, "") for name in ("cluster", "group", "owner", "by")},
            for_seconds=lasting(said.get("length", "1h"), self.context.clock.now_ms()),
            why=said.get("why", "").strip() or NO_REASON,
        )

    async def begin_new(self, request: Request) -> Response:
        said = await said_in(request)
        wanted, problem = self._wanted(said)
        try:
            if wanted is not None:
                silence, groups = await begin_silence(self.context, wanted, asker(request))
                if "back" in said:
                    return Done("silenced", groups, ids=silence.id).on(back_to(said["back"]))
                return to(f"/silences/{silence.id}")
        except KafkaError as error:
            problem = str(error)
        return await asyncio.to_thread(self._new_silence, said, problem)

    def no_such_group(self, cluster: str, group: str) -> str:
        """What to say where there is none; empty where there is."""
        model = self.context.model
        known = model.group(cluster, group) or model.unjudged(cluster, group)
        if known or not self.is_ready:
            return ""
        return f"Warren knows no consumer group {group} on {cluster}: there is nothing to silence."

    def silence_page(self, cluster: Segment, name: Segment) -> Response:
        problem = self.no_such_group(cluster, name)
        return self.silence_form(
            cluster, name, problem=problem, status_code=404 if problem else 200
        )

    async def begin(self, request: Request, cluster: Segment, name: Segment) -> Response:
        said = await said_in(request)
        if problem := self.no_such_group(cluster, name):
            return self.silence_form(cluster, name, said=said, problem=problem, status_code=404)
        exact = {"cluster": exactly(cluster), "group": exactly(name), "owner": ""}
        wanted, problem = self._wanted({"length": ""} | said | exact)
        try:
            if wanted is not None:
                await begin_silence(self.context, wanted, asker(request))
                return to(f"/groups/{segment(cluster)}/{segment(name)}")
        except KafkaError as error:
            problem = str(error)
        return self.silence_form(cluster, name, said=said, problem=problem, status_code=422)

    def silence(self, id_: str, problem: str = "", template: str = "silence.html") -> Response:
        ready = self.is_ready
        known, now = self.context.model.silences, self.context.clock.now_ms()
        found = known.silence(id_)
        return self.render(
            template,
            status_code=status_of(found, ready=ready),
            id=id_,
            silence=found,
            matched=matched(self.context, found) if found else [],
            together=[each.id for each in of_one_click(found, known, now)] if found else [],
            problem=problem,
        )

    def one_silence(self, request: Request, id: Segment) -> Response:  # noqa: A002  # the path's name
        return self.silence(id, template=template_of(request, "silence"))

    async def end(self, request: Request, id: Segment) -> Response:  # noqa: A002  # the path's name
        found, said = self.context.model.silences.silence(id), await said_in(request)
        if found is None:
            return self.silence(id)
        try:
            await end_silence(self.context, found, asker(request))
        except KafkaError as error:
            return self.silence(id, str(error))
        return to("/silences" if "list" in said else f"/silences/{segment(id)}")

    def incident(
        self, id_: str, problem: str = "", template: str = "incident.html", **more: Any
    ) -> Response:
        ready, now = self.is_ready, self.context.clock.now_ms()
        found = find_incident(self.context, id_)
        view = self.context.model.group(found.cluster, found.group) if found else None
        about = self.present()
        row = about.row(view) if view else None
        found = found and found.as_seen(view)
        ids = found.ids if found else [id_]
        acknowledgement = about.notes.acknowledgement_among(ids)
        attempts = self.context.model.notifications.of_incidents(ids)[:ATTEMPTS_SHOWN]
        return self.render(
            template,
            cluster=found.cluster if found else None,
            status_code=status_of(found, ready=ready),
            id=id_,
            incident=found,
            then=at_opening(found, self.context.model.past) if found else None,
            lengths=LENGTHS,
            shown=about.incident(found, row) if found else None,
            row=row,
            silence=row.silence if row else None,
            timeline=self._happened(found, attempts, acknowledgement, now) if found else [],
            trends=self.trends.incident(found, now) if found else None,
            acknowledgement=acknowledgement,
            attempts=attempts,
            waiting=[
                one
                for one in self.context.model.notifications.waiting()
                if one.pending.incident_id in ids
            ],
            problem=problem,
            **more,
        )

    def _happened(
        self,
        incident: IncidentRecord,
        attempts: Sequence[Attempt],
        acknowledgement: Acknowledgement | None,
        now: int,
    ) -> list[Happened]:
        silences = self.context.model.silences.matching(*incident.name)
        end = min(incident.closed_at or now, now)
        of_members = self.trends.of_members(*incident.name, incident.opened_at, end)
        return of_incident(incident, attempts, acknowledgement, silences, of_members, now)

    def one_incident(
        self,
        request: Request,
        id: Segment,  # noqa: A002  # the path's name
        format: Literal["", "markdown"] = "",  # noqa: A002  # the parameter's name
    ) -> Response:
        if not format:
            return self.incident(id, template=template_of(request, "incident"))
        # To be shared: a browser shows it as it is written.
        answer = self.incident(id, template="incident.md", at=f"{request.base_url}incidents/")
        answer.headers["Content-Type"] = "text/plain; charset=utf-8"
        return answer

    async def look_after(self, request: Request, id: Segment) -> Response:  # noqa: A002  # the path's name
        found, said = find_incident(self.context, id), await said_in(request)
        if found is None:
            return self.incident(id)
        if not found.is_open:
            return self.incident(id, HAS_ENDED)
        fields = {name: said.get(name, "") for name in ("by", "why")}
        wanted, problem = read(NewAcknowledgement, **fields)
        try:
            if UNDO in said:
                await withdraw(self.context, found)
            elif wanted is None:
                return self.incident(id, problem)
            else:
                await acknowledge(self.context, found, wanted, asker(request))
        except KafkaError as error:
            return self.incident(id, str(error))
        if "back" in said:
            return to(f"/groups/{segment(found.cluster)}/{segment(found.group)}")
        return to(f"/incidents/{segment(id)}")


def add_routes(routes: APIRouter, forms: Forms) -> None:
    silence = "/groups/{cluster}/{name}/silence"
    routes.add_api_route(silence, forms.silence_page)
    routes.add_api_route(silence, forms.begin, methods=["POST"])
    routes.add_api_route("/silences/new", forms.new_silence)
    routes.add_api_route("/silences/new", forms.begin_new, methods=["POST"])
    shown_at(routes, "/silences/{id}", forms.one_silence)
    routes.add_api_route("/silences/{id}", forms.end, methods=["POST"])
    shown_at(routes, "/incidents/{id}", forms.one_incident)
    routes.add_api_route("/incidents/{id}", forms.look_after, methods=["POST"])


def lasting(length: str, now_ms: int) -> int:
    """How many seconds one of LENGTHS is from now on; 0 for any other. A time of day is in UTC:
    pages ask for nine in the morning of their zone.
    """
    if of_day := _TIME_OF_DAY.fullmatch(length):
        hour, minute = map(int, of_day.groups())
        return (hour * 3600 + minute * 60 - now_ms // 1000 - 1) % _DAY_SECONDS + 1
    return seconds_of(length) or 0 if length in LENGTHS else 0


async def said_in(request: Request) -> dict[str, str]:
    """The fields of a form; of anything else none."""
    text = (await request.body()).decode(errors="replace")
    return dict(parse_qsl(text, keep_blank_values=True))


def read(form: type[Form], **fields: object) -> tuple[Form | None, str]:
    """What was asked for, or what is wrong with it."""
    try:
        return form.model_validate(fields), ""
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = _FIELDS.get(str(first["loc"][0]), "") if first["loc"] else ""
        return None, f"{field} {words_of(first)}.".lstrip().capitalize()


def back_to(path: str) -> str:
    """To the overview, as it was asked for; nowhere else."""
    return path if path.startswith("/?") else "/"


def to(path: str) -> Response:
    """Lead there, so that a reload asks for nothing again."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


What = Literal["", "silenced", "acknowledged", "ended", "withdrawn"]
DONE = "warren_done"  # the cookie that says what was done
SAID_SECONDS = 60  # that a browser keeps it where nobody comes to read it
Ids = Annotated[str, Field(max_length=2_000)]
Number = Annotated[int, Field(ge=0, le=1_000_000)]
Moment = Annotated[int, Field(ge=0, le=10**15)]


@pydantic.dataclasses.dataclass(frozen=True)
class Done:
    """`of`: how many groups, or silences and acknowledgements that were taken back. `others`:
    groups that were asked for in vain. `ids`: of the silences that began. `at`: when all were
    acknowledged.
    """

    what: What = ""
    of: Number = 0
    others: Number = 0
    ids: Ids = ""
    at: Moment = 0

    def on(self, path: str) -> Response:
        """Lead there, where it is said once: it is no part of the address."""
        answer = to(path)
        answer.set_cookie(
            DONE, urlencode(asdict(self)), SAID_SECONDS, httponly=True, samesite="strict"
        )
        return answer

    @property
    def words(self) -> str:
        if self.what == "ended":
            return f"{counted(self.of, 'silence')} ended."
        if self.what == "withdrawn":
            return f"{_counted(self.of, 'acknowledgement')} withdrawn."
        said = f"{_counted(self.of, 'group')} {self.what}"
        if not self.others:
            return said if self.what == "silenced" else f"{said}."
        have = "has" if self.others == 1 else "have"
        return f"{said}. {counted(self.others, 'group')} {have} no open incident."

    def silences(self, known: Silences, now: int) -> list[Silence]:
        """Those that began and have not ended."""
        found = [known.silence(id_) for id_ in self.ids.split(",") if id_]
        return [each for each in found if each is not None and each.ends_at > now]


def _counted(count: int, noun: str) -> str:
    return counted(count, noun) if count else f"No {noun}"


def _done(request: Request) -> Done:
    try:
        return Done(**dict(parse_qsl(request.cookies.get(DONE, ""))))  # type: ignore[arg-type]  # texts, as pydantic reads them
    except (ValidationError, TypeError):
        return Done()


DoneQuery = Annotated[Done, Depends(_done)]


def of_one_click(silence: Silence, known: Silences, now: int) -> list[Silence]:
    """Those that began at once with this one, itself among them, and have not ended."""
    key = _click(silence)
    return [each for each in known.all() if _click(each) == key and each.ends_at > now]


def _click(silence: Silence) -> tuple[object, ...]:
    return silence.begins_at, silence.ends_at, silence.by, silence.why
