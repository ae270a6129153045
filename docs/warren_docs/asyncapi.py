"""The AsyncAPI 3.0 document of Warren's topics."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from warren.contracts.topics import CATALOGUE, Topic
from warren.settings import HomeSettings

from warren_docs.schemas import render

JSON_SCHEMA = "application/schema+json;version=draft-2020-12"


def document() -> dict[str, Any]:
    """Channels are topics; the one operation that is offered to users is subscribing."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Warren",
            "version": version("warren-shared"),
            "description": "Events about Kafka consumer groups. Receivers ignore unknown fields.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {"home": {"host": "localhost:9092", "protocol": "kafka"}},
        "channels": {topic.name: _channel(topic) for topic in CATALOGUE},
        "operations": {
            f"subscribe-{topic.name}": {
                "action": "send",
                "summary": topic.summary,
                "channel": {"$ref": f"#/channels/{topic.name}"},
            }
            for topic in CATALOGUE
        },
    }


def _channel(topic: Topic) -> dict[str, Any]:
    home = HomeSettings()
    return {
        "address": topic.full_name(home.topic_prefix),
        "description": topic.summary,
        "messages": {
            topic.event.__name__: {
                "name": topic.event.__name__,
                "title": (topic.event.__doc__ or "").splitlines()[0],
                "contentType": topic.event.content_type,
                **_headers(topic),
                "payload": {
                    "schemaFormat": JSON_SCHEMA,
                    "schema": {"$ref": f"schemas/{topic.name}.json"},
                },
                "bindings": {"kafka": {"key": {"type": "string", "description": topic.key}}},
            }
        },
        "bindings": {
            "kafka": {
                "topic": topic.full_name(home.topic_prefix),
                "partitions": home.partitions,
                # No replicas: how many is the cluster's to say.
                "topicConfiguration": _topic_configuration(topic),
            }
        },
    }


def _headers(topic: Topic) -> dict[str, Any]:
    """Nothing where records have none."""
    headers = {name: value.decode() for name, value in topic.event.headers}
    if not headers:
        return {}
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "const": text} for name, text in headers.items()},
        "required": list(headers),
    }
    return {"headers": {"schemaFormat": JSON_SCHEMA, "schema": schema}}


def _topic_configuration(topic: Topic) -> dict[str, Any]:
    config = topic.config()
    documented: dict[str, Any] = {
        "cleanup.policy": config["cleanup.policy"].split(","),
        "max.message.bytes": int(config["max.message.bytes"]),
    }
    if topic.retention_ms is not None:
        documented["retention.ms"] = topic.retention_ms
    return documented


def pages() -> dict[str, str]:
    return {"asyncapi.json": render(document())}
