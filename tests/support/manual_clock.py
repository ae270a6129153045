"""A clock that a test moves."""


class ManualClock:
    """A clock for tests: stands still until `advance` is called."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms
        self._monotonic = 0.0

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic(self) -> float:
        return self._monotonic

    def set_back(self, seconds: float) -> None:
        """As an operator does it: what is left of a wait stays the same."""
        self._now_ms -= round(seconds * 1000)

    def advance(self, seconds: float) -> None:
        self._now_ms += round(seconds * 1000)
        self._monotonic += seconds
