"""Pages for paths at which there is nothing, for those who ask as browsers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from warren_api.http.errors import ErrorAnswers, Refusal
from warren_api.http.raw_path import decoded_path
from warren_api.pages.environment import environment


class PageErrors:
    """Answers people; all others are answered by `otherwise`."""

    def __init__(self, otherwise: ErrorAnswers) -> None:
        self._otherwise = otherwise
        self._page = environment().get_template("not_found.html")

    @property
    def refusal(self) -> Refusal:
        return self._otherwise.refusal

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
            return HTMLResponse(self._page.render(path=decoded_path(request.scope)), status_code)
        return self._otherwise.unanswered(request, status_code, headers, methods)

    def failed(self, request: Request, /) -> Response:
        return self._otherwise.failed(request)
