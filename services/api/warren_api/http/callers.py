"""Who asks: with a token, logged in, or nobody that is known."""

from __future__ import annotations

from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple

from starlette.requests import Request
from warren.settings.api import Role

ONE_SITE = 64  # bits of an IPv6 address that a network gives out; the others its owner chooses


def site_of(address: str | None) -> str:
    """Whom an address stands for: of IPv6 its network, in which one machine may have any number."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return address or ""
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), ONE_SITE), strict=False))


class Caller(NamedTuple):
    """Who asks: the token's name, None without one."""

    name: str | None
    role: Role | None


class Person(NamedTuple):
    """Somebody who has logged in; `subject` is what the provider knows them by, `ends` is when
    they have to log in again, Unix seconds.
    """

    name: str
    role: Role
    subject: str
    ends: int


class Asker(NamedTuple):
    """Who changes something: the name of a person or a token, empty without both."""

    name: str = ""
    is_person: bool = False

    def signs(self, said: str) -> str:
        """Under which name it stands. A machine may say for whom it asks, a person is who they
        are.
        """
        return self.name if self.is_person else said or self.name


ANYBODY = Asker()


class Reader(NamedTuple):
    """Whoever gets a page; `login` is where they can log in and come back from, if at all."""

    person: Person | None = None
    login: str = ""

    @property
    def may_change(self) -> bool:
        """As far as a login decides it."""
        return self.person.role == "admin" if self.person else not self.login


NOBODY = Reader()
_reader: ContextVar[Reader] = ContextVar("reader")
# For what every page says of whoever reads it; routes are told what they need.
reads = _reader.set


def who_reads() -> Reader:
    return _reader.get(NOBODY)


def asker(request: Request) -> Asker:
    """Who changes something with this request."""
    found: Asker = getattr(request.state, "asker", ANYBODY)
    return found
