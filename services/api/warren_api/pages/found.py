"""How a page answers where what it is about is not known: while that is still being read, later."""

from __future__ import annotations

from http import HTTPStatus

RETRY_SECONDS = "1"


def status_of(found: object, *, ready: bool) -> HTTPStatus:
    """`ready`: whether Warren's topics were read when it was looked for, so before that."""
    if found:
        return HTTPStatus.OK
    return HTTPStatus.NOT_FOUND if ready else HTTPStatus.SERVICE_UNAVAILABLE
