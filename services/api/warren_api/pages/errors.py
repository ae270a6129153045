"""Pages for paths at which there is nothing and for values that no page takes, for those who ask as
browsers do.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from starlette.datastructures import Headers
from starlette.types import Scope

from warren_api.http.access import who_reads
from warren_api.http.access_control import FRAGMENTS
from warren_api.http.errors import ErrorAnswers, Refused
from warren_api.http.names import decoded_path, encoded_path
from warren_api.http.problem import ProblemKind
from warren_api.pages.environment import environment
from warren_api.search import near_names

LONGEST_VALUE = 60  # characters that are shown of one
PLACES = ("/topics", "/incidents", "/silences", "/notifications", "/clusters", "/docs")
"""What somebody may have meant who has mistyped an address."""


class PageErrors:
    """Answers people; all others are answered by `otherwise`."""

    def __init__(self, otherwise: ErrorAnswers) -> None:
        self._otherwise = otherwise
        self._page = environment().get_template("not_found.html")
        self._invalid = environment().get_template("invalid.html")
        self._refused = environment().get_template("refused.html")

    def refusal(
        self,
        scope: Scope,
        kind: ProblemKind,
        detail: str,
        headers: Mapping[str, str] | None = None,
        /,
    ) -> Response:
        """People who log in are told so by pages; scripts of these ask for fragments."""
        wants_page = "text/html" in Headers(scope=scope).get("accept", "")
        is_about_people = kind is ProblemKind.LOGIN_NEEDED or who_reads().person is not None
        if not wants_page or not is_about_people or scope["path"].startswith(FRAGMENTS):
            return self._otherwise.refusal(scope, kind, detail, headers)
        text = self._refused.render(
            title=kind.value.title, detail=detail, needs_login=kind is ProblemKind.LOGIN_NEEDED
        )
        return HTMLResponse(text, kind.value.status, headers)

    def unanswered(
        self,
        request: Request,
        status_code: int,
        headers: Mapping[str, str] | None,
        methods: Sequence[str],
        /,
    ) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "")
        if status_code == HTTPStatus.NOT_FOUND and request.method == "GET" and wants_page:
            path = decoded_path(request.scope)
            near = near_names(path.rstrip("/").lower(), PLACES)
            return HTMLResponse(self._page.render(path=path, near=near), status_code)
        return self._otherwise.unanswered(request, status_code, headers, methods)

    def invalid(self, request: Request, refused: Sequence[Refused], /) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "")
        in_query = [each for each in refused if each.place == "query"]
        if request.method != "GET" or not wants_page or not in_query:
            return self._otherwise.invalid(request, refused)
        pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        names = {each.name for each in in_query}
        kept = urlencode([(name, value) for name, value in pairs if name not in names])
        path = encoded_path(request.scope)
        text = self._invalid.render(
            refused=in_query,
            without=f"{path}?{kept}" if kept else path,  # the address that was asked for
            longest=LONGEST_VALUE,
        )
        return HTMLResponse(text, ProblemKind.INVALID_REQUEST.value.status)

    def failed(self, request: Request, /) -> Response:
        return self._otherwise.failed(request)
