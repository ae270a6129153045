"""Logging in and out: the way to the identity provider and back, and what is said on the way."""

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from warren_api.login.service import (
    CALLBACK,
    LOGGED_OUT,
    Login,
    LoginFailed,
    NoRole,
    ProviderAway,
    next_path,
)
from warren_api.pages.environment import environment

log = structlog.get_logger(__name__)

MOVED = "here"  # of a browser that was sent to public_url already
RETRY_SECONDS = 5


def router(login: Login) -> APIRouter:
    routes, pages = APIRouter(include_in_schema=False), LoginPages(login)
    routes.add_api_route("/login", pages.begin)
    routes.add_api_route(CALLBACK, pages.finish)
    routes.add_api_route("/logout", pages.end, methods=["POST"])
    routes.add_api_route(LOGGED_OUT, pages.ended)
    return routes


class LoginPages:
    """The way there and back."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self.page = environment().get_template("login.html")

    def say(self, status_code: int, wanted: str = "/", **variables: Any) -> Response:
        told = {"problem": "", "refused": "", "provider_url": "", "anew": False} | variables
        return HTMLResponse(self.page.render(next=wanted, **told), status_code)

    async def begin(self, request: Request) -> Response:
        query = request.query_params
        wanted = next_path(query.get("next", "/"))
        if (
            request.headers.get("Host") != self.login.public_url.partition("//")[2]
            and MOVED not in query
        ):
            # The provider will lead back there, and only there the cookie of this login is known.
            anew = "&anew=1" if "anew" in query else ""
            return _to(
                f"{self.login.public_url}/login?{MOVED}=1{anew}&next={quote(wanted, safe='/')}"
            )
        try:
            return await self.login.begin(request, wanted, anew="anew" in query)
        except ProviderAway as away:
            log.warning("the identity provider does not answer", problem=away.detail)
            return _unavailable(self.say(HTTPStatus.SERVICE_UNAVAILABLE, wanted, problem=away.text))

    async def finish(self, request: Request) -> Response:
        client = request.client.host if request.client else None
        try:
            person, wanted = await self.login.finish(request)
        except ProviderAway as away:
            log.warning("login failed", problem=away.detail, client=client)
            return _unavailable(self.say(HTTPStatus.SERVICE_UNAVAILABLE, problem=away.text))
        except LoginFailed as failed:
            log.warning("login failed", problem=failed.detail, client=client)
            return self.say(HTTPStatus.BAD_REQUEST, problem=failed.text)
        except NoRole as refused:
            log.warning(
                "login refused: the role claim has none of the values that may anything",
                person=refused.name,
                subject=refused.subject,
                claim=self.login.settings.roles_claim,
                client=client,
            )
            return self.say(HTTPStatus.FORBIDDEN, refused=refused.name, anew=True)
        log.info(
            "logged in",
            person=person.name,
            subject=person.subject,
            role=person.role,
            client=client,
        )
        return _to(wanted)

    async def end(self, request: Request) -> Response:
        person = self.login.person(request.session)
        if person is not None:
            log.info("logged out", person=person.name, subject=person.subject)
        request.session.clear()
        return self.say(HTTPStatus.OK, provider_url=await self.login.logout_url() or "", anew=True)

    async def ended(self) -> Response:
        return self.say(HTTPStatus.OK, anew=True)


def _to(url: str) -> Response:
    # As it is: what may stand in it was looked at, and providers know their own URLs.
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": url})


def _unavailable(answer: Response) -> Response:
    answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer
