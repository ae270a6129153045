"""`[[groups]]`: whose groups are, and what else people want to know of them."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from warren.section import Section
from warren.settings.expressions import OneOrMoreExpressions

LabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]


class GroupSettings(Section):
    """Whose some groups are. The first entry that matches a group and names an owner, a runbook or
    a label says it.
    """

    clusters: OneOrMoreExpressions = Field(
        default_factory=list, description="Only clusters that match one (regular expressions)"
    )
    groups: OneOrMoreExpressions = Field(
        default_factory=list, description="Only groups that match one (regular expressions)"
    )
    owner: str = Field(
        default="",
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$",
        description="Whose they are, on one line; an objective's own owner counts more for it",
    )
    runbook: str = Field(
        default="", description="URL of what to do; an objective's own counts more for it"
    )
    labels: dict[LabelName, str] = Field(
        default_factory=dict, description='What else is told of them, such as `tier = "1"`'
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.owner or self.runbook or self.labels):
            raise ValueError("nothing is said: name owner, runbook or labels")
        return self
