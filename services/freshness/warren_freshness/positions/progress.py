"""How far warren.offsets is folded into positions."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Progress:
    """`folded`: by home partition whose groups are all known, the offset after the last event.

    Replaced as a whole, in the event loop, once the events are folded and dead letters are safe.
    """

    folded: dict[int, int] = field(default_factory=dict)
