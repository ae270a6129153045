"""Silences: whoever may change something may ask for one and end it."""

from http import HTTPStatus
from typing import Annotated, Literal, Self
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from warren.contracts import Silence
from warren.contracts.silence import Person

from warren_api.asked import NewSilence, begin_silence, end_silence
from warren_api.context import ApiContext
from warren_api.http.access import asker
from warren_api.http.names import Segment
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.v1.lists import require_read, routes_of


class SilenceView(Silence):
    """About these groups nobody is told anything for a while."""

    v: Literal[1] = Field(1, exclude=True)
    in_force: bool = Field(description="Whether it holds now")
    ended_by: Person | None = Field(None, description="Who ended it early; null: nobody did")

    @classmethod
    def of(cls, silence: Silence, now: int) -> Self:
        return cls(**dict(silence), in_force=silence.holds_at(now))


class BegunSilence(SilenceView):
    """A silence that has just been asked for."""

    groups: int = Field(description="How many groups it is about, of those that there are now")


class Silences(BaseModel):
    """Silences, the newest first."""

    silences: list[SilenceView]


CHANGES = (
    ProblemKind.ADMIN_NEEDED,
    ProblemKind.NOT_WRITTEN,
    ProblemKind.MAYBE_WRITTEN,
    ProblemKind.STARTING,
)


class SilenceQuery(BaseModel):
    """Which silences."""

    model_config = ConfigDict(extra="forbid")

    in_force: bool | None = Field(None, description="Only those that hold now, or do not")


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("silences")

    def _remembered(id_: str) -> Silence:
        if silence := context.model.silences.silence(id_):
            return silence
        raise NotDone(ProblemKind.SILENCE_NOT_FOUND, f"No silence {id_} is remembered.")

    @routes.get(
        "/silences",
        responses=documented(ProblemKind.INVALID_REQUEST, ProblemKind.STARTING),
    )
    def silences(query: Annotated[SilenceQuery, Query()]) -> Silences:
        """Silences that hold, will hold or did, as long as they are remembered; newest first."""
        require_read(context)
        now = context.clock.now_ms()
        views = [SilenceView.of(silence, now) for silence in context.model.silences.all()]
        return Silences(silences=[v for v in views if query.in_force in (None, v.in_force)])

    @routes.get(
        "/silences/{id}",
        responses=documented(ProblemKind.SILENCE_NOT_FOUND, ProblemKind.STARTING),
    )
    def one(id: Segment) -> SilenceView:  # noqa: A002  # the path's name
        """One silence, as long as it is remembered."""
        require_read(context)
        return SilenceView.of(_remembered(id), context.clock.now_ms())

    @routes.post(
        "/silences",
        status_code=HTTPStatus.CREATED,
        responses=documented(ProblemKind.INVALID_REQUEST, *CHANGES),
    )
    async def begin(request: Request, wanted: NewSilence, answer: Response) -> BegunSilence:
        """Silence groups: they are judged and shown, but nobody is told of what begins. What is
        still so when the silence ends is told then; the end of what was told before is told at
        once.
        """
        require_read(context)
        silence, groups = await begin_silence(context, wanted, asker(request))
        answer.headers["Location"] = f"/api/v1/silences/{quote(silence.id, safe='')}"
        view = SilenceView.of(silence, context.clock.now_ms())
        return BegunSilence(**dict(view), groups=groups)

    @routes.delete(
        "/silences/{id}",
        responses=documented(ProblemKind.SILENCE_NOT_FOUND, *CHANGES),
    )
    async def end(request: Request, id: Segment) -> SilenceView:  # noqa: A002  # the path's name
        """End a silence now. One that is over already stays as it is."""
        require_read(context)
        ended = await end_silence(context, _remembered(id), asker(request))
        return SilenceView.of(ended, context.clock.now_ms())

    return routes
