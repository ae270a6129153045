"""Tables of single services, and of what all services share."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, field_validator, model_validator

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


LEAST_HEAP, MOST_HEAP = 512 * 2**20, 64 * 2**40
"""Bytes. Spark wants 450 MiB beside what the JVM keeps free; no machine has more than the other."""
LEAST_EVERY = 10.0
"""Seconds: a JVM takes about as long to start."""
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_HEAP = re.compile(r"([0-9]{1,15})([kmgt]?)", re.IGNORECASE)
_CORES = r"(\*|[1-9][0-9]*)"
_MASTER = re.compile(
    rf"local|local\[{_CORES}(, *[0-9]+)?\]"
    r"|local-cluster\[[1-9][0-9]*, *[1-9][0-9]*, *[1-9][0-9]*\]"
    r"|spark://[^\s,]+:[0-9]+(,[^\s,]+:[0-9]+)*|k8s://\S+|yarn"
)


def _master(value: str) -> str:
    if not _MASTER.fullmatch(value):
        raise ValueError(
            f"{value!r} is not a master of Spark: local[2], spark://host:7077, k8s://https://host "
            "or yarn"
        )
    return value


def _heap(value: str) -> str:
    found = _HEAP.fullmatch(value)
    size = int(found[1]) * _UNITS[found[2].lower()] if found else 0
    if not LEAST_HEAP <= size <= MOST_HEAP:
        raise ValueError(f"{value!r} is not a size from 512m to 64t, such as 1g")
    return value


def _every(value: float) -> float:
    if value < LEAST_EVERY:
        raise ValueError(
            f"must be {LEAST_EVERY:g} or more: the archiver works in passes only, and each one "
            "starts a JVM"
        )
    return value


SparkMaster = Annotated[str, AfterValidator(_master)]
HeapSize = Annotated[str, AfterValidator(_heap)]
PassInterval = Annotated[float, AfterValidator(_every)]
"""Seconds."""


# The quick compiler only, with the room for code that the JVM has by default for both.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=160m"
"""A third of the CPU at the start, and half of it for the first million events."""


class ArchiverSettings(ServiceSettings):
    """The Spark application that archives Warren's topics to Delta tables."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    path: str = Field(
        default=".warren/lake",
        description="Root of the tables and checkpoints: a directory or a URL that Spark can write",
    )
    every: PassInterval = Field(
        default=3600,
        le=21_600,  # the topics keep records for 24 h: some passes may fail
        description="Seconds from the beginning of a pass to that of the next one, 10 at least. A "
        "pass archives what is new, brings silver and gold up to it, and ends, and its JVM with "
        "it. Under spark-submit there is one pass, whatever is set",
    )
    batch_records: int = Field(default=1_000_000, ge=1, description="Most records in one batch")
    writers: int = Field(
        default=1,
        ge=1,
        description="Most files that a batch adds to the table of events, each by its own core",
    )
    keep_days: int = Field(
        default=30,
        ge=1,
        description="Days for which events are kept, and the silver tables that are as large",
    )
    minutes_keep_days: int = Field(
        default=90, ge=1, description="Days for which the silver tables of minutes are kept"
    )
    master: SparkMaster = Field(
        default="local[2]",
        description="Spark's master: local[2], spark://host:7077, k8s://https://host or yarn; "
        "ignored under spark-submit",
    )
    memory: HeapSize = Field(
        default="1g",
        description="Heap of Spark's JVM (-Xmx), 512m at least; ignored under spark-submit",
    )
    java_options: str = Field(
        default=QUICK_START,
        description="More options of Spark's JVM; ignored under spark-submit. By default only its "
        "quick compiler is used: empty pays off after some millions of events",
    )
    jars_dir: str = Field(
        default="",
        description="Directory with Spark's Delta and Kafka jars; `warren archive` and `warren up` "
        "download them when it is empty; ignored under spark-submit",
    )
    schema_name: str = Field(
        default="",
        pattern=r"^([A-Za-z_]\w*([.][A-Za-z_]\w*)*)?$",
        description="Schema in which tables are registered by name with each pass, `warren` or "
        "`unity.warren`: `spark` says which catalog it is in. Empty for none",
    )
    spark: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="Any option of Spark (`spark.…`) or Hadoop (`fs.s3a.endpoint`), also under "
        "spark-submit; `<option>_file` reads the value from a file. `spark.jars` are added to "
        "Warren's own",
    )
