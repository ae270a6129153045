"""`[local]`: the embedded runtime of `warren up`."""

from __future__ import annotations

from pydantic import Field

from warren.section import SecondsOrNone, Section


class LocalSettings(Section):
    """The embedded runtime of `warren up`."""

    state_dir: str = Field(default=".warren", description="Everything that `warren up` writes")
    kafka_port: int = Field(default=9092, ge=1, le=65535, description="Embedded broker's port")
    redis_port: int = Field(default=6379, ge=1, le=65535, description="Embedded Valkey's port")
    reports_interval: SecondsOrNone = Field(
        default=300,
        description="Seconds between two times that `warren up` writes the reports that its pages "
        "link; 0 for none",
    )
    jars_dir: str = Field(
        default="", description="Directory that already holds the jars; empty to download them"
    )
    jars_mirror: str = Field(
        default="", description="Root URL of a Maven repository instead of Maven Central"
    )
