"""What the log of a Delta table says, commit by commit, read without a query."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import SparkSession
from warren.history.delta_log import LOG, commit_name

from warren_archiver.lake.small_files import SmallFiles

LOOKED_BACK = 50
"""Commits: upkeep makes a few between two batches."""
_COMMIT = re.compile(r"([0-9]{20})[.]json")


class Commits:
    """Of a table; those whose files Delta has removed are not there."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._files = SmallFiles(spark, path)
        self._folder = f"{path}/{LOG}"

    def versions(self) -> list[int]:
        """Those that are there, in order."""
        names = self._files.names(self._folder)
        return sorted(int(found[1]) for name in names if (found := _COMMIT.fullmatch(name)))

    def actions(self, version: int) -> list[Any]:
        """None where it is not there."""
        path = f"{self._folder}/{commit_name(version)}"
        if not self._files.exists(path):
            return []
        return [json.loads(line) for line in self._files.read(path).splitlines() if line]

    def infos(self) -> Iterator[dict[str, Any]]:
        """What the last commits say of themselves, the newest first."""
        for version in reversed(self.versions()[-LOOKED_BACK:]):
            yield info(self.actions(version))


def info(actions: Sequence[Any]) -> dict[str, Any]:
    """What a commit says of itself."""
    return next((each["commitInfo"] for each in actions if "commitInfo" in each), {})


def newest_version(spark: SparkSession, path: str) -> int:
    """Of a table that is there."""
    return Commits(spark, path).versions()[-1]


def rows_written(spark: SparkSession, path: str) -> int:
    """By the last write to a table."""
    metrics = (each.get("operationMetrics", {}) for each in Commits(spark, path).infos())
    return next((int(each["numOutputRows"]) for each in metrics if "numOutputRows" in each), 0)
