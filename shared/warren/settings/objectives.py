"""`[[objectives]]`: what is asked of groups: how late they may be, how far behind."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from warren.section import Seconds, SecondsOrNone, Section
from warren.settings.expressions import OneOrMoreExpressions

RETENTION = "retention"
"""The objective that every group has."""
LIMITS = ("max_freshness", "max_lag", "min_produce_rate", "min_time_to_loss")


class ObjectiveSettings(Section):
    """What is asked of some groups, or of some of their topics. All that match a group hold."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+$")] = Field(
        description="Unique name (letters, digits, `.`, `_`, `-`); what is remembered goes by "
        "it, so keep it"
    )
    clusters: OneOrMoreExpressions = Field(
        default_factory=list, description="Only clusters that match one (regular expressions)"
    )
    groups: OneOrMoreExpressions = Field(
        default_factory=list, description="Only groups that match one (regular expressions)"
    )
    topics: OneOrMoreExpressions = Field(
        default_factory=list,
        description="Only partitions of topics that match one (regular expressions)",
    )
    max_freshness: Seconds | None = Field(
        default=None, description="Seconds that a group may be late"
    )
    max_lag: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Records that it may be behind, all partitions together"
    )
    min_produce_rate: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Records a second that are produced at least, likewise"
    )
    min_time_to_loss: SecondsOrNone | None = Field(
        default=None,
        description="Seconds that retention leaves at least; instead of the default: less than an "
        "hour and less than half of the retention. 0: nobody minds, not even lost records",
    )
    for_: SecondsOrNone = Field(
        default=60, alias="for", description="Seconds that it must last before anybody is told"
    )
    clear_after: SecondsOrNone = Field(
        default=60, description="Seconds that all must be well before that is told"
    )
    target: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description="Share of the time in which each limit is to be kept, such as 0.99: told, too, "
        "when what it allows is spent too fast (burn rate over an hour, 6 hours, 3 days)",
    )
    severity: Literal["WARN", "ERR"] = Field(default="WARN", description="Status while it lasts")
    owner: str = Field(default="", description="Whose it is; part of what is told")
    runbook: str = Field(default="", description="URL of what to do; part of what is told")

    @field_validator("name")
    @classmethod
    def _name_is_free(cls, value: str) -> str:
        if value == RETENTION:
            raise ValueError(f"{value!r} is the name of the one that is always there")
        return value

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if all(getattr(self, name) is None for name in LIMITS):
            raise ValueError(f"nothing is asked for: name one of {', '.join(LIMITS)}")
        return self
