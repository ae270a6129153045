"""What was drawn, kept until what it shows is another.

Pages are asked for every two seconds, the past changes once a minute.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Drawing = TypeVar("Drawing")


class Drawn(Generic[Drawing]):
    """At most `limit` drawings, the one asked for longest ago goes first. Used by many threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Hashable, Drawing]] = OrderedDict()

    def get(self, name: Hashable, version: Hashable, draw: Callable[[], Drawing]) -> Drawing:
        """The drawing of this name, made anew by `draw` where another `version` is kept."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None and kept[0] == version:
                self._kept.move_to_end(name)
                return kept[1]
        drawing = draw()
        with self._lock:
            self._kept[name] = version, drawing
            self._kept.move_to_end(name)
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return drawing
