"""`[probe]`: where services other than the API serve their metrics and whether they are ready."""

from __future__ import annotations

from pydantic import Field

from warren.section import Section


class ProbeSettings(Section):
    """The side door of services: `/metrics`, `/ready` and `/live`, at their `metrics_port`."""

    host: str = Field(
        default="",
        description="Address to listen on, as 127.0.0.1 or ::1; empty: all, of IPv4 and IPv6, so "
        "that Prometheus and orchestrators reach it. It tells names of clusters and counts, and "
        "changes nothing",
    )
