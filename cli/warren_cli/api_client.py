"""One request to the API at a time, with $WARREN_TOKEN; what went wrong is an error of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from warren.errors import SettingsError, WarrenError
from warren.settings import ApiSettings
from warren.words import visible

from warren_cli.group_feed import http_client

TIMEOUT = 20.0  # the API itself waits for the home cluster
Parameters = Mapping[str, str | bool | list[str]]
_REFUSED = (httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY)
_FORBIDDEN = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # what to dial when it listens everywhere


class ApiUnavailable(WarrenError):
    """The API did not answer. Operator: is `warren-api` running, and at this address?"""


class ApiRefused(WarrenError):
    """The API answered, but not with what was asked for; the text is its own."""


class ApiFoundNothing(ApiRefused):
    """There is no such thing."""


def api_address(api: ApiSettings) -> str:
    """Where an API with these settings is reached from here."""
    host = _ANYWHERE.get(api.host, api.host)
    scheme = "https" if api.tls_certificate else "http"
    return f"{scheme}://[{host}]:{api.port}" if ":" in host else f"{scheme}://{host}:{api.port}"


def without_login(address: str) -> str:
    """As it is shown: a name and a password before an `@` are nobody's business."""
    scheme, separator, rest = address.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


@contextmanager
def understood(address: str) -> Iterator[None]:
    """Raises ApiUnavailable where what is read in it is no answer of an API of Warren's."""
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
    url, shown = f"{address.rstrip('/')}/api/v1/{path}", without_login(address)
    try:
        with understood(address), http_client(TIMEOUT) as client:
            response = client.request(method, url, json=body, params=parameters)
            answer = response.json()
            if not isinstance(answer, dict):
                raise TypeError("no object")
            detail = "" if response.is_success else visible(str(answer["detail"]))
    except httpx.InvalidURL as error:
        raise SettingsError("--api", str(error)) from None
    except httpx.UnsupportedProtocol:
        raise SettingsError("--api", "an address starts with http:// or https://") from None
    except httpx.HTTPError as error:
        problem = str(error) or type(error).__name__
        raise ApiUnavailable(f"no answer from {shown}: {problem} (see --api)") from None
    if response.status_code in _REFUSED:
        raise SettingsError(path.partition("/")[0], detail)
    if response.status_code in _FORBIDDEN:
        raise ApiRefused(f"{detail} (the token is read from $WARREN_TOKEN)")
    if response.status_code == httpx.codes.NOT_FOUND:
        raise ApiFoundNothing(detail)
    if not response.is_success:
        raise ApiRefused(detail)
    return answer
