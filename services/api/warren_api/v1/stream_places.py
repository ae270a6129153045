"""How many streams there may be at a time, and whose end where others wait to follow."""

from __future__ import annotations

from collections.abc import Callable

from warren_api.http.callers import Holder
from warren_api.http.shares import Shares


class StreamPlace:
    """Had until it is given back, or goes to somebody else."""

    def __init__(self, places: Shares[StreamPlace], holder: Holder) -> None:
        self.holder = holder
        self._places = places
        self._is_lost = False
        self._leave: Callable[[], None] | None = None

    def when_lost(self, leave: Callable[[], None]) -> None:
        """Calls `leave` once the place goes to somebody else; at once, if it has."""
        self._leave = leave
        if self._is_lost:
            leave()

    def give_back(self) -> None:
        self._places.remove(self)

    def lose(self) -> None:
        self._is_lost = True
        self._places.remove(self)
        if self._leave is not None:
            self._leave()


class StreamPlaces:
    """Used by the event loop only."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = Shares[StreamPlace]()

    def take(self, holder: Holder) -> StreamPlace | None:
        """None where all are taken and nobody has more than the caller would."""
        if len(self._held) >= self.most:
            given_up = self._given_up_for(holder)
            if given_up is None:
                return None
            given_up.lose()
        place = StreamPlace(self._held, holder)
        self._held.add(holder.name, place)
        return place

    def _given_up_for(self, holder: Holder) -> StreamPlace | None:
        crowding = self._held.crowding(holder.name)
        if crowding is not None or not holder.is_admin or self._held.count(holder.name):
            return crowding
        # An admin's first, however many readers there are.
        return self._held.newest(lambda place: not place.holder.is_admin)
