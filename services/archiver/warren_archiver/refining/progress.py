"""How far tables are made of events: a note that follows all that it tells of."""

import json
from collections.abc import Mapping
from datetime import timedelta

from pyspark.sql import SparkSession

from warren_archiver.gold.catalogue import PROGRESS
from warren_archiver.lake.commits import Commits
from warren_archiver.lake.events import EARLIEST
from warren_archiver.lake.lake import Lake
from warren_archiver.refining.new_events import Position
from warren_archiver.silver import catalogue as silver

LATE_MS = 60_000
"""What services tell of a moment has come by so much later, but for what makes its hour anew."""
_ENDS = {
    silver.EVALUATIONS.name: silver.EVALUATIONS.name,
    silver.PARTITION_MINUTES.name: silver.GROUP_MINUTES.name,
    silver.LATENESS_MINUTES.name: silver.LATENESS_MINUTES.name,
}
"""Tables of events, and those that say up to when gold is made of them."""


class Progress:
    """Of a lake, as it was noted last, in the commit that has the table's rows."""

    def __init__(self, spark: SparkSession, lake: Lake) -> None:
        self._spark = spark
        self._path = lake.gold(PROGRESS.name)
        self.position: Position | None = None
        """Of the table of events: up to there all is taken in."""
        self._until: dict[str, int] = {}
        for each in Commits(spark, self._path).infos():
            if each.get("operation") == "RESTORE":
                break
            if text := each.get("userMetadata"):
                noted = json.loads(text)
                self._until = noted["until"]
                self.position = Position(*noted["events"]) if noted["events"] else None
                break

    def note(self, position: Position | None, newest: Mapping[str, int], archived_ms: int) -> None:
        """`newest`: when what was taken in happened, by table of events. `archived_ms`: what had
        come by then is among that, or was before. Unix milliseconds."""
        self.position = position or self.position
        for name, at in newest.items():
            if of := _ENDS.get(name):
                self._until[of] = max(self._until.get(of, 0), min(at, archived_ms - LATE_MS))
        rows = [
            (of, EARLIEST + timedelta(milliseconds=at), EARLIEST.date())
            for of, at in self._until.items()
        ]
        frame = self._spark.createDataFrame(rows, PROGRESS.schema).coalesce(1)
        noted = json.dumps({"events": self.position, "until": self._until})
        writer = frame.write.format("delta").mode("overwrite").option("userMetadata", noted)
        writer.save(self._path)
