"""Silences, and who looks after what."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field
from warren.contracts import Acknowledgement, Silence


class SilenceView(BaseModel):
    """About these groups nobody is told anything for a while."""

    id: str
    cluster: str = Field(
        description="Clusters in whose name this regular expression matches somewhere; empty: all"
    )
    group: str = Field(description="Groups, likewise")
    in_force: bool = Field(description="Whether it holds now")
    begins_at: int
    ends_at: int
    by: str = Field(description="Who wants it")
    why: str = Field(description="What for")
    created_at: int
    ended_by: str | None = Field(description="Who ended it early; null: nobody did")

    @classmethod
    def of(cls, silence: Silence, now: int) -> Self:
        fields = {name: value for name, value in silence if name != "v"}
        return cls(**fields, in_force=silence.holds_at(now))


class BegunSilence(SilenceView):
    """A silence that has just been asked for."""

    groups: int = Field(description="How many groups it is about, of those that there are now")


class Silences(BaseModel):
    """Silences, the newest first."""

    silences: list[SilenceView]


class SilenceNote(BaseModel):
    """Why nobody is told of a group, and until when."""

    id: str
    ends_at: int
    by: str
    why: str

    @classmethod
    def of(cls, silence: Silence | None) -> Self | None:
        if silence is None:
            return None
        return cls(id=silence.id, ends_at=silence.ends_at, by=silence.by, why=silence.why)


class AcknowledgementNote(BaseModel):
    """Who looks after an incident."""

    by: str
    why: str = Field(description="What they say about it; may be empty")
    at: int

    @classmethod
    def of(cls, acknowledgement: Acknowledgement | None) -> Self | None:
        if acknowledgement is None:
            return None
        return cls(by=acknowledgement.by, why=acknowledgement.why, at=acknowledgement.at)
