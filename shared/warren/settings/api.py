"""`[api]`: the HTTP server."""

from __future__ import annotations

from pydantic import Field

from warren.section import Section


class ApiSettings(Section):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on")
