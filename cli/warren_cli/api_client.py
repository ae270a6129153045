"""One request to the API at a time, with $WARREN_TOKEN, which no error shows; what went wrong is an
error of ours.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from warren.errors import SettingsError, WarrenError
from warren.words import visible

VARIABLE = "WARREN_TOKEN"
TIMEOUT = 20.0  # the API itself waits for the home cluster
Ask = Callable[[dict[str, str]], Any]
"""Gives the body of one page for the parameters of its query."""
Parameters = Mapping[str, str | bool | list[str]]
_REFUSED = (httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY)
_FORBIDDEN = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)


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


def http_client(timeout: float) -> httpx.Client:
    """One that sends $WARREN_TOKEN and trusts what the system trusts, or $SSL_CERT_FILE.

    Raises SettingsError for a token that cannot be sent.
    """
    token = sent_token()
    return httpx.Client(
        headers={"Authorization": f"Bearer {token}"} if token else {},
        timeout=timeout,
        trust_env=False,
        verify=ssl.create_default_context(),
    )


def without_login(address: str) -> str:
    """As it is shown: a name and a password before an `@` are nobody's business."""
    scheme, separator, rest = address.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


@contextmanager
def understood(address: str) -> Iterator[None]:
    """Raises ApiUnavailable where there is no answer, or none of an API of Warren's, and
    SettingsError for an address that is none.
    """
    try:
        yield
    except UnicodeEncodeError:  # a ValueError too: what was typed, not what answers
        raise
    except httpx.InvalidURL as error:
        raise SettingsError("--api", str(error)) from None
    except httpx.UnsupportedProtocol:
        raise SettingsError("--api", "an address starts with http:// or https://") from None
    except httpx.HTTPError as error:
        problem, shown = str(error) or type(error).__name__, without_login(address)
        raise ApiUnavailable(f"no answer from {shown}: {problem} (see --api)") from None
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
    url = f"{address.rstrip('/')}/api/v1/{path}"
    with understood(address), http_client(TIMEOUT) as client:
        response = client.request(method, url, json=body, params=parameters)
        answer = response.json()
        if not isinstance(answer, dict):
            raise TypeError("no object")
        detail = "" if response.is_success else visible(str(answer["detail"]))
    if response.status_code in _REFUSED:
        raise SettingsError(path.partition("/")[0], detail)
    if response.status_code in _FORBIDDEN:
        raise ApiRefused(f"{detail} (the token is read from $WARREN_TOKEN)")
    if response.status_code == httpx.codes.NOT_FOUND:
        raise ApiFoundNothing(detail)
    if not response.is_success:
        raise ApiRefused(detail)
    return answer


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
