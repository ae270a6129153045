"""Small texts beside the tables, through Hadoop's file systems: the lake may be anywhere.

The only place that uses names that pyspark keeps to itself. Spark has no public way to delete a
file, and to list or read one it runs a query; another library would need the lake's credentials
again, in words of its own.
"""

from typing import Any

from pyspark.sql import SparkSession


class SmallFiles:
    """By their whole paths."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        assert spark.sparkContext._jvm is not None  # a session is there
        self._jvm: Any = spark.sparkContext._jvm
        self._configuration = spark.sparkContext._jsc.hadoopConfiguration()
        self._files = self._hadoop_path(root).getFileSystem(self._configuration)

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(self._hadoop_path(path)))

    def names(self, directory: str) -> list[str]:
        """Of what is in it; nothing is in one that is not there."""
        if not self.exists(directory):
            return []
        listed = self._files.listStatus(self._hadoop_path(directory))
        return [status.getPath().getName() for status in listed]

    def read(self, path: str) -> str:
        stream = self._files.open(self._hadoop_path(path))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def delete(self, path: str, *, whole: bool = True) -> None:
        """A file, or a directory with all that is in it. Unless `whole`, Hadoop refuses a directory
        in which anything is."""
        self._files.delete(self._hadoop_path(path), whole)

    def _hadoop_path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)
