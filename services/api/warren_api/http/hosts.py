"""Names that the API may be asked under without a token.

A site may make a name of its own point to an address in here (DNS rebinding); browsers then let its
pages ask, and show them the answers. They cannot help sending that name as Host.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers

ANY = "*"
BROWSERS_OWN = "sec-"  # no script can set or remove such a header (Fetch, forbidden names)


def is_of_browser(headers: Headers) -> bool:
    """Whether a request says that a browser sent it. Browsers leave Origin out of most GETs, and
    send Sec-Fetch-Site and its like over HTTPS and to this machine only.
    """
    return "Origin" in headers or any(name.startswith(BROWSERS_OWN) for name in headers)


class Hosts:
    """`trusted`: names without a port."""

    def __init__(self, trusted: Iterable[str], *, is_loopback: bool) -> None:
        self._trusted = {name.lower() for name in trusted}
        self._is_loopback = is_loopback

    @property
    def trusts_any(self) -> bool:
        """Whether reading takes no name that is known, without anybody having said so."""
        return not self._trusted and not self._is_loopback

    def trusts(self, host: str | None, *, is_browser: bool) -> bool:
        """`host`: the header, None without one, which no browser leaves out. Beyond loopback nobody
        knows all names of a machine: unless some are given, only requests that say that a browser
        sent them need one. Over plain HTTP reading says nothing: only names that are given help.
        """
        if host is None or ANY in self._trusted:
            return True
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name == "localhost" or name in self._trusted:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return not self._is_loopback and not self._trusted and not is_browser
        return address.is_loopback or not self._is_loopback  # nobody can make an address point here
