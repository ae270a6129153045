"""`[log]`: logs on standard error."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from warren.section import Section


class LogSettings(Section):
    """Logs on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe level that is written"
    )
    format: Literal["auto", "json", "console"] = Field(
        default="auto", description="auto: console on a terminal, else JSON"
    )
