"""Errors of our own API: problem+json (RFC 9457). `GET /api/v1/problems` lists the kinds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from http import HTTPStatus
from typing import Any, NamedTuple

from fastapi import Response
from pydantic import BaseModel, Field

MEDIA_TYPE = "application/problem+json"
TYPES = "/api/v1/problems"


class _Kind(NamedTuple):
    status: int
    title: str
    meaning: str


class ProblemKind(Enum):
    """What may be wrong; `meaning` also says what to do."""

    STARTING = _Kind(
        503,
        "Starting",
        "Warren's topics are still being read and an answer would be wrong. Ask again a little "
        "later.",
    )
    INVALID_REQUEST = _Kind(
        422, "Invalid request", "A parameter is unknown or has a value that is not accepted."
    )
    INVALID_CURSOR = _Kind(
        422,
        "Invalid cursor",
        "The cursor is damaged or comes from a request with other filters or another order. Begin "
        "with the first page.",
    )
    CLUSTER_NOT_FOUND = _Kind(
        404, "Cluster not found", "No cluster of this name is configured or has sent events."
    )
    GROUP_NOT_FOUND = _Kind(
        404,
        "Consumer group not found",
        "The group was deleted, has expired, or was never there.",
    )
    TOPIC_NOT_FOUND = _Kind(
        404,
        "Topic not found",
        "No collector has listed the topic and no group has committed offsets of it.",
    )
    INCIDENT_NOT_FOUND = _Kind(
        404, "Incident not found", "The incident never was, or is no longer remembered."
    )
    PROBLEM_NOT_FOUND = _Kind(
        404, "Kind of problem not found", "No kind of problem has this name: the list has them all."
    )
    INCIDENT_OVER = _Kind(
        409, "Incident over", "The incident has ended: there is nothing left to look after."
    )
    SILENCE_NOT_FOUND = _Kind(
        404, "Silence not found", "The silence never was, or is no longer remembered."
    )
    NOT_WRITTEN = _Kind(
        503,
        "Not written",
        "The home cluster has refused it, so nothing has come about. Mend what the detail names, "
        "and ask again.",
    )
    MAYBE_WRITTEN = _Kind(
        503,
        "Not known whether written",
        "The home cluster has not answered in time. It may write it later all the same: look "
        "whether it is there before you ask again.",
    )
    TOO_MANY_STREAMS = _Kind(
        503,
        "Too many event streams",
        "As many clients follow /api/v1/events as api.event_streams allows. Close some, or raise "
        "the setting.",
    )
    BUSY = _Kind(
        503,
        "Busy",
        "More requests wait to be answered than Warren lets wait. Ask again a little later.",
    )
    TOKEN_NEEDED = _Kind(
        401,
        "Token needed",
        "Send a token that the settings know, as `Authorization: Bearer <token>` or as the "
        "password of Basic. `warren token` makes one.",
    )
    LOGIN_NEEDED = _Kind(
        401,
        "Login needed",
        "Nobody is logged in, or the session is over. Log in at /login, or send a token.",
    )
    ADMIN_NEEDED = _Kind(
        403, "Admin token needed", "The token may only read; changing something needs role admin."
    )
    FOREIGN_ORIGIN = _Kind(
        403,
        "Foreign origin",
        "A page of another site tried to change something. Name that site in api.cors_origins "
        "when that is wanted.",
    )
    UNTRUSTED_HOST = _Kind(
        403,
        "Untrusted host",
        "The API was asked under a name that it does not know: a page of another site may stand "
        "behind it. Name it in api.trusted_hosts, or use tokens.",
    )
    TOO_LARGE = _Kind(
        413, "Too large", "The request is larger than anything that Warren needs to be asked."
    )
    URI_TOO_LONG = _Kind(
        414, "URI too long", "Path or query are longer than anything that Warren needs to be asked."
    )

    @property
    def slug(self) -> str:
        return self.name.lower().replace("_", "-")

    @property
    def type(self) -> str:
        return f"{TYPES}/{self.slug}"


class InvalidValue(BaseModel):
    """A value that a route does not take."""

    place: str = Field(description="query, path or body")
    name: str = Field(description="Of the parameter; in a body the way to it; empty: all of it")
    detail: str = Field(description="What would be taken")


class Problem(BaseModel):
    """RFC 9457, section 3.1."""

    type: str = Field(description="Kind of problem, the thing to branch on; explained at this URI")
    title: str = Field(description="Short, the same for the same kind of problem")
    status: int = Field(description="HTTP status code")
    detail: str = Field(description="What is wrong with this request, and what to do")
    errors: list[InvalidValue] = Field(
        default=[], description="Each value that is not taken; left out where it is not that"
    )


class ProblemType(BaseModel):
    """A kind of problem."""

    type: str
    title: str
    status: int
    meaning: str = Field(description="What it means and what to do")

    @classmethod
    def of(cls, kind: ProblemKind) -> ProblemType:
        status, title, meaning = kind.value
        return cls(type=kind.type, title=title, status=status, meaning=meaning)


class ProblemTypes(BaseModel):
    """All kinds of problems."""

    problems: list[ProblemType]


def problem(
    kind: ProblemKind,
    detail: str,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[InvalidValue] = (),
) -> Response:
    status, title, _ = kind.value
    body = Problem(type=kind.type, title=title, status=status, detail=detail, errors=list(errors))
    return _response(body, headers)


class NotDone(Exception):
    """A route does not do what it is asked for: `answer` says why."""

    def __init__(
        self, kind: ProblemKind, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.answer = problem(kind, detail, headers)


def plain_problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """One that says no more than its status code."""
    title = HTTPStatus(status).phrase
    return _response(
        Problem(type="about:blank", title=title, status=status, detail=detail), headers
    )


def documented(*kinds: ProblemKind) -> dict[int | str, dict[str, Any]]:
    """For the description of a route: the problems that it may answer with."""
    answers: dict[int | str, dict[str, Any]] = {}
    for kind in kinds:
        status, title, meaning = kind.value
        answer = answers.setdefault(
            status,
            {"description": title, "content": {MEDIA_TYPE: {"examples": {}}}},
        )
        if title not in answer["description"]:
            answer["description"] += f"; {title}"
        example = Problem(type=kind.type, title=title, status=status, detail=meaning)
        answer["content"][MEDIA_TYPE]["examples"][kind.slug] = {
            "value": example.model_dump(exclude_defaults=True)
        }
    return answers


def _response(body: Problem, headers: Mapping[str, str] | None) -> Response:
    text = json.dumps(body.model_dump(exclude_defaults=True))
    return Response(text, body.status, headers, media_type=MEDIA_TYPE)
