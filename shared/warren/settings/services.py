"""Tables of single services, and of what all services share."""

from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from warren.section import Seconds, SecondsOrNone, Section
from warren.settings.expressions import Expressions

_REDIS_SCHEMES = ("redis://", "rediss://", "unix://")
"""Those that the client of Redis takes."""


class RedisSettings(Section):
    """Redis or Valkey: a cache that can be rebuilt, never a store."""

    url: SecretStr = Field(
        default=SecretStr("redis://localhost:6379/0"), description="redis:// or rediss:// URL"
    )

    @field_validator("url")
    @classmethod
    def _of_a_scheme(cls, url: SecretStr) -> SecretStr:
        if not url.get_secret_value().startswith(_REDIS_SCHEMES):
            raise ValueError("must begin with redis://, rediss:// or unix://")
        return url


class LogSettings(Section):
    """Logs on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe level that is written"
    )
    format: Literal["auto", "json", "console"] = Field(
        default="auto", description="auto: console on a terminal, else JSON"
    )


class ProbeSettings(Section):
    """The side door of services: `/metrics`, `/ready` and `/live`, at their `metrics_port`."""

    host: str = Field(
        default="",
        description="Address to listen on, as 127.0.0.1 or ::1; empty: all, of IPv4 and IPv6, so "
        "that Prometheus and orchestrators reach it. It tells names of clusters and counts, and "
        "changes nothing",
    )


class StandstillSettings(Section):
    """Services that do not move on what waits for them."""

    not_ready_after: Seconds = Field(
        default=60,
        description="Seconds without any progress on what waits after which a service is not ready",
    )
    exit_after: Seconds = Field(
        default=180,
        description="Seconds without any progress on what waits after which a service exits 1, to "
        "be started again; time in which a cluster does not answer is not counted, and little of "
        "that in which the process gets no CPU",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.exit_after <= self.not_ready_after:
            raise ValueError("exit_after must be more than not_ready_after")
        return self


class ServiceSettings(Section):
    """What services other than the API have."""

    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )


class CollectorSettings(ServiceSettings):
    """Publishing of offset events."""

    interval: Seconds = Field(
        default=5, description="Seconds between events of a group that commits"
    )
    heartbeat: Seconds = Field(
        default=10, description="Seconds after which a silent group is published again"
    )
    group_id: str = Field(
        default="",
        description="Consumer group of the collectors; empty: "
        "`<instance>-collector-<Kafka's id of the home cluster>`, and `-<cluster>` where two "
        "clusters of the settings read one offsets topic",
    )
    describe_interval: SecondsOrNone = Field(
        default=30,
        description="Seconds after which groups' live state (members, coordinator) is asked for "
        "again; 0 for never",
    )


class EvaluatorSettings(ServiceSettings):
    """The Faust worker."""

    app_id: str = Field(
        default="",
        description="Faust application and consumer group, with which the changelog's name begins; "
        "empty: `<instance>-evaluator`",
    )
    data_dir: str = Field(default=".warren/evaluator", description="Faust's working directory")


class FreshnessSettings(ServiceSettings):
    """Reading of record times from the monitored clusters."""

    interval: Seconds = Field(default=10, description="Seconds between two passes")
    group_id: str = Field(
        default="",
        description="Consumer group on the home cluster; empty: `<instance>-freshness`",
    )
    pass_bytes: int = Field(
        default=48_000_000,
        ge=2**20,
        description="Bytes that a pass reads from a cluster at most; what its last batches are "
        "larger is missing in the next pass",
    )
    topics_deny: Expressions = Field(
        default_factory=list,
        description="Topics that are not read (regular expressions): how late groups are there is "
        "estimated by offsets by time",
    )
    retention_refresh: Seconds = Field(
        default=300, description="Seconds after which topics' retention is asked for again"
    )


class LocalSettings(Section):
    """The embedded runtime of `warren up`."""

    state_dir: str = Field(default=".warren", description="Everything that `warren up` writes")
    kafka_port: int = Field(default=9092, ge=1, le=65535, description="Embedded broker's port")
    redis_port: int = Field(default=6379, ge=1, le=65535, description="Embedded Valkey's port")
    jars_dir: str = Field(
        default="", description="Directory that already holds the jars; empty to download them"
    )
    jars_mirror: str = Field(
        default="", description="Root URL of a Maven repository instead of Maven Central"
    )
