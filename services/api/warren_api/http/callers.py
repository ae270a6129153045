"""Who asks: with a token, logged in, or nobody that is known. Limited places are shared by callers:
nobody is kept out by one who has more than they have.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Generic, NamedTuple, TypeVar

from starlette.requests import Request
from warren.settings.api import Role

Held = TypeVar("Held", bound=Hashable)
ONE_SITE = 64  # bits of an IPv6 address that a network gives out; the others its owner chooses


class Shares(Generic[Held]):
    """What is held, by caller. Used by the event loop only."""

    def __init__(self) -> None:
        self._caller_of: dict[Held, str] = {}
        self._held_by: OrderedDict[str, dict[Held, None]] = OrderedDict()  # whose turn is next

    def __len__(self) -> int:
        return len(self._caller_of)

    def __contains__(self, held: Held) -> bool:
        return held in self._caller_of

    def count(self, caller: str) -> int:
        return len(self._held_by.get(caller, ()))

    def add(self, caller: str, held: Held) -> None:
        self._caller_of[held] = caller
        self._held_by.setdefault(caller, {})[held] = None

    def remove(self, held: Held) -> None:
        """No harm when it is gone already."""
        caller = self._caller_of.pop(held, None)
        if caller is not None:
            self._held_by[caller].pop(held)
            if not self._held_by[caller]:
                del self._held_by[caller]

    def next(self) -> Held | None:
        """Takes out the oldest of one caller after the other."""
        if not self._held_by:
            return None
        caller = next(iter(self._held_by))
        held = next(iter(self._held_by[caller]))
        self.remove(held)
        if caller in self._held_by:
            self._held_by.move_to_end(caller)
        return held

    def crowding(self, caller: str) -> Held | None:
        """What is to give way to one more of the caller's: the newest of whoever holds most, unless
        the caller would hold as many then.
        """
        if not self._held_by:
            return None
        most = max(self._held_by.values(), key=len)
        return next(reversed(most)) if len(most) > self.count(caller) + 1 else None

    def newest(self, where: Callable[[Held], bool]) -> Held | None:
        return next((held for held in reversed(self._caller_of) if where(held)), None)


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


class Holder(NamedTuple):
    """Whoever holds places of which there are few: a token, a person, or else an address."""

    name: str
    is_admin: bool = False

    @classmethod
    def of(cls, who: Caller | Person, address: str | None) -> Holder:
        if isinstance(who, Person):
            name = f"person {who.subject}"
        else:
            name = site_of(address) if who.name is None else f"token {who.name}"
        return cls(name, who.role == "admin")


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


def holder(request: Request) -> Holder:
    """Who asks, where places are few."""
    found: Holder = request.state.holder
    return found


def asker(request: Request) -> Asker:
    """Who changes something with this request."""
    found: Asker = getattr(request.state, "asker", ANYBODY)
    return found
