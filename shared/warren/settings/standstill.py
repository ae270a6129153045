"""`[standstill]`: when a service that does not move on what waits says so, and when it ends."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from warren.section import Seconds, Section


class StandstillSettings(Section):
    """Services that do not move on what waits for them."""

    not_ready_after: Seconds = Field(
        default=60,
        description="Seconds without any progress on what waits after which a service is not ready",
    )
    exit_after: Seconds = Field(
        default=180,
        description="Seconds without any progress on what waits after which a service exits 1, to "
        "be started again; time in which a cluster does not answer is not counted",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.exit_after <= self.not_ready_after:
            raise ValueError("exit_after must be more than not_ready_after")
        return self
