"""CloudEvents' SDKs for Java and for npm: whether what Warren sends is an event to them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pyspark
from confluent_kafka import Message
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from support.servers import jars_directory
from warren_local.jar_sets import CLOUDEVENTS_JARS
from warren_local.java import find_java

READ = Path(__file__).parent / "cloudevents" / "read.cjs"
SDK = Path(__file__).parents[2] / ".warren/cloudevents/node_modules"  # by `make cloudevents`
POLL_MS = 500
Attributes = dict[str, Any]


def npm_is_here() -> bool:
    return shutil.which("node") is not None and SDK.is_dir()


def read_by_npm(
    binding: Literal["kafka", "http"], messages: Iterable[tuple[Mapping[str, str], bytes]]
) -> list[Attributes]:
    """The event of each message, given its headers and body; {"problem": …} where it is none."""
    lines = [
        json.dumps({"binding": binding, "headers": headers, "value": value.decode()})
        for headers, value in messages
    ]
    environment = {**os.environ, "NODE_PATH": str(SDK)}
    done = subprocess.run(
        ["node", str(READ)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=environment,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def headers_of(message: Message) -> dict[str, str]:
    return {name: (value or b"").decode() for name, value in message.headers() or []}


def read_by_java(root: Path, bootstrap: str, topic: str, count: int) -> list[Attributes]:
    """The first so many events of a topic, by Java's consumer with the SDK's deserializer.

    Raises Py4JJavaError where one is no event.
    """
    with _jvm(root) as gateway:
        jvm = gateway.jvm
        properties = jvm.java.util.Properties()
        for name, value in {
            "bootstrap.servers": bootstrap,
            "key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
            "value.deserializer": "io.cloudevents.kafka.CloudEventDeserializer",
        }.items():
            properties.setProperty(name, value)
        consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer(properties)
        places = jvm.java.util.ArrayList()
        for info in consumer.partitionsFor(topic):
            places.add(jvm.org.apache.kafka.common.TopicPartition(topic, info.partition()))
        consumer.assign(places)
        consumer.seekToBeginning(places)
        events: list[Attributes] = []
        while len(events) < count:
            polled = consumer.poll(jvm.java.time.Duration.ofMillis(POLL_MS)).iterator()
            while polled.hasNext():
                events.append(_attributes(polled.next().value()))
        consumer.close()
        return events


def _attributes(event: Any) -> Attributes:
    return {
        "specversion": event.getSpecVersion().toString(),
        "id": event.getId(),
        "source": event.getSource().toString(),
        "type": event.getType(),
        "subject": event.getSubject(),
        "time": event.getTime().toInstant().toString(),
        "datacontenttype": event.getDataContentType(),
        "data": json.loads(bytes(event.getData().toBytes())),
    }


@contextmanager
def _jvm(root: Path) -> Iterator[JavaGateway]:
    """With the broker's jars and the SDK's; no compiler is needed."""
    folders = [jars_directory(root), jars_directory(root, CLOUDEVENTS_JARS)]
    (py4j,) = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    port, process = launch_gateway(
        jarpath=str(py4j),
        classpath=os.pathsep.join(str(folder / "*") for folder in folders),
        java_path=str(find_java(os.environ)),
        die_on_exit=True,
        return_proc=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
    try:
        yield gateway
    finally:
        gateway.shutdown()
        process.stdin.close()
        process.wait(60)
