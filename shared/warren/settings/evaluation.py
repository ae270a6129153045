"""`[evaluation]`: the rules by which groups are judged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from warren.section import Seconds, Section

PolicyName = Literal["burrow", "wiki"]


class EvaluationSettings(Section):
    """Rules by which groups are judged."""

    policy: PolicyName = Field(default="burrow", description="Set of rules")
    intervals: int = Field(default=10, ge=2, le=255, description="Commits in a window")
    min_distance: Annotated[float, Field(ge=0)] = Field(
        default=1, description="Seconds that two commits in a window are apart at least"
    )
    allowed_lag: int = Field(default=0, ge=0, description="Lag that counts as none, records")
    minimum_complete: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0, description="Filled share of the window from which a partition is judged"
    )
    expire_group: Seconds = Field(
        default=7 * 86400, description="Seconds without a commit after which a group is dropped"
    )
