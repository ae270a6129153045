"""Names that the API may be asked under without a token.

A site may make a name of its own point to an address in here (DNS rebinding); browsers then let its
pages ask, and show them the answers. They cannot help sending that name as Host.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

ANY = "*"


class Hosts:
    """`trusted`: names without a port."""

    def __init__(self, trusted: Iterable[str], *, is_loopback: bool) -> None:
        self._trusted = {name.lower() for name in trusted}
        self._is_loopback = is_loopback

    def trusts(self, host: str | None, *, is_browser: bool) -> bool:
        """`host`: the header, None without one, which no browser leaves out. Beyond loopback nobody
        knows all names of a machine: unless some are given, only requests that say that a browser
        sent them need one.
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
