"""What the tables of warren.toml have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Seconds = Annotated[float, Field(gt=0)]
Pattern = Annotated[str, StringConstraints(min_length=1)]


class Section(BaseModel):
    """A table of warren.toml. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
