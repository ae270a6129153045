"""`[archiver]`: the Spark application."""

import re
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, SecretStr

from warren.section import Seconds, SecondsOrNone
from warren.settings.services import ServiceSettings

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
    if 0 < value < LEAST_EVERY:
        raise ValueError(f"must be 0, or {LEAST_EVERY:g} and more")
    return value


SparkMaster = Annotated[str, AfterValidator(_master)]
HeapSize = Annotated[str, AfterValidator(_heap)]
PassInterval = Annotated[float, AfterValidator(_every)]
"""Seconds; 0: no passes."""


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
        ge=0,
        le=21_600,  # the topics keep records for 24 h: some passes may fail
        description="Seconds from the beginning of a pass to that of the next one. A pass archives "
        "what is new, brings silver and gold up to it, and ends, and its JVM with it; 10 at least. "
        "0: one process works all the time, and its JVM stays. Always so under spark-submit",
    )
    interval: Seconds = Field(
        default=60,
        description="With every = 0, seconds from the beginning of a batch to that of the next one",
    )
    silver_interval: SecondsOrNone = Field(
        default=600,
        le=3600,
        description="With every = 0, seconds between two updates of silver and gold, each 15 to "
        "30 s of CPU; the first one comes 30 s after the start. In any case 0 for none: where only "
        "the events are wanted",
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
