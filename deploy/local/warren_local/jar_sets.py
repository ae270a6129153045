"""Which jars are fetched: named sets, each with its own Ivy file, lock and directory."""

from __future__ import annotations

from dataclasses import dataclass

from warren_local.jar_lock import JarLock, packaged_lock


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that are used together. The files named here are in this package."""

    title: str
    ivy_file: str
    lock_file: str
    directory: str
    """Under `local.state_dir`."""
    setting: str = ""
    """Names a directory that already holds the jars; none for those that only tests use."""

    def lock(self) -> JarLock:
        """What this version of Warren was tested with."""
        return packaged_lock(self.lock_file)


KAFKA_JARS = JarSet("Kafka", "ivy.xml", "jars.lock", "jars", "local.jars_dir")
SPARK_JARS = JarSet("Spark", "ivy-spark.xml", "jars-spark.lock", "jars-spark", "archiver.jars_dir")
ZOOKEEPER_JARS = JarSet(
    "ZooKeeper",
    "ivy-zookeeper.xml",
    "jars-zookeeper.lock",
    "jars-zookeeper",
)
CLOUDEVENTS_JARS = JarSet(
    "CloudEvents",
    "ivy-cloudevents.xml",
    "jars-cloudevents.lock",
    "jars-cloudevents",
)
JAR_SETS = {
    "kafka": KAFKA_JARS,
    "spark": SPARK_JARS,
    "zookeeper": ZOOKEEPER_JARS,
    "cloudevents": CLOUDEVENTS_JARS,
}
