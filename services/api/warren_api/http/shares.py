"""Limited places, shared by callers: nobody is kept out by one who has more than they have."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Generic, TypeVar

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
