"""The Spark session: what the results depend on is set here, the rest comes from outside.

Outside is `spark-submit` (or a cluster's defaults) when that started us, else the settings.
"""

import contextlib
import importlib.resources
import logging
import os
import socketserver
import sys
import traceback
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from warren.errors import SettingsError
from warren.settings import ArchiverSettings

from warren_archiver.amount import fit
from warren_archiver.errors import SparkUnavailable
from warren_archiver.submitted import is_submitted

SEMANTICS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Rows of a batch are of one or two days: writers for both at once instead of sorting by day.
    "spark.sql.maxConcurrentOutputFileWriters": "4",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the default is Spark's alone
    # Spark shows options of a source in plans and logs; this one holds the password.
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas|keystore",
}
# What many small batches need, wherever they run; `[archiver.spark]` may say otherwise.
_BATCHES = {
    # Fewer files: small ones in a table before they are joined, notes in the log that files were
    # removed.
    "spark.databricks.delta.autoCompact.minNumFiles": "20",
    "spark.databricks.delta.vacuum.logging.enabled": "false",
    # Neither does each file of a local disk have another beside it, with its checksum: Hadoop has
    # two ways to a disk.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    # Upkeep puts rows in order, not files alone: readers pass over parts of them.
    "spark.databricks.io.skipping.mdc.sortWithinFiles": "true",
    # A consumer for each partition of each topic; the default is 64.
    "spark.kafka.consumer.cache.capacity": "256",
    # What pages would show that nobody has: by default plans of 1,000 queries and 100,000 tasks.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    # Each call on a column would look up the line of Python it comes from, for texts of errors:
    # two thirds of what building a query costs.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # What is joined is held in memory as a whole if it is no larger than this: rows that are alike
    # take 30 times as much there as they do in files and caches. By default, 10 MB.
    "spark.sql.autoBroadcastJoinThreshold": "1m",
    # Tasks that look for files of a table that nobody needs: by default 10,000 of a few ms each.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "100",
}
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.sql.ui.explainMode": "simple",  # written for each query, though nobody is shown it
    # The default of 100 compiled plans is less than what all topics' batches need.
    "spark.sql.codegen.cache.maxEntries": "1000",
}
_LOCAL = {
    # Executors of a cluster have to find the driver: there Spark chooses the address.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
}
_JARS = "spark.jars"
_JVM_FLAGS = (
    "-XX:+UseSerialGC",  # a third less CPU and memory than the default with two cores
    "-XX:+ExitOnOutOfMemoryError",  # half a session is worse than a restart
    "-XX:MetaspaceSize=320m",  # no collection of all memory whenever there are more classes
    "-XX:NewRatio=1",  # it gives all back at its end: until then it collects rarely
)


def local_configuration(archiver: ArchiverSettings, log4j2: str) -> dict[str, str]:
    """Return what spark-submit would bring otherwise.

    Raises SettingsError when there are no jars.
    """
    jars = sorted(Path(archiver.jars_dir).resolve().glob("*.jar")) if archiver.jars_dir else []
    if not jars:
        raise SettingsError(
            "archiver.jars_dir",
            "must be a directory with Spark's Delta and Kafka jars (`warren archive run` and "
            "`warren up` download them)",
        )
    flags = [f"-Dlog4j2.configurationFile={log4j2}", *_JVM_FLAGS, archiver.java_options]
    here = _LOCAL if archiver.master.startswith("local") else {}
    return {
        **_QUIET,
        **here,
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        "spark.master": archiver.master,
        "spark.driver.memory": archiver.memory,
        "spark.driver.extraJavaOptions": " ".join(filter(None, flags)),
        _JARS: ",".join(str(jar) for jar in jars),
    }


def given_options(archiver: ArchiverSettings) -> dict[str, str]:
    """`[archiver.spark]` in Spark's words: what is not Spark's is Hadoop's.

    Raises SettingsError for an option that results depend on.
    """
    given = {
        name if name.startswith("spark.") else f"spark.hadoop.{name}": text.get_secret_value()
        for name, text in archiver.spark.items()
    }
    for name in SEMANTICS.keys() & given.keys():
        raise SettingsError(f"archiver.spark.{name}", f"must be {SEMANTICS[name]!r}, as it is")
    return given


def open_session(archiver: ArchiverSettings, name: str) -> SparkSession:
    """A session named `name`, 6 to 10 s after a JVM was started for it, which is for much until
    something else is said.

    Raises SettingsError or SparkUnavailable.
    """
    given = given_options(archiver)
    configuration: dict[str, bool | float | int | str | None] = {**SEMANTICS, **_BATCHES}
    if not is_submitted(os.environ):
        # Python workers would be the first python3 on PATH, whose Spark may be another one.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        log4j2 = str(importlib.resources.files("warren_archiver").joinpath("log4j2.properties"))
        own = local_configuration(archiver, log4j2)
        if _JARS in given:
            given[_JARS] = f"{own[_JARS]},{given[_JARS]}"
        configuration |= own
    configuration |= given
    # Of a JVM that has ended: whoever waits for its answer is told by an exception.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    # It logs by the root as well.
    logging.getLogger().addFilter(lambda record: record.module != "java_gateway")
    socketserver.BaseServer.handle_error = _tell_of  # type: ignore[assignment,method-assign]
    try:
        spark = SparkSession.Builder().appName(name).config(map=configuration).getOrCreate()
        fit(spark, little=False)
        return spark
    except (PySparkException, Py4JError) as problem:
        if "JAVA_GATEWAY_EXITED" in str(problem):
            home = os.environ.get("JAVA_HOME")
            where = f"in JAVA_HOME ({home})" if home else "on PATH"
            raise SparkUnavailable(
                f"no Spark session: Java did not start; Java 17 or newer has to be {where}, and to "
                f"take archiver.memory ({archiver.memory}) and archiver.java_options "
                f"({archiver.java_options})"
            ) from problem
        text = str(problem).strip().splitlines()
        raise SparkUnavailable(f"no Spark session: {text[0] if text else problem!r}") from problem


def close_session(spark: SparkSession) -> None:
    """Where its JVM has ended before, there is nothing to close."""
    with contextlib.suppress(Py4JError, ConnectionError):
        spark.stop()


def _tell_of(*_: object) -> None:
    """As the standard library does, but for whoever has gone in the middle of what was sent."""
    if not isinstance(sys.exception(), (EOFError, ConnectionError)):
        traceback.print_exc()
