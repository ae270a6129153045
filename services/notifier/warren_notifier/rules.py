"""The rules that decide: as they are at one moment, and where to ask for those of now."""

from dataclasses import dataclass
from functools import cached_property

from warren.clock import Clock

from warren_notifier.routing.decisions import Router
from warren_notifier.routing.holds import Holds, HoldsAt


@dataclass(frozen=True)
class Rules:
    """Routes and channels, and what people ask for at one moment (Unix milliseconds)."""

    router: Router
    asked: Holds
    at: int

    @cached_property
    def holds(self) -> HoldsAt:
        return self.asked.at(self.at)


@dataclass(frozen=True, slots=True)
class Rulebook:
    """People ask for other things as time goes on; routes stay as long as a session does."""

    router: Router
    holds: Holds
    clock: Clock

    def now(self) -> Rules:
        return Rules(self.router, self.holds, self.clock.now_ms())
