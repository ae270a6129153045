"""`warren archive check`: topics, silver and gold, and what it ends with."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python
from pyspark.sql import SparkSession
from warren.clock import Clock
from warren.settings import Settings

from warren_archiver.check.gold_check import check_gold
from warren_archiver.check.recount import check
from warren_archiver.check.silver_check import check_silver
from warren_archiver.check.table_check import TableCheck
from warren_archiver.check.topic_check import TopicCheck
from warren_archiver.errors import SilverBeingWritten
from warren_archiver.steps import Tell, untold

DIFFERS = 1
NOT_COMPARED = 3
"""What was compared is right, and not all was."""


class AllChecks(NamedTuple):
    topics: list[TopicCheck]
    tables: list[TableCheck]
    not_compared: str = ""
    """What could not be, and why; empty where all was."""

    def exit_code(self, wait: float) -> int:
        """`wait`: as long as a running archiver had, seconds; without any what is to do counts for
        nothing."""
        is_right = all(found.equal if wait else found.correct for found in self.topics)
        if not (is_right and all(found.correct for found in self.tables)):
            return DIFFERS
        return NOT_COMPARED if self.not_compared else 0

    def as_json(self) -> list[dict[str, Any]]:
        every: list[TopicCheck | TableCheck] = [*self.topics, *self.tables]
        found: list[dict[str, Any]] = to_jsonable_python(every)
        return found


def check_all(
    spark: SparkSession, settings: Settings, clock: Clock, tell: Tell = untold, *, wait: float
) -> AllChecks:
    """A running archiver may take `wait` seconds for the topics, and again for silver and gold.

    Raises KafkaError or ArchiveFailed.
    """
    topics = check(spark, settings, wait=wait, tell=tell)
    silver: list[TableCheck] = []
    why = ""
    try:
        silver = check_silver(spark, settings, tell, wait=wait)
    except SilverBeingWritten as problem:
        why = str(problem)
    gold = check_gold(spark, settings, clock, tell, wait=wait)
    return AllChecks(topics, [*silver, *gold], why)
