"""Records of Warren's topics as Spark reads them: Kafka's columns, headers included."""

import json

from pyspark.sql import DataFrame, SparkSession
from warren.logins import LOGIN_PROPERTIES, mechanism_of, refuse_unknown, security_protocol
from warren.logins.tls import java_tls
from warren.settings import KafkaConnection, Settings

from warren_archiver.bronze.batch import Offsets, by_topic

# How librdkafka works.
_IGNORED_PREFIXES = ("client.", "socket.", "broker.", "metadata.", "reconnect.", "log.", "debug")


def kafka_options(setting: str, connection: KafkaConnection) -> dict[str, str]:
    """Java client properties, without Spark's `kafka.` in front.

    `setting` is the cluster's table, for errors. Raises SettingsError for what Java cannot do.
    """
    properties = connection.librdkafka()
    protocol = security_protocol(properties)
    options = {
        name: text
        for name, text in properties.items()
        if name not in LOGIN_PROPERTIES and not name.startswith(_IGNORED_PREFIXES)
    }
    options["security.protocol"] = protocol
    if protocol.endswith("SSL"):
        options |= java_tls(setting, connection, properties)
    if mechanism := mechanism_of(setting, properties):
        options |= {"sasl.mechanism": mechanism.name, **mechanism.java(properties)}
    refuse_unknown(setting, properties, "Spark's connections")
    return options


def records(spark: SparkSession, settings: Settings, starts: Offsets, ends: Offsets) -> DataFrame:
    """Those from `starts` to `ends`, exclusive, that are there yet."""
    home = settings.home
    of_kafka = {f"kafka.{name}": value for name, value in kafka_options("home", home).items()}
    return (
        spark.read.format("kafka")
        .options(
            **of_kafka,
            **{
                "kafka.isolation.level": "read_committed",
                # Spark asks for what it knows to be there. A consumer that waits for more, the
                # default is half a second, delays Spark's next question on the same connection.
                "kafka.fetch.max.wait.ms": "1",
                # It asks again after each poll: for where the log begins and for where it ends.
                "kafka.max.poll.records": "4000",
                "groupIdPrefix": home.installation.group("archiver"),
                "assign": json.dumps({topic: [*of] for topic, of in by_topic(ends).items()}),
                "startingOffsets": json.dumps(by_topic(starts)),
                "endingOffsets": json.dumps(by_topic(ends)),
                "includeHeaders": "true",
                # What retention took is no reason to stop: gaps are recorded.
                "failOnDataLoss": "false",
            },
        )
        .load()
    )
