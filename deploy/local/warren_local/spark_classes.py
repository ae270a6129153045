"""A Spark that makes, fills and reads a table; its JVM writes down what it loaded for that."""

from __future__ import annotations

import sys
import tempfile

from delta.tables import DeltaTable
from warren.settings import ArchiverSettings
from warren.settings.archiver import QUICK_START
from warren_archiver.lake.lake import Lake
from warren_archiver.session import close_session, open_session


def main() -> None:
    """`python -m warren_local.spark_classes JARS WRITTEN`."""
    jars, written = sys.argv[1:]
    options = f'{QUICK_START} -XX:ArchiveClassesAtExit="{written}"'
    spark = open_session(ArchiverSettings(jars_dir=jars, java_options=options), "classes")
    with tempfile.TemporaryDirectory() as directory:
        lake = Lake.at(directory)
        lake.ensure(spark)
        table = DeltaTable.forPath(spark, lake.gaps)
        one = spark.sql(
            "SELECT 'topic' AS topic, 'id' AS topic_id, 0 AS partition, 0L AS `from`, 0L AS `to`, "
            "'' AS cause, now() AS found_at"
        )
        found = table.toDF().groupBy("topic").count()
        merge = table.alias("old").merge(one.alias("new"), "old.topic = new.topic")
        merge.whenNotMatchedInsertAll().execute()
        found.collect()
        close_session(spark)


if __name__ == "__main__":
    main()
