"""`[evaluation]`: the rules by which groups are judged."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from warren.section import Seconds, Section
from warren.settings.expressions import OneOrMoreExpressions
from warren.words import seconds_of


def _in_seconds(value: Any) -> Any:
    """What is no text is left to those who want a number."""
    if not isinstance(value, str):
        return value
    if (seconds := seconds_of(value)) is None:
        raise ValueError(f"{value!r} is no span of time: write seconds, or 24h, 1d12h, 10m")
    return seconds


Span = Annotated[Seconds, BeforeValidator(_in_seconds)]


PolicyName = Literal["burrow", "progress"]
Intervals = Annotated[int, Field(ge=2, le=255)]
Distance = Annotated[float, Field(ge=0)]
AllowedLag = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class EvaluationOverride(Section):
    """Other rules for some groups or topics.

    Overrides are tried in order: each setting comes from the first one that matches and names it,
    else from `[evaluation]`.
    """

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
    policy: PolicyName | None = Field(default=None, description="Set of rules")
    intervals: Intervals | None = Field(default=None, description="Commits in a window")
    min_distance: Distance | None = Field(
        default=None, description="Seconds that two commits in a window are apart at least"
    )
    allowed_lag: AllowedLag | None = Field(
        default=None, description="Lag that counts as none, records"
    )
    minimum_complete: Share | None = Field(
        default=None,
        description="Filled share of the window from which policy burrow judges",
    )
    expire_group: Seconds | None = Field(
        default=None,
        description="Seconds without a commit after which a group is dropped; not with `topics`",
    )
    expected_every: Span | None = Field(
        default=None,
        description="How often a job runs, seconds or such as `24h`: a run that has not come by "
        "then and a fifth is told at once; what is unread between runs is not",
    )
    expected_delay: Span | None = Field(
        default=None,
        description="How late consumers are on purpose, seconds or such as `10m`: lateness up to "
        "it is usual",
    )
    ignore: bool | None = Field(
        default=None,
        description="Not judged: OK with the reason `ignored`; counts in no total, no ranking and "
        "no objective, and nobody is notified",
    )

    @model_validator(mode="after")
    def _says_what_for_whom(self) -> Self:
        if not (self.clusters or self.groups or self.topics):
            raise ValueError("for which groups? name groups, topics or clusters")
        if not self.changes():
            known = ", ".join(name for name in OVERRIDABLE)
            raise ValueError(f"nothing is overridden: name one of {known}")
        if self.topics and self.expire_group is not None:
            raise ValueError(
                "expire_group is of a whole group: move it to an override without topics"
            )
        return self

    def changes(self) -> dict[str, Any]:
        """The settings that it names."""
        named = {name: getattr(self, name) for name in OVERRIDABLE}
        return {name: value for name, value in named.items() if value is not None}


OVERRIDABLE = tuple(
    name for name in EvaluationOverride.model_fields if name not in ("clusters", "groups", "topics")
)


class EvaluationSettings(Section):
    """Rules by which groups are judged."""

    policy: PolicyName = Field(default="progress", description="Set of rules")
    intervals: Intervals = Field(default=10, description="Commits in a window")
    min_distance: Distance = Field(
        default=1, description="Seconds that two commits in a window are apart at least"
    )
    allowed_lag: AllowedLag = Field(default=0, description="Lag that counts as none, records")
    minimum_complete: Share = Field(
        default=0,
        description="Filled share of the window from which policy burrow judges",
    )
    expire_group: Seconds = Field(
        default=7 * 86400, description="Seconds without a commit after which a group is dropped"
    )
    overrides: list[EvaluationOverride] = Field(
        default_factory=list, description="Other rules for some groups or topics, first match wins"
    )
