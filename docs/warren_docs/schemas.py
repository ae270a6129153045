"""JSON Schemas (draft 2020-12) of the events, as they stand on the topics."""

from __future__ import annotations

import json
from typing import Any

from warren.contracts.topics import CATALOGUE, Topic

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(topic: Topic) -> dict[str, Any]:
    """What a reader may rely on: every field is always written, unknown ones may be added."""
    body = topic.event.model_json_schema(mode="serialization", by_alias=True)
    return {"$schema": DIALECT, "$id": f"warren.{topic.name}.v1.json", **body}


def render(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def pages() -> dict[str, str]:
    """File contents by path below docs/."""
    return {f"schemas/{topic.name}.json": render(schema(topic)) for topic in CATALOGUE}
