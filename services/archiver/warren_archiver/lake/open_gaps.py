"""Partitions that went on missing at the end of the last batch, and since which offset: kept beside
the query's checkpoint, so that no restart forgets them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import structlog
from pyspark.sql import SparkSession

from warren_archiver.lake.gaps import Place
from warren_archiver.lake.small_files import SmallFiles

log = structlog.get_logger(__name__)


class OpenGaps:
    """Of one archiver: nobody else writes the file."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._files = SmallFiles(spark, path)
        self._path = path
        self._known: dict[Place, int] | None = None

    def read(self) -> Mapping[Place, int]:
        if self._known is None:
            there = self._files.exists(self._path)
            try:
                noted = json.loads(self._files.read(self._path)) if there else []
                self._known = {(topic, partition): at for topic, partition, at in noted}
            except (ValueError, TypeError):
                log.error("gaps at the ends of partitions are forgotten", unreadable=self._path)
                self._known = {}
        return self._known

    def keep(self, places: Mapping[Place, int]) -> None:
        """These and no others."""
        if places != self.read():
            noted = [[*place, at] for place, at in sorted(places.items())]
            self._files.replace(self._path, json.dumps(noted))
            self._known = dict(places)
