"""A place that samples are sent to, and the ways in which it does not take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from prometheus_client.core import Metric


class PushError(Exception):
    """`kind` tells one trouble from another: what is logged changes with it."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind


class Unanswered(PushError):
    """Nobody said no: the same may be taken when it is sent again."""

    def __init__(self, kind: str, detail: str = "", after: float = 0.0) -> None:
        """`after`: seconds that the receiver asks for."""
        super().__init__(kind, detail)
        self.after = after


class NoTimeLeft(Unanswered):
    """The interval was over before it was asked: this says nothing of the receiver."""

    def __init__(self) -> None:
        super().__init__("no time left", "of the interval")


class BatchRefused(PushError):
    """These samples are not taken; others may be."""


class Refused(PushError):
    """It takes nothing that is sent like this."""


class Receiver(Protocol):
    """Used by one thread."""

    def send(self, batch: Sequence[Metric], at: int, timeout: float) -> int:
        """Samples of one moment (Unix milliseconds); how many of them were refused.

        Raises PushError. It takes `timeout` seconds at most, but for looking up a name.
        """

    def close(self) -> None:
        """Ends connections."""
