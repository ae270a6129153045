"""What became of a push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warren_api.push.receiver import PushError, Unanswered

Result = Literal["ok", "partial", "refused", "failed"]


@dataclass(slots=True)
class Tally:
    """Samples that were taken and refused, and the first trouble."""

    taken: int = 0
    refused: int = 0
    error: PushError | None = None
    is_answered: bool = True

    def take(self, size: int, refused: int) -> None:
        """A batch was taken, but for `refused` samples."""
        refused = min(max(refused, 0), size)
        self.taken += size - refused
        self.refused += refused

    def refuse(self, size: int, error: PushError) -> None:
        """A batch was not taken."""
        self.refused += size
        self.error = self.error or error

    def fail(self, error: PushError) -> None:
        """It ended early."""
        self.is_answered = not isinstance(error, Unanswered)
        self.error = error if not self.is_answered else self.error or error

    @property
    def result(self) -> Result:
        if not self.is_answered:
            return "failed"
        if not self.refused and self.error is None:
            return "ok"
        return "partial" if self.taken else "refused"
