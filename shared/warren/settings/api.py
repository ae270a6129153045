"""`[api]`: the HTTP server."""

from __future__ import annotations

from pydantic import Field

from warren.section import Section


class ApiSettings(Section):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on")
    history: int = Field(
        default=10_000,
        ge=1,
        description="Status changes kept in memory, of all groups, the newest: what the history "
        "of groups, incidents and resumed event streams are made of",
    )
    event_streams: int = Field(
        default=100, ge=1, description="Clients that may follow /api/v1/events at a time"
    )
