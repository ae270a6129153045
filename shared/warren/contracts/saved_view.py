"""`warren.views`: searches of groups that people have given a name, compacted."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from warren.contracts.event import Event, Milliseconds
from warren.contracts.silence import Person

ViewName = Annotated[str, StringConstraints(min_length=1, max_length=60)]
# A search of 300 characters of which each is escaped, and an order, have their place.
ViewQuery = Annotated[str, StringConstraints(max_length=4000)]


class SavedView(Event):
    """A part of the overview; the newest record of a name counts, a tombstone removes it."""

    topic_name: ClassVar[str] = "views"

    v: Literal[1] = 1
    name: ViewName = Field(description="The record's key")
    query: ViewQuery = Field(
        description="What is asked of the overview, as in its address: `q=owner:payments&by=cause`"
    )
    by: Person = Field(description="Who saved it")
    at: Milliseconds
