"""One request to the API at a time, with $WARREN_TOKEN, which no error shows; what went wrong is an
error of ours.
"""

import base64
import json
import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection, InvalidURL
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from warren.errors import SettingsError, WarrenError
from warren.words import visible

VARIABLE = "WARREN_TOKEN"
TIMEOUT = 20.0  # the API itself waits for the home cluster
Ask = Callable[[dict[str, str]], Any]
"""Gives the body of one page for the parameters of its query."""
Parameters = Mapping[str, str | bool | list[str]]
_REFUSED = (400, 422)
_FORBIDDEN = (401, 403)
_KEPT = "/:@!$&'()*+,;=%~-._"  # of a path: what stands there as it is


class ApiUnavailable(WarrenError):
    """The API did not answer. Operator: is `warren-api` running, and at this address?"""


class ApiRefused(WarrenError):
    """The API answered, but not with what was asked for; the text is its own."""


class ApiFoundNothing(ApiRefused):
    """There is no such thing."""


def sent_token() -> str:
    """$WARREN_TOKEN without the blanks and line ends around it, which files have; empty: none.

    Raises SettingsError for what no header can hold.
    """
    token = os.environ.get(VARIABLE, "").strip()
    if problem := unsendable(token):
        raise SettingsError(VARIABLE, f"{problem}: give the token alone")
    return token


def unsendable(token: str) -> str:
    """Why no header can hold it; empty where one can. Nothing of the token is in it."""
    if "\n" in token or "\r" in token:
        return "has more than one line (a line feed or carriage return in it)"
    if not token.isascii():
        return "has a character that is not ASCII"
    if not token.isprintable():
        return "has a control character in it"
    return ""


def sent_headers(login: str = "") -> dict[str, str]:
    """With $WARREN_TOKEN, else the `login` of the address. Raises as `sent_token` does."""
    if token := sent_token():
        return {"Authorization": f"Bearer {token}"}
    if not login:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(unquote(login).encode()).decode()}"}


def without_login(address: str) -> str:
    """As it is shown: a name and a password before an `@` are nobody's business."""
    scheme, separator, rest = address.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


@contextmanager
def understood(address: str) -> Iterator[None]:
    """Raises ApiUnavailable where the answer is none of an API of Warren's."""
    try:
        yield
    except UnicodeEncodeError:  # a ValueError too: what was typed, not what answers
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        shown = without_login(address)
        raise ApiUnavailable(f"what answers at {shown} is not Warren's API (see --api)") from None


def request(
    method: str,
    address: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    parameters: Parameters | None = None,
) -> Any:
    """The JSON that `/api/v1/PATH` answers with. `parameters`: of the query.

    Raises ApiUnavailable, ApiRefused, and SettingsError for what the API takes for a wrong input.
    """
    answered = _answered(method, address, f"/api/v1/{path}", body, parameters or {})
    with understood(address):
        answer = json.loads(answered[1])
        if not isinstance(answer, dict):
            raise TypeError("no object")
        is_success = 200 <= answered[0] < 300
        detail = "" if is_success else visible(str(answer["detail"]))
    if answered[0] in _REFUSED:
        raise SettingsError(path.partition("/")[0], detail)
    if answered[0] in _FORBIDDEN:
        raise ApiRefused(f"{detail} (the token is read from $WARREN_TOKEN)")
    if answered[0] == 404:
        raise ApiFoundNothing(detail)
    if not is_success:
        raise ApiRefused(detail)
    return answer


def _answered(
    method: str, address: str, path: str, body: Mapping[str, Any] | None, parameters: Parameters
) -> tuple[int, bytes]:
    """Code and content; no redirect is followed. The library's own client: httpx takes as long to
    import as all else that a command needs.
    """
    login, headers = "", {"Accept": "application/json"}
    try:
        parts = urlsplit(address)
        login = parts.netloc.rpartition("@")[0]
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise SettingsError("--api", str(error)) from None
    if parts.scheme not in ("http", "https") or not host:
        raise SettingsError("--api", "an address starts with http:// or https://")
    headers |= sent_headers(login)
    if body is not None:
        headers["Content-Type"] = "application/json"
    query = urlencode(
        {n: str(v).lower() if isinstance(v, bool) else v for n, v in parameters.items()}, doseq=True
    )
    target = quote(parts.path.rstrip("/") + path, safe=_KEPT) + (f"?{query}" if query else "")
    connection = (
        HTTPConnection(host, port, timeout=TIMEOUT)
        if parts.scheme == "http"
        else HTTPSConnection(host, port, timeout=TIMEOUT, context=ssl.create_default_context())
    )
    try:
        with closing(connection):
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            return response.status, response.read()
    except InvalidURL as error:
        raise SettingsError("--api", str(error)) from None
    except (OSError, HTTPException) as error:
        problem, shown = str(error) or type(error).__name__, without_login(address)
        raise ApiUnavailable(f"no answer from {shown}: {problem} (see --api)") from None


def pages(ask: Ask) -> Iterator[Any]:
    """The bodies of a list's pages.

    Raises what `ask` raises, and ValueError for a list that goes round in a circle.
    """
    body = ask({})
    yield body
    seen = set()
    while cursor := body.get("next"):
        if cursor in seen:
            raise ValueError("a cursor that was given before")
        seen.add(cursor)
        body = ask({"cursor": cursor})
        yield body
