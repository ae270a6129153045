"""`warren.acknowledgements`: incidents that somebody looks after, compacted."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from warren.contracts.event import ClusterName, Event, Milliseconds
from warren.contracts.silence import Person, Why


class Acknowledgement(Event):
    """Somebody looks after an incident: it is neither repeated nor escalated, its end is told.

    A tombstone: nobody does any more.
    """

    topic_name: ClassVar[str] = "acknowledgements"

    v: Literal[1] = 1
    incident_id: str = Field(min_length=1, max_length=100, description="The record's key")
    cluster: ClusterName
    group: str
    by: Person = Field(description="Who looks after it")
    why: Why = Field(description="What they say about it; may be empty")
    at: Milliseconds
