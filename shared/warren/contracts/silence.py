"""`warren.silences`: groups about which nobody is to be told anything for a while, compacted."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from warren.contracts.event import ClusterName, Event, Moment, is_empty, is_none

LONGEST_SILENCE_MS = 90 * 24 * 3_600_000
# A name of 300 characters of which each is escaped has its place.
Expression = Annotated[str, StringConstraints(max_length=1000)]
Owner = Annotated[str, StringConstraints(max_length=300)]
Person = Annotated[str, StringConstraints(max_length=100)]
Why = Annotated[str, StringConstraints(max_length=500)]


def require_target(cluster: str, group: str, owner: str) -> None:
    """Raise ValueError for a silence of nothing in particular."""
    if not (cluster or group or owner):
        raise ValueError('cluster, group or owner is needed; group ".*" silences everything')


class Silence(Event):
    """A silence, whole; the newest record of an id counts. One that was ended has an earlier
    `ends_at`. What is silenced is judged all the same.
    """

    topic_name: ClassVar[str] = "silences"

    v: Literal[1, 2] = Field(
        default=1,
        description="2 where `owner` is: who does not know it takes no such silence",
    )
    id: str = Field(min_length=1, max_length=100, description="The record's key")
    cluster: Expression = Field(
        description="Clusters in whose name this regular expression (RE2) matches somewhere; "
        "empty: all"
    )
    group: Expression = Field(description="Groups, likewise")
    owner: Owner = Field(
        default="",
        exclude_if=is_empty,
        description="Only groups of this owner, those that come later among them; absent: of all",
    )
    begins_at: Moment
    ends_at: Moment = Field(description="From then on it holds no longer")
    by: Person = Field(description="Who wants it")
    why: Why = Field(description="What for")
    created_at: Moment
    ended_by: Person | None = Field(
        default=None, exclude_if=is_none, description="Who ended it early; absent: nobody did"
    )

    @model_validator(mode="after")
    def _not_for_ever(self) -> Self:
        require_target(self.cluster, self.group, self.owner)
        if self.ends_at - self.begins_at > LONGEST_SILENCE_MS:
            raise ValueError("a silence lasts 90 days at most")
        return self

    def holds_at(self, now: int) -> bool:
        """`now`: Unix milliseconds."""
        return self.begins_at <= now < self.ends_at


# `warren.acknowledgements`: incidents that somebody looks after, compacted.


class Acknowledgement(Event):
    """Somebody looks after an incident: it is not repeated, its end is told.

    A tombstone: nobody does any more.
    """

    topic_name: ClassVar[str] = "acknowledgements"

    v: Literal[1] = 1
    incident_id: str = Field(min_length=1, max_length=100, description="The record's key")
    cluster: ClusterName
    group: str
    by: Person = Field(description="Who looks after it")
    why: Why = Field(description="What they say about it; may be empty")
    at: Moment
