"""`[api]`: the HTTP server."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from warren.section import Section


class ApiSettings(Section):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on")
    metrics_detail: Literal["group", "topic", "partition"] = Field(
        default="partition",
        description="How fine the series of /metrics are: per group, also per topic of a group, "
        "or also per partition",
    )
    metrics_origins: list[Literal["warren", "burrow", "kafka_lag_exporter", "tesla"]] = Field(
        default=["warren", "burrow", "kafka_lag_exporter", "tesla"],
        description="Whose names series of groups have in /metrics; each costs series of its own",
    )
