"""Settings: one `warren.toml`, overridden by `WARREN_…` environment variables.

`WARREN_API__PORT` is `[api] port`; `WARREN_HOME__KAFKA__SASL_PASSWORD` is
`[home.kafka] "sasl.password"`. A secret may also be named by a file: `…_FILE`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, SecretStr, field_validator

from warren.contracts.group_key import CLUSTER_NAME
from warren.notifier_settings import NotifierSettings
from warren.section import Pattern, Seconds, Section

PolicyName = Literal["burrow", "wiki"]


class KafkaConnection(Section):
    """How to reach a cluster: bootstrap servers and any librdkafka property.

    All property values are kept as secrets, so that none of them shows in a log or a repr.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)

    bootstrap: str = Field(description="Bootstrap servers, host:port[,host:port]")
    kafka: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="librdkafka properties, for example security.protocol, sasl.mechanism, "
        "sasl.username, sasl.password; `<property>_file` reads the value from a file",
    )

    @field_validator("kafka", mode="before")
    @classmethod
    def _properties(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {
            str(name).replace("_", "."): str(text).lower() if isinstance(text, bool) else text
            for name, text in value.items()
        }

    def librdkafka(self) -> dict[str, str]:
        """Client properties with the secrets revealed: pass them on, never log them."""
        revealed = {name: text.get_secret_value() for name, text in self.kafka.items()}
        return {"bootstrap.servers": self.bootstrap, **revealed}


class HomeSettings(KafkaConnection):
    """Warren's own cluster, where its topics live."""

    bootstrap: str = Field(default="localhost:9092", description="Bootstrap servers")
    topic_prefix: str = Field(default="warren.", description="Prefix of all of Warren's topics")
    partitions: int = Field(default=8, ge=1, description="Partitions of each topic")
    replication_factor: int = Field(default=1, ge=1, description="Replicas of each topic")
    create_topics: bool = Field(default=True, description="Services create missing topics")


class ClusterSettings(KafkaConnection):
    """A monitored cluster; its table's name, `[clusters.<name>]`, is the cluster's name."""

    source: Literal["offsets_topic"] = Field(
        default="offsets_topic", description="Where committed offsets are read from"
    )
    offsets_topic: str = Field(
        default="__consumer_offsets", description="Topic that holds the committed offsets"
    )
    groups_allow: list[Pattern] = Field(
        default_factory=list, description="Only groups that match one (regular expressions)"
    )
    groups_deny: list[Pattern] = Field(
        default=["^warren-"], description="Never groups that match one (regular expressions)"
    )


class RedisSettings(Section):
    """Redis or Valkey: a cache that can be rebuilt, never a store."""

    url: SecretStr = Field(
        default=SecretStr("redis://localhost:6379/0"), description="redis:// or rediss:// URL"
    )


class CollectorSettings(Section):
    """Publishing of offset events."""

    interval: Seconds = Field(
        default=5, description="Seconds between events of a group that commits"
    )
    heartbeat: Seconds = Field(
        default=10, description="Seconds after which a silent group is published again"
    )
    group_id: str = Field(
        default="warren-collector", description="Consumer group of the collectors"
    )
    event_partitions: int = Field(
        default=5000, ge=1, description="Most partitions in one event; larger groups are split"
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )


class EvaluationSettings(Section):
    """Rules by which groups are judged."""

    policy: PolicyName = Field(default="burrow", description="Set of rules")
    intervals: int = Field(default=10, ge=2, le=255, description="Commits in a window")
    min_distance: Annotated[float, Field(ge=0)] = Field(
        default=1, description="Seconds that two commits in a window are apart at least"
    )
    allowed_lag: int = Field(default=0, ge=0, description="Lag that counts as none, records")
    minimum_complete: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0, description="Filled share of the window from which a partition is judged"
    )
    expire_group: Seconds = Field(
        default=7 * 86400, description="Seconds without a commit after which a group is dropped"
    )


class EvaluatorSettings(Section):
    """The Faust worker."""

    app_id: str = Field(
        default="warren-evaluator", description="Faust application and consumer group"
    )
    batch: int = Field(default=100, ge=1, description="Most events in one micro-batch")
    batch_within: Seconds = Field(default=0.1, description="Seconds a micro-batch waits at most")
    data_dir: str = Field(default=".warren/evaluator", description="Faust's working directory")
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )


class FreshnessSettings(Section):
    """Reading of record times from the monitored clusters."""

    interval: Seconds = Field(default=10, description="Seconds between two passes")
    group_id: str = Field(
        default="warren-freshness", description="Consumer group on the home cluster"
    )
    read_timeout: Seconds = Field(
        default=5, description="Seconds that a pass reads from a cluster at most"
    )
    pass_bytes: int = Field(
        default=256 * 2**20, ge=2**20, description="Bytes that a pass reads from a cluster at most"
    )
    samples: int = Field(
        default=500,
        ge=0,
        description="Newest records of logs that a pass reads for append lag and the commit lag "
        "of groups that are caught up, at most; 0 for none",
    )
    cache_entries: int = Field(
        default=200_000, ge=1, description="Record times kept in memory, per cluster"
    )
    cache_ttl: Seconds = Field(
        default=600, description="Seconds that a record time is kept, in memory and in Redis"
    )
    retention_refresh: Seconds = Field(
        default=300, description="Seconds after which topics' retention is asked for again"
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )


class ArchiverSettings(Section):
    """The Spark application that archives Warren's topics to Delta tables."""

    path: str = Field(
        default=".warren/lake",
        description="Root of the tables and checkpoints: a directory or a URL that Spark can write",
    )
    interval: Seconds = Field(default=30, description="Seconds between two batches of a topic")
    batch_records: int = Field(
        default=200_000, ge=1, description="Most records of a topic in one batch"
    )
    writers: int = Field(default=2, ge=1, description="Most files that a batch adds to a table")
    fail_on_data_loss: bool = Field(
        default=True,
        description="Stop archiving a topic that lost records before they were archived, instead "
        "of going on with what is left",
    )
    master: str = Field(
        default="local[2]", description="Spark's master; ignored under spark-submit"
    )
    memory: str = Field(
        default="1g", description="Heap of Spark's JVM (-Xmx); ignored under spark-submit"
    )
    jars_dir: str = Field(
        default="",
        description="Directory with Spark's Delta and Kafka jars; `warren archive` and `warren up` "
        "download them when it is empty; ignored under spark-submit",
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of /metrics and /ready; 0 for none"
    )


class ApiSettings(Section):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on")


class LocalSettings(Section):
    """The embedded runtime of `warren up`."""

    state_dir: str = Field(default=".warren", description="Everything that `warren up` writes")
    kafka_port: int = Field(default=9092, ge=1, le=65535, description="Embedded broker's port")
    redis_port: int = Field(default=6379, ge=1, le=65535, description="Embedded Valkey's port")
    kafka_heap: str = Field(default="512m", description="Embedded broker's heap (-Xmx)")
    jars_dir: str = Field(
        default="", description="Directory that already holds the jars; empty to download them"
    )
    jars_mirror: str = Field(
        default="", description="Root URL of a Maven repository instead of Maven Central"
    )


class LogSettings(Section):
    """Logs on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe level that is written"
    )
    format: Literal["auto", "json", "console"] = Field(
        default="auto", description="auto: console on a terminal, else JSON"
    )


class Settings(Section):
    """All of warren.toml."""

    home: HomeSettings = Field(default_factory=HomeSettings)
    clusters: dict[str, ClusterSettings] = Field(default_factory=dict)
    redis: RedisSettings = Field(default_factory=RedisSettings)
    collector: CollectorSettings = Field(default_factory=CollectorSettings)
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)
    evaluator: EvaluatorSettings = Field(default_factory=EvaluatorSettings)
    freshness: FreshnessSettings = Field(default_factory=FreshnessSettings)
    notifier: NotifierSettings = Field(default_factory=NotifierSettings)
    archiver: ArchiverSettings = Field(default_factory=ArchiverSettings)
    api: ApiSettings = Field(default_factory=ApiSettings)
    local: LocalSettings = Field(default_factory=LocalSettings)
    log: LogSettings = Field(default_factory=LogSettings)

    @field_validator("clusters")
    @classmethod
    def _cluster_names(cls, value: dict[str, ClusterSettings]) -> dict[str, ClusterSettings]:
        for name in value:
            if not CLUSTER_NAME.fullmatch(name):
                raise ValueError(f"cluster name {name!r}: only letters, digits, . _ - are allowed")
        return value
