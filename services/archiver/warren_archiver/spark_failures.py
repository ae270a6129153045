"""What Spark raises, as an error of ours: a line for the operator, no stacks of two languages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from warren.errors import SettingsError

from warren_archiver.errors import archive_failed, spark_cause

SPARK_FAILURES = (PySparkException, Py4JError, ConnectionError)
"""The last one where there is no JVM any more."""
_NO_FILE_SYSTEM = re.compile(
    r"ClassNotFoundException: Class ([\w.$]+) not found|No FileSystem for scheme \"?(\w+)"
)


@contextmanager
def told_by_spark(path: str) -> Iterator[None]:
    """`path`: the lake's, as it was set.

    Raises SettingsError where a jar is missing, as for a file system of Hadoop's, else
    ArchiveFailed.
    """
    try:
        yield
    except SPARK_FAILURES as problem:
        if missing := _NO_FILE_SYSTEM.search(spark_cause(problem)):
            what = missing[1] or f"{missing[2]}://"
            raise SettingsError(
                "archiver.spark",
                f"there is no {what} for archiver.path {path}: `spark.jars` in [archiver.spark] "
                "has to name the jars that have it",
            ) from problem
        raise archive_failed(problem, path) from problem
