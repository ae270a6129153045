"""How queries run follows from how much there is, unless somebody has said it."""

from pyspark.sql import SparkSession
from warren_archiver.amount import LITTLE, fit, much


def test_a_handful_of_rows_is_one_task_and_never_hundreds() -> None:
    assert LITTLE["spark.sql.shuffle.partitions"] == "1"
    for master, most in (("local[2]", 2), ("local", 2), ("yarn", 32)):
        wanted = much(master)
        assert wanted.keys() == LITTLE.keys()
        assert int(wanted["spark.sql.shuffle.partitions"] or 0) == most
        assert int(wanted["spark.databricks.delta.snapshotPartitions"] or 0) <= most


def test_the_next_queries_are_for_so_much_but_for_what_the_session_was_begun_with(
    spark: SparkSession,
) -> None:
    """The tests' session was begun with one task for a stage."""
    free, tasks = "spark.sql.leafNodeDefaultParallelism", "spark.sql.shuffle.partitions"
    other = spark.newSession()
    fit(other, little=True)
    assert (other.conf.get(free, None), other.conf.get(tasks)) == ("1", "1")
    fit(other, little=False)
    assert (other.conf.get(free, None), other.conf.get(tasks)) == (None, "1")
