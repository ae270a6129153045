"""The files of a table's log that nobody needs any more.

Delta itself removes them by whole days, and a table that is written every minute has thousands of
them then. What it asks for (protocol, "Metadata Cleanup"): what is kept begins with a checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

_OF_VERSION = re.compile(r"([0-9]{20})[.].+")
_CHECKPOINT = re.compile(r"([0-9]{20})[.]checkpoint[.]parquet")


class LogFile(NamedTuple):
    """`written_ms`: Unix milliseconds."""

    name: str
    written_ms: int


def unneeded(files: Iterable[LogFile], before_ms: int) -> list[str]:
    """Names of what is older than the newest checkpoint that was written before that time: whoever
    opened the table since then, at its newest version, asks for none of them."""
    old = [file.name for file in files if file.written_ms < before_ms]
    checkpoints = (_CHECKPOINT.fullmatch(name) for name in old)
    newest = max((found[1] for found in checkpoints if found), default="")
    versions = ((_OF_VERSION.fullmatch(name), name) for name in old)
    return sorted(name for found, name in versions if found and found[1] < newest)


def remove_unneeded(spark: SparkSession, table: str, before_ms: int) -> int:
    """From the log of a table; how many files there were."""
    assert spark.sparkContext._jvm is not None  # a session is there
    path: Any = spark.sparkContext._jvm.org.apache.hadoop.fs.Path
    folder = path(f"{table}/_delta_log")
    files = folder.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    listed = [
        LogFile(status.getPath().getName(), status.getModificationTime())
        for status in files.listStatus(folder)
        if status.isFile()
    ]
    names = unneeded(listed, before_ms)
    for name in names:
        files.delete(path(folder, name), False)
    return len(names)
