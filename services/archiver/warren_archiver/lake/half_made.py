"""Tables whose first commit was never written: whoever created them was killed at it.

Delta neither reads nor creates a table where such a log is: what is left of it goes first.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from warren.history.delta_log import FIRST_COMMIT, LOG, has_version

from warren_archiver.lake.small_files import SmallFiles


def is_half_made(spark: SparkSession, table: str) -> bool:
    """Whether nothing but a log without a version is in the folder of a table. Files of rows say
    that there was one."""
    files, log = SmallFiles(spark, table), f"{table}/{LOG}"
    if files.names(table) != [LOG]:
        return False
    return not has_version(files.names(log), lambda: files.read(f"{log}/{FIRST_COMMIT}"))


def remove(spark: SparkSession, table: str) -> None:
    """Removes the log of such a table, piece by piece: what somebody else has written there
    meanwhile is in the way then, and stays."""
    files, log = SmallFiles(spark, table), f"{table}/{LOG}"
    for name in files.names(log):
        files.delete(f"{log}/{name}", whole=False)
    files.delete(log, whole=False)
