"""Reports on the past that others write into a folder, and `/docs`: what can be asked over HTTP,
made from the OpenAPI document.

Only files of the names that Warren itself writes are served, whatever else is in the folder. No
script, nothing from elsewhere.
"""

import contextlib
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, HTTPException, Request, Response
from warren.report_files import REPORT_FILES

from warren_api.context import ApiContext
from warren_api.http.names import Segment


def add_routes(routes: APIRouter, context: ApiContext, render: Callable[..., Response]) -> None:
    @routes.get("/docs")
    def docs(request: Request) -> Response:
        return render("reference.html", **request.app.openapi())

    folder = context.settings.api.reports_dir

    @routes.get("/reports/{name}")
    def report(name: Segment) -> Response:
        if not folder or name not in _NAMES:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        try:
            page = Path(folder, name).read_bytes()
        except OSError:
            raise HTTPException(HTTPStatus.NOT_FOUND) from None
        headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY}
        return Response(page, media_type="text/html", headers=headers)


# Its styles and plots are in the page, as it is also sent as a mail's attachment. It has no script,
# no form and nothing from elsewhere, and the browser is told so.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox"
)
_NAMES = frozenset(report.name for report in REPORT_FILES)


class WrittenReport(NamedTuple):
    """`written_at`: Unix milliseconds."""

    name: str
    title: str
    written_at: int


def written_reports(folder: str) -> list[WrittenReport]:
    """Those that are there; none without a folder."""
    found = []
    for name, title, _ in REPORT_FILES if folder else ():
        with contextlib.suppress(OSError):
            written_at = round(Path(folder, name).stat().st_mtime * 1000)
            found.append(WrittenReport(name, title, written_at))
    return found
